internal import CGarage

/// The transactions that the thread which makes this has open, for threads that work for it until it goes on.
///
/// Unchecked: it says which storages they belong to, by address. These are there as long as the transactions are.
struct OpenTransactions: @unchecked Sendable {
  private let transactions: [garage_transaction]

  init() {
    transactions = (0..<garage_transaction_count()).map { garage_transaction_at($0) }
  }

  /// Runs `body` as if the calling thread had them open: what would be refused to the one that has is refused here, such as
  /// closing the storage, and what would not wait there does not wait here.
  func marking(_ body: () -> Void) {
    for transaction in transactions { garage_push_transaction(transaction.lifetime, transaction.is_write) }
    defer { for _ in transactions { garage_pop_transaction() } }
    body()
  }
}

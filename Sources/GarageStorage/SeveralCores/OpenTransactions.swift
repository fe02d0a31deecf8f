internal import CGarage

/// The open transactions of the thread that makes this value, for threads that work for it until it goes on.
///
/// Unchecked: it holds the addresses of their storages, which exist as long as the transactions do.
struct OpenTransactions: @unchecked Sendable {
  private let transactions: [garage_transaction]

  init() {
    transactions = (0..<garage_transaction_count()).map { garage_transaction_at($0) }
  }

  /// Runs `body` as if the calling thread had these transactions open. Calls that would be refused on the first thread, such as
  /// closing the storage, are refused here, and calls that would not wait there do not wait here.
  func marking(_ body: () -> Void) {
    for transaction in transactions { garage_push_transaction(transaction.lifetime, transaction.is_write) }
    defer { for _ in transactions { garage_pop_transaction() } }
    body()
  }
}

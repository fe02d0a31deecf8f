internal import GarageDriver

// A source that is used again, for one object after another: most are made for one record.

extension Reusable<TransactionSource> {
  /// Lends a source on the transaction to `body`, which lets nobody keep it but an error.
  @inline(__always)
  func withSource(
    on transaction: any ReadTransaction, of garage: Garage, _ body: (TransactionSource) throws -> Void
  ) throws {
    let source = take { TransactionSource(of: garage) }
    source._withUnsafeGuaranteedRef { $0.begin(transaction) }
    defer { giveBack(source) }
    try source._withUnsafeGuaranteedRef(body)
  }

  /// Keeps a source that no session holds any more, and lets others go.
  private func giveBack(_ source: Unmanaged<TransactionSource>) {
    let isReusable =
      source.isOnlyReference
      && source._withUnsafeGuaranteedRef { source in
        source.end()
        return !source.hasPrefetched
      }
    if !giveBack(source, keeping: isReusable) { source.release() }
  }
}

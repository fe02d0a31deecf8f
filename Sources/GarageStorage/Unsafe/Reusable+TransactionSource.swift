internal import GarageDriver

// A source is used again for one object after another, because most calls read one record.

extension Reusable<TransactionSource> {
  /// Lends `body` a source on the transaction. Nobody but an error may keep the source.
  @inline(__always)
  func withSource(
    on transaction: any ReadTransaction, of garage: Garage, _ body: (TransactionSource) throws -> Void
  ) throws {
    let source = take { TransactionSource(of: garage) }
    source._withUnsafeGuaranteedRef { $0.begin(transaction) }
    defer { giveBack(source) }
    try source._withUnsafeGuaranteedRef(body)
  }

  /// Keeps a source that no session holds any more, and releases others.
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

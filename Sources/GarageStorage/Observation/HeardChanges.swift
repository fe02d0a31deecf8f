internal import GarageDriver

/// What one write changes, noted where anybody listens.
struct HeardChanges {
  private let hub: NewsHub
  private var log: ChangeLog?

  @inline(__always)
  init(_ hub: NewsHub) { self.hub = hub }

  /// Runs `body` on a transaction whose changes are noted where anybody listens.
  @inline(__always)
  mutating func noting(
    _ transaction: any WriteTransaction, isSealed: Bool, _ body: (any WriteTransaction) throws -> Void
  ) throws {
    if !hub.isHeard { return try body(transaction) }
    log = try HeardChanges.log(of: transaction, isSealed, body)
    // Nobody else commits before this does.
    log?.number = hub.nextNumber()
  }

  @inline(never)
  private static func log(
    of transaction: any WriteTransaction, _ isSealed: Bool, _ body: (any WriteTransaction) throws -> Void
  ) throws -> ChangeLog {
    let noting = NotingTransaction(transaction, isSealed: isSealed)
    try withExtendedLifetime(noting) { try body(noting) }
    return noting.log
  }

  /// Tells of them, when they are committed.
  @inline(__always)
  func tell(from garage: UInt64, isUnsaved: Bool) {
    if !hub.isHeard { return }
    // Whoever began to listen in between may have read what was there before.
    hub.tell(log ?? .everything, from: garage, isUnsaved: isUnsaved)
  }
}

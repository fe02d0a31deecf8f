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
    _ transaction: any WriteTransaction, isSealed: Bool, _ idle: borrowing Reusable<NotingTransaction>,
    _ body: (any WriteTransaction) throws -> Void
  ) throws {
    if !hub.isHeard { return try body(transaction) }
    var log = try idle.log(of: transaction, isSealed: isSealed, hub, body)
    // Nobody else commits before this does. What lists nothing has no order, either.
    if log.byteCount > 0 { log.number = hub.nextNumber() }
    self.log = log
  }

  /// Tells of them, when they are committed.
  @inline(__always)
  mutating func tell(from garage: UInt64, isUnsaved: Bool) {
    if !hub.isHeard { return }
    // Whoever began to listen in between may have read what was there before.
    hub.tell(log.take() ?? .everything, from: garage, isUnsaved: isUnsaved)
  }
}

internal import GarageDriver

/// What one write changes, noted where anybody listens.
struct HeardChanges: ~Copyable {
  private let hub: NewsHub
  private var log: ChangeLog?
  /// The only type whose records were changed, where that was not noted because nobody listened to them.
  private var unheardTag: UInt64?

  @inline(__always)
  init(_ hub: NewsHub) { self.hub = hub }

  /// Whether a write that changes nothing but records of one type need not be noted, since nobody wants to hear of these.
  /// Most listeners wait for something else, and a park should cost no more for them.
  @inline(__always)
  mutating func goesUnheard(_ tag: UInt64) -> Bool {
    if hub.filter.mayConcern(tag) { return false }
    unheardTag = tag
    return true
  }

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
    if let unheardTag {
      // Somebody may want to by now.
      if hub.filter.mayConcernCommitted(unheardTag) {
        hub.tell(.many(of: unheardTag), from: garage, isUnsaved: isUnsaved)
      }
      return
    }
    // Whoever began to listen in between may have read what was there before.
    hub.tell(log.take() ?? .everything, from: garage, isUnsaved: isUnsaved)
  }
}

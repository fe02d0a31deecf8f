internal import GarageDriver

/// The changes of one write, noted if anybody listens.
struct HeardChanges: ~Copyable {
  private let hub: NewsHub
  private var log: ChangeLog?
  /// The only type whose records were changed, if that was not noted because nobody listened to them.
  private var unheardTag: UInt64?

  @inline(__always)
  init(_ hub: NewsHub) { self.hub = hub }

  /// Whether a write that changes only records of one type need not be noted, because nobody wants to hear of them. Most
  /// listeners wait for something else, and should not make a park slower.
  @inline(__always)
  mutating func goesUnheard(_ tag: UInt64) -> Bool {
    if hub.filter.mayConcern(tag) { return false }
    unheardTag = tag
    return true
  }

  /// Runs `body` on a transaction whose changes are noted if anybody listens.
  @inline(__always)
  mutating func noting(
    _ transaction: any WriteTransaction, isSealed: Bool, _ idle: borrowing Reusable<NotingTransaction>,
    _ body: (any WriteTransaction) throws -> Void
  ) throws {
    if !hub.isHeard { return try body(transaction) }
    var log = try idle.log(of: transaction, isSealed: isSealed, hub, body)
    // Nobody else commits before this write does. A log without keys needs no number.
    if log.byteCount > 0 { log.number = hub.nextNumber() }
    self.log = log
  }

  /// Tells the listeners of the changes, after the commit.
  @inline(__always)
  mutating func tell(from garage: UInt64, isUnsaved: Bool) {
    if !hub.isHeard { return }
    if let unheardTag {
      // By now somebody may want to hear of them.
      if hub.filter.mayConcernCommitted(unheardTag) {
        hub.tell(.many(of: unheardTag), from: garage, isUnsaved: isUnsaved)
      }
      return
    }
    // A listener that was added in between may have read the state before the commit.
    hub.tell(log.take() ?? .everything, from: garage, isUnsaved: isUnsaved)
  }

  /// Tells the listeners that anything may have changed, if an error leaves it open whether there was a commit.
  func tellIfUnknown(after error: any Error, from garage: UInt64) {
    if GarageError.isOutcomeUnknown(error) && hub.isHeard {
      hub.tell(.everything, from: garage, isUnsaved: false)
    }
  }
}

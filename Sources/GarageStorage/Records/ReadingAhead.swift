internal import GarageCoding
internal import GarageDriver

/// Decodes the records of a scan: one by one as long as they refer to no others, and from then on many together, for which the
/// records that they refer to are read ahead.
final class ReadingAhead<T: Codable> {
  private let type: T.Type
  private let facts: TypeFacts
  private let tag: UInt64
  private let session: GraphDecodingSession
  private var byteLimit: Int
  private let countLimit: Int
  /// How many records that refer to others are looked at before it is decided that none needs them.
  private var restOfLooks = 64

  /// - Parameter areAllHeld: whether the objects are held to the end, so that their records may take memory, too.
  init(
    _ type: T.Type, _ facts: RecordTypeFacts, tag: UInt64, _ session: GraphDecodingSession, areAllHeld: Bool
  ) {
    self.type = type
    self.facts = facts.ofCoder
    self.tag = tag
    self.session = session
    // Records that are read ahead take room, too.
    byteLimit = areAllHeld ? GraphDecodingSession.heldByteLimit / 2 : 256 << 10
    countLimit = areAllHeld ? .max : 1000
  }

  /// Decodes what is held where there is no room for another record.
  @inline(__always)
  func makeRoom(for record: RawSpan, _ found: (consuming T) throws -> Void) throws {
    guard session.isHolding else { return }
    if session.heldByteCount + record.byteCount > byteLimit || session.heldCount >= countLimit {
      try finish(found)
    }
  }

  /// Decodes a record and hands its object to `found`, now or later.
  @inline(__always)
  func visit(_ identifier: RawSpan, _ record: RawSpan, _ found: (consuming T) throws -> Void) throws {
    try makeRoom(for: record, found)
    if RecordSummary.uncheckedRefersToOthers(record) || session.isHolding,
      try holds(identifier, record, found)
    {
      return
    }
    try session.visit(type, facts, tag: tag, keyIdentifier: identifier, record: record, found)
  }

  private func holds(_ identifier: RawSpan, _ record: RawSpan, _ found: (consuming T) throws -> Void) throws
    -> Bool
  {
    guard session.readsAhead else { return false }
    // A large one is not copied.
    if record.byteCount > GraphDecodingSession.largestHeldByteCount {
      try finish(found)
      return false
    }
    if !session.isHolding {
      if restOfLooks == 0 { return false }
      restOfLooks -= 1
      guard RecordSummary.uncheckedNeedsOthers(record) else { return false }
      restOfLooks = 64
    }
    session.hold(facts, tag: tag, keyIdentifier: identifier, record: record)
    return true
  }

  /// Decodes what is held.
  func finish(_ found: (consuming T) throws -> Void) throws {
    guard session.isHolding else { return }
    try session.visitHeld(type, facts, found)
    if session.heldTooMuch { byteLimit = max(byteLimit / 4, 64 << 10) }
  }
}

import Foundation
import GarageStorage
import Testing

/// Objects with a status that have no record of their own, or one that their content names.
@Suite struct SyncInlineTests {
  @Test(arguments: Backend.allCases)
  func inlineObjectsKeepTheirStatus(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    func stamp(_ value: Int, _ status: SyncStatus) -> Stamp { Stamp(value: value, syncStatus: status) }
    let envelope = Envelope(
      stamp: stamp(1, .synced), optional: stamp(2, .syncing),
      list: [stamp(3, .notSynced), stamp(4, .undetermined)],
      optionals: [stamp(5, .synced), nil, stamp(6, .syncing)], table: ["a": stamp(7, .synced)],
      numbers: [8: stamp(8, .notSynced)], content: .stamp(stamp(9, .syncing)),
      wrapping: Wrapping(stamp(10, .synced)),
      label: InlineLabel(id: 11, syncStatus: .syncing))
    try garage.park(envelope)
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Envelope.self, identifier: 1) == envelope)
    // They are no records, so no status finds them.
    #expect(try garage.allSyncables(.synced).isEmpty)

    var without = envelope
    without.optional = nil
    without.content = .none
    try garage.park(without)
    #expect(try garage.retrieve(Envelope.self, identifier: 1) == without)
  }

  @Test(arguments: Backend.allCases)
  func anInlinedObjectParkedByItselfHasARecord(_ backend: Backend) throws {
    let garage = try Place(backend).garage([InlineLabel.self])
    try garage.park(InlineLabel(id: 1, syncStatus: .syncing))
    #expect(try garage.retrieve(InlineLabel.self, identifier: 1)?.syncStatus == .syncing)
    try garage.setSyncStatus(.synced, for: InlineLabel(id: 1))
    #expect(try garage.retrieveAll(InlineLabel.self, withStatus: .synced).map(\.id) == [1])
  }

  /// What is stored with a status is read by a type without one, and the reverse.
  @Test(arguments: Backend.allCases)
  func inlineTypesMayChange(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let stamps = [Stamp(value: 2, syncStatus: .synced), Stamp(value: 3, syncStatus: .syncing)]
    try garage.park(FolderOfStamp(item: Stamp(value: 1, syncStatus: .syncing), items: stamps))
    let bare = FolderOfBareStamp(
      item: BareStamp(value: 1), items: [BareStamp(value: 2), BareStamp(value: 3)])
    #expect(try garage.retrieve(FolderOfBareStamp.self, identifier: 1) == bare)
    try garage.park(bare)
    #expect(
      try garage.retrieve(FolderOfStamp.self, identifier: 1)
        == FolderOfStamp(item: Stamp(value: 1), items: [Stamp(value: 2), Stamp(value: 3)]))
  }

  // MARK: - Identity by content

  private func expectStatusIsNoIdentity<T: Codable & Hashable & Syncable>(
    _ value: T, _ garage: Garage, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var value = value
    value.syncStatus = .notSynced
    try garage.park(value)
    let identifier = try garage.identifier(for: value)
    value.syncStatus = .synced
    #expect(try garage.identifier(for: value) == identifier, sourceLocation: sourceLocation)
    try garage.setSyncStatus(.syncing, for: value)
    let found = try #require(
      try garage.retrieveAll(T.self, withStatus: .syncing).first, sourceLocation: sourceLocation)
    #expect(found.syncStatus == .syncing, sourceLocation: sourceLocation)
    #expect(try garage.identifier(for: found) == identifier, sourceLocation: sourceLocation)
    #expect(
      try garage.retrieve(T.self, identifier: identifier)?.syncStatus == .syncing,
      sourceLocation: sourceLocation)
    value.syncStatus = .synced
    try garage.park(value)
    #expect(try garage.count(T.self) == 1, sourceLocation: sourceLocation)
    try garage.delete(found)
    #expect(try garage.count(T.self) == 0, sourceLocation: sourceLocation)
    #expect(try garage.retrieveAll(T.self, withStatus: .synced).isEmpty, sourceLocation: sourceLocation)
  }

  @Test(arguments: Backend.allCases)
  func theDigestLeavesTheStatusOut(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try expectStatusIsNoIdentity(Remark(text: "a"), garage)
    try expectStatusIsNoIdentity(RenamedRemark(text: "a"), garage)
    try expectStatusIsNoIdentity(ObjectRemark("a"), garage)
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    #expect(try garage.identifier(for: Remark(text: "a")) != garage.identifier(for: Remark(text: "b")))
  }

  /// Taking the digest must not touch an object.
  @Test(arguments: Backend.allCases)
  func theDigestOfAnObjectChangesNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let remark = ObjectRemark("x")
    remark.syncStatus = .syncing
    _ = try garage.identifier(for: remark)
    #expect(remark.syncStatus == .syncing)
    try garage.park(remark)
    #expect(try garage.retrieveAll(ObjectRemark.self, withStatus: .syncing).count == 1)
  }
}

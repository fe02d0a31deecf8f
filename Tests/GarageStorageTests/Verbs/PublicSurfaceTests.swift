import Foundation
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

// Every name of the public surface, spelled as users spell it, in the places that it is promised for. What the
// names do in detail is the other suites' matter; here each does its job once, on every storage.

private struct Surfboard: Codable, Identifiable, Equatable {
  var id: Int
  var owner: SurfboardOwner?
}
private struct SurfboardOwner: Mappable, Hashable {
  var id: String
}
private struct SurfboardColor: Codable, Hashable {
  var name: String
}
private struct SurfTrip: Codable, Identifiable, Syncable, Equatable {
  var id: String
  var syncStatus = SyncStatus.undetermined
}
private final class Surfer: MappableObject {
  var name = ""
  var friend: Surfer?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Surfer.self)
    mapping.add("name", \Surfer.name)
    mapping.add("friend", \Surfer.friend)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}
private struct Untagged: Evolving, Identifiable, TypeTagged {
  static var typeTag: String { "surface.untagged" }
  var id: Int
}

private enum SurfSettings: Namespace { static let id = "surf" }
private enum SurfDisplay: Namespace {
  typealias Parent = SurfSettings
  static let id = "display"
}
private enum OldSurfDisplay: Namespace {
  typealias parent = SurfSettings
  static let id = "display"
}
extension KeyType where Self == Key<SurfDisplay, Int> {
  fileprivate static var waveHeight: Self { Key(id: "waveHeight", defaultValue: 2) }
}

/// What a driver is wrapped in, and reached by.
@Suite struct PublicSurfaceTests {
  @Test func aGarageIsOpenedOnAnyStorage() throws {
    let place = try Place(.memory)
    func url(_ name: String) -> URL { place.folder.appending(path: name) }
    func isSendable(_: some Sendable) {}
    let memory = MemoryStorage()
    let garages: [Garage] = [
      try Garage(SQLiteStorage(at: url("file"))),
      try Garage(LMDBStorage(at: url("folder"), options: .init(mapByteCount: 1 << 28))),
      try Garage(memory),
      try Garage(SealedStorage(SQLiteStorage(at: url("sealed")), sealer: InsecureTestSealer(key: 1))),
      try Garage(SealedStorage(MemoryStorage(), sealer: InsecureTestSealer(key: 1)), types: [Surfer.self]),
    ]
    for garage in garages {
      isSendable(garage)
      try garage.park(Surfboard(id: 1))
      #expect(try garage.retrieve(Surfboard.self, identifier: 1) == Surfboard(id: 1))
      try garage.close()
      try garage.close()
      #expect(throws: GarageError.closed) { try garage.park(Surfboard(id: 2)) }
    }
    // Closing only detaches from a value in memory.
    #expect(try Garage(memory).retrieve(Surfboard.self, identifier: 1) != nil)
    #expect(Garage.errorDomain == "GarageStorage")
  }

  // MARK: The same verbs everywhere

  private let boards = (1...3).map { Surfboard(id: $0) }
  private let blue = SurfboardColor(name: "blue")
  private let trips = [SurfTrip(id: "a", syncStatus: .notSynced), SurfTrip(id: "b", syncStatus: .synced)]

  private func write(_ writer: some GarageWriting) throws {
    try writer.park(boards[0])
    try writer.park(blue)
    try writer.park(SurfboardOwner(id: "Sam"))
    try writer.parkAll(boards)
    try writer.parkAll(trips)
    try writer.park(any: boards[1])
    let (one, two) = (Surfer(), Surfer())
    (one.name, two.name, one.friend) = ("one", "two", two)
    try writer.park(one)
    try writer.parkAll([one, two] as [any MappableObject])
    try writer.setSyncStatus(.syncing, for: trips[0])
    try writer.setSyncStatus(.syncing, for: trips)
    try writer.set(.waveHeight, value: 5)
    #expect(
      try writer.update(.waveHeight) {
        $0 += 1; return $0
      } == 6)
  }

  private func read(_ reader: some GarageReading) throws {
    #expect(try reader.retrieve(Surfboard.self, identifier: 1) == boards[0])
    #expect(try reader.retrieve(SurfboardColor.self, identifier: reader.garage.identifier(for: blue)) == blue)
    #expect(try reader.retrieve(Reference(Surfboard.self, identifier: 2)) == boards[1])
    #expect(try reader.retrieve(Surfer.self, identifier: "one")?.friend?.name == "two")
    #expect(try reader.retrieveAll(Surfboard.self) == boards)
    var ids: [Int] = []
    try reader.forEach(Surfboard.self) { board in ids.append(board.id) }
    #expect(ids == [1, 2, 3])
    #expect(try reader.contains(Surfboard.self, identifier: 3))
    #expect(try reader.count(Surfboard.self) == 3)
    #expect(try reader.syncStatus(for: trips[0]) == .syncing)
    #expect(try reader.retrieveAll(SurfTrip.self, withStatus: .syncing).count == 2)
    let found: [SurfTrip] = try reader.retrieveAll(withStatus: .syncing)
    #expect(found.count == 2)
    let all: [any Syncable] = try reader.retrieveAll(withStatus: .syncing)
    #expect(all.count == 2)
    #expect(try reader.get(.waveHeight) == 6)
    #expect(try reader.contains(.waveHeight))
    #expect(try reader.storedKeys(in: SurfSettings.self).map(\.stringValue) == ["surf:display:waveHeight"])
  }

  private func clean(_ writer: some GarageWriting) throws {
    try writer.delete(boards[0])
    try writer.delete(Surfboard.self, identifier: 2)
    try writer.delete(blue)
    #expect(throws: GarageError.failedToRetrieveObject("SurfboardOwner", "Nick")) {
      try writer.delete(SurfboardOwner.self, identifier: "Nick")
    }
    try writer.deleteAll(Surfboard.self)
    try writer.remove(.waveHeight)
    #expect(try writer.get(.waveHeight) == 2)
    try writer.clear(SurfSettings.self)
    try writer.deleteAllObjects()
    try writer.clear()
    #expect(try writer.count(SurfTrip.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func readersAndWritersHaveTheVerbsOfTheGarage(_ backend: Backend) throws {
    let garage = try Place(backend).garage([SurfTrip.self])
    try write(garage)
    try read(garage)
    try garage.read { reader in try read(reader) }
    try garage.write { writer in try read(writer) }
    try clean(garage)
    try garage.write { writer in
      try write(writer)
      try read(writer)
      try clean(writer)
    }
    // What a closure returns comes out.
    let count: Int = try garage.read { try $0.count(Surfboard.self) }
    #expect(try garage.write { writer in try writer.count(Surfboard.self) } == count)
  }

  // MARK: Names and what they are by default

  @Test(arguments: Backend.allCases)
  func savingAndDates(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    #expect(garage.isAutosaveEnabled && !garage.hasUnsavedChanges)
    try garage.withAutosaveDisabled { try garage.park(boards[0]) }
    #expect(garage.hasUnsavedChanges)
    garage.discardUnsavedChanges()
    garage.isAutosaveEnabled = false
    try garage.park(boards[1])
    try garage.save()
    #expect(try garage.retrieveAll(Surfboard.self) == [boards[1]])
    try garage.withDateEncodingStrategy(.secondsSince1970) {
      try garage.withDateDecodingStrategy(.secondsSince1970) {
        try garage.save()
        guard case .secondsSince1970 = garage.dateEncodingStrategy,
          case .secondsSince1970 = garage.dateDecodingStrategy
        else { throw Stop() }
      }
    }
    let dated = try Garage(
      place.open(), types: [], userInfo: [:], dateEncodingStrategy: .iso8601, dateDecodingStrategy: .iso8601)
    #expect(try dated.count(Surfboard.self) == 1)
  }

  private struct Stop: Error {}

  @Test(arguments: Backend.allCases)
  func evolving(_ backend: Backend) throws {
    #expect(Untagged.formerTypeTags == [] && Untagged.propertyAliases == [:] && Untagged.version == 0)
    #expect(Untagged.prototype == nil)
    var record = RecordValue.integer(1)
    try Untagged.upgrade(&record, from: 0)
    #expect(record == .integer(1))
    let garage = try Place(backend).garage()
    try garage.park(Untagged(id: 1))
    #expect(try garage.migrateAll(Untagged.self).unchanged == 1)
    #expect(try garage.migrateAll(fromOldClassName: "Nothing", to: Untagged.self).rewritten == 0)
    #expect(try garage.migrateAll(from: Surfboard.self, to: Untagged.self).rewritten == 0)
  }

  @Test(arguments: Backend.allCases)
  func typedKeys(_ backend: Backend) throws {
    let key = Key<SurfDisplay, Int>(id: "waveHeight", defaultValue: 2, changeBlock: { min($0, 9) })
    #expect(key.stringValue == "surf:display:waveHeight" && key.id == "waveHeight" && key.defaultValue == 2)
    let old = Key<OldSurfDisplay, Int>(id: "waveHeight", defaultValue: 2)
    #expect(old.stringValue == key.stringValue)
    // The three steps do nothing by themselves, but for the key's block.
    #expect(key.processChange(1, newValue: 100) == 9 && old.processChange(1, newValue: 100) == 100)
    key.willChange(1, newValue: 2)
    key.didChange(1, newValue: 2)
    try SurfSettings.preCommitHook()
    SurfSettings.postCommitHook()
    func isNamed<K: KeyType>(_: K) -> (any Namespace.Type, Any.Type) {
      (K.NamespaceType.self, K.ValueType.self)
    }
    #expect(isNamed(key).0 == SurfDisplay.self && isNamed(key).1 == Int.self)

    let garage = try Place(backend).garage()
    try garage.set(key, value: 100)
    #expect(try garage.get(old) == 9)
    #expect(try garage.get(.waveHeight) == 9)
    let board = Board(garage)
    board.height = 3
    #expect(try board.height == 3 && board.$height.get() == 3 && garage.get(.waveHeight) == 3)
  }

  private struct Board {
    @Stored<Key<SurfDisplay, Int>> var height: Int
    init(_ garage: Garage) { _height = Stored(.waveHeight, in: garage) }
  }

  @Test func mappings() {
    let mapping = ObjectMapping.mapping(for: Surfer.self)
    mapping.addMappings(["name": \Surfer.name, "friend": \Surfer.friend])
    #expect(mapping.identifyingAttribute == nil)
    #expect(Surfer.objectMapping.identifyingAttribute == "name")
  }
}

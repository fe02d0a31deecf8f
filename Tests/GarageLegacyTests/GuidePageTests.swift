import Foundation
import GarageLegacy
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

// The code of the two guides for those who come from elsewhere, compiled and run. What the guides take for granted:

private struct Person: Codable, Identifiable {
  var id: String
  var friends: [Note] = []
}
private func log(_ text: String) {}
private let keychain = Keychain()
private struct Keychain {
  func seal(_ data: Data) throws -> Data {
    try InsecureTestSealer(key: 1).seal(data, context: Data())
  }
  func open(_ data: Data) throws -> Data { try InsecureTestSealer(key: 1).open(data, context: Data()) }
}
private struct CustomObject: Codable, Equatable {
  var text: String
  init(_ text: String) { self.text = text }
}
final class Place: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let name: String
  init(_ name: String) { self.name = name }
  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    self.name = "\(name)"
  }
  func encode(with coder: NSCoder) { coder.encode(NSString(string: name), forKey: "name") }
}

// MARK: - GarageStorage

private final class Item: MappableObject {  // was MCItem
  var identifier = ""
  var title: String?
  var due: Date?
  var parent: Item?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Item.self)
    mapping.add("identifier", \Item.identifier)
    mapping.add("title", \Item.title)
    mapping.add("due", \Item.due)
    mapping.add("parent", \Item.parent)
    mapping.identifyingAttribute = "identifier"
    return mapping
  }
}

private func store<T: Codable>(_ value: T, in garage: Garage) throws {
  try garage.park(any: value)  // throws missingConformance for what is neither Identifiable nor Hashable
}
private func storeNamed<T: Codable & Identifiable>(_ object: T, in garage: Garage) throws {
  try garage.park(object)
}
private func everything<T: Codable>(_ type: T.Type, in garage: Garage) throws -> [T] {
  try garage.retrieveAll(type)  // asks for no more than Codable
}

private func garage(ofAccount name: String, in folder: URL) throws -> Garage {
  let accounts = folder.appending(path: "Accounts")
  try FileManager.default.createDirectory(at: accounts, withIntermediateDirectories: true)
  return try Garage(SQLiteStorage(at: accounts.appending(path: "\(name).garage")))
}

private func load(_ id: String, from garage: Garage) throws -> Person? {
  do {
    return try garage.retrieve(Person.self, identifier: id)
  } catch DecodingError.dataCorrupted(let context)
    where context.debugDescription.hasPrefix("Missing Identifiable")
  {
    log("\(context.codingPath): \(context.debugDescription)")
    return nil
  } catch let error as GarageError {
    log("\(error)")  // damaged, closed, of a newer format …: all of the domain Garage.errorDomain
    throw error
  }
}

private final class Encryptor: DataEncryptionDelegate, @unchecked Sendable {
  func encrypt(_ data: Data) throws -> String { try keychain.seal(data).base64EncodedString() }
  func decrypt(_ string: String) throws -> Data { try keychain.open(Data(base64Encoded: string) ?? Data()) }
}

private final class ItemStore: NSObject {  // on Apple systems with @objc before it and its methods
  private let garage: Garage
  init(_ garage: Garage) { self.garage = garage }
  func title(ofItem identifier: String) throws -> String {
    try garage.retrieve(Item.self, identifier: identifier)?.title ?? ""
  }
}

private struct Note: Mappable {
  var id: String
  var text = ""
}
extension Mappable where ID == String {
  fileprivate func remember(in garage: Garage) throws { try garage.park(self) }
}

private enum Mapped {
  final class Vessel: MappableObject, SyncableObject {
    var name = ""
    var syncStatus = SyncStatus.undetermined
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Vessel.self)
      mapping.addMappings(["name": \Vessel.name])
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }

  static func send(_ garage: Garage) throws {
    for object in try garage.retrieveObjects(withStatus: .notSynced) {  // any MappableObject & Syncable
      try garage.setSyncStatus(.syncing, for: object)
      if object is Vessel { try garage.deleteObject(object) }
    }
  }
}

private struct Address: Codable {
  var city: String
}
private struct Order: Codable, Identifiable {
  var id: String
  @Migratable var address: Address?  // was an anonymous MappableObject
  @Migratable() var former: Address?
  init(id: String) { self.id = id }
}

/// The code of Docs/MigratingFromGarageStorage.md does what that page says.
@Suite struct GarageStorageGuideTests {
  private func garage() throws -> Garage {
    try Garage(MemoryStorage(), types: [Mapped.Vessel.self, Person.self, Item.self])
  }

  @Test func valuesThatAreMerelyCodable() throws {
    let garage = try garage()
    #expect { try store(Address(city: "Boston"), in: garage) } throws: {
      $0 as? GarageError == .missingConformance("Address")
    }
    try store(Note(id: "a"), in: garage)
    try storeNamed(Note(id: "b"), in: garage)
    try Note(id: "c").remember(in: garage)
    #expect(try everything(Note.self, in: garage).map(\.id) == ["a", "b", "c"])
    garage.deleteAllObjects { result in
      if case .failure(let error) = result { log("\(error)") }
    }
    try garage.deleteAllObjects()
    #expect(try garage.count(Note.self) == 0)
    var said = 0
    garage.deleteAllObjects { _ in said += 1 }
    #expect(said == 1)
    var order = Order(id: "o")
    #expect(order.address == nil && order.former == nil)
    order.address = Address(city: "Paris")
    try garage.park(order)
    #expect(try garage.retrieve(Order.self, identifier: "o")?.address?.city == "Paris")
  }

  @Test func aMissingReference() throws {
    let garage = try garage()
    try garage.park(Person(id: "Sam", friends: [Note(id: "Nick")]))
    #expect(try load("Sam", from: garage)?.friends.count == 1)
    try garage.delete(Note.self, identifier: "Nick")
    #expect(try load("Sam", from: garage) == nil)
    #expect {
      try garage.retrieve(Person.self, identifier: "Sam")
    } throws: { error in
      error is DecodingError && (error as NSError).domain != Garage.errorDomain
    }
    try garage.close()
    #expect { try load("Sam", from: garage) } throws: { ($0 as NSError).domain == Garage.errorDomain }
  }

  @Test func theDelegateAndTheWrapper() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "garage-guide-\(UUID().uuidString)")
    defer {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
    let sealed = try SealedStorage(SQLiteStorage(at: url), sealer: DelegateSealer(Encryptor()))
    let garage = try Garage(sealed)
    let item = Item()
    (item.identifier, item.title) = ("1", "first")
    try garage.parkObject(item)
    #expect(try ItemStore(garage).title(ofItem: "1") == "first")
    try garage.close()
  }

  @Test func aGarageInAFolder() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-guide-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try GarageLegacyTests.garage(ofAccount: "Sam", in: folder).close()
    #expect(FileManager.default.fileExists(atPath: folder.appending(path: "Accounts/Sam.garage").path))
  }

  @Test func mappedObjectsWithAStatus() throws {
    let garage = try garage()
    let vessel = Mapped.Vessel()
    (vessel.name, vessel.syncStatus) = ("Bounty", .notSynced)
    try garage.parkObject(vessel)
    try Mapped.send(garage)
    #expect(try garage.count(Mapped.Vessel.self) == 0)
  }

  /// Compiled; importing is tested elsewhere.
  private func bringAlong(_ garage: Garage, _ keychainDelegate: Encryptor) throws {
    // Where Garage(named: "App") kept it. GarageStorage for Objective-C left the place to the app.
    let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0]
    let old = documents.appending(path: "App.sqlite")
    var importer = GarageStorageImporter(
      storeAt: old,
      types: [Person.self, Note.self],  // found by their unqualified names
      names: ["MCItem": Item.self])  // what was called otherwise
    importer.decrypt = { try keychainDelegate.decrypt($0) }  // only where the app encrypted
    importer.dateDecodingStrategy = .secondsSince1970  // only where the app chose one
    importer.didImport = { log("\($0.typeName) \($0.creationDate ?? .now)") }  // what has no place in records
    let report = try importer.importObjects(into: garage)
    if !report.failures.isEmpty { log(report.description) }
  }
}

// MARK: - Storez

private enum Settings: Namespace { static let id = "settings" }
private enum Appearance: Namespace {
  typealias parent = Settings
  static let id = "appearance"
}
private let temperature = Key<Settings, Double>(id: "temperature", defaultValue: 20)
private let nickname = Key<Appearance, String?>(id: "nickname", defaultValue: nil)  // was a Nullable

private func reset(_ store: some GarageWriting) throws {  // was: store: any Store
  try store.set(nickname, value: nil)
  try store.clear(Settings.self)
}
private func names(in garage: Garage) throws -> [String] {  // was: Appearance.key + ":" + …
  try garage.storedKeys(in: Appearance.self).map(\.stringValue)
}

/// The code of Docs/MigratingFromStorez.md does what that page says.
@Suite struct StorezGuideTests {
  @Test func runs() throws {
    let suite = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    let garage = try Garage(MemoryStorage())
    let custom = Key<Settings, CustomObject>(id: "custom", defaultValue: CustomObject(""))
    let home = Key<Settings, String>(id: "home", defaultValue: "")
    func archive(_ object: Any) throws -> Data {
      try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }
    defaults.set(try JSONEncoder().encode([21.5]), forKey: "settings:temperature")
    defaults.set(try JSONEncoder().encode(["old"]), forKey: "settings:appearance:nickname")
    defaults.set(try archive(NSString("text")), forKey: "settings:custom")
    defaults.set(try archive(Place("Paris")), forKey: "settings:home")
    try garage.set(nickname, value: "new")

    try garage.migrate([
      KeyMigration(fromStorez: temperature, in: defaults),
      KeyMigration(fromStorez: nickname, in: defaults),
      KeyMigration(fromStorez: custom, in: defaults) { (old: NSString) in CustomObject("\(old)") },
    ])
    NSKeyedUnarchiver.setClass(Place.self, forClassName: "OldApp.Place")
    try garage.migrate([
      KeyMigration(fromStorez: home, in: defaults) { (old: Place) in old.name }
    ])
    #expect(try garage.get(temperature) == 21.5 && garage.get(home) == "Paris")
    #expect(try garage.get(custom) == CustomObject("text"))
    // A new value is kept, and the old entry goes.
    #expect(try garage.get(nickname) == "new")
    #expect(defaults.object(forKey: "settings:appearance:nickname") == nil)
    #expect(try names(in: garage) == ["settings:appearance:nickname"])
    try reset(garage)
    #expect(try garage.storedKeys().isEmpty)
  }
}

/// Both guides show the code that is compiled here.
@Suite struct GuidePageTests {
  /// Each block of code of the pages is in this file, which imports what the block says.
  @Test(arguments: ["MigratingFromGarageStorage", "MigratingFromStorez"])
  func whatTheGuidesShowIsCompiled(_ name: String) throws {
    // Without what only tests need: everything is private there, and some of it stands in a type.
    func lines(_ text: some StringProtocol) -> [String] {
      text.split(separator: "\n").map { line in
        var line = line.trimmingCharacters(in: .whitespaces)
        for word in ["private ", "fileprivate ", "static "] where line.hasPrefix(word) {
          line.removeFirst(word.count)
        }
        return line
      }.filter { !$0.isEmpty }
    }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "Docs/\(name).md"), encoding: .utf8)
    let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
    let blocks = page.components(separatedBy: "```swift\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0]
    }
    #expect(blocks.count >= 3)
    for block in blocks {
      let all = lines(block).map { $0.hasPrefix("import ") ? $0.components(separatedBy: "  //")[0] : $0 }
      let (imports, code) = (all.filter { $0.hasPrefix("import ") }, all.filter { !$0.hasPrefix("import ") })
      #expect(!imports.isEmpty && Set(source).isSuperset(of: imports), "\(block)")
      #expect(source.indices.contains { source[$0...].starts(with: code) }, "\(block)")
    }
  }
}

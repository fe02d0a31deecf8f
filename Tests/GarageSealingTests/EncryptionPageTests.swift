import Foundation
import GarageDriver
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

// The code of Docs/Encryption.md, compiled. What needs a cipher stands in Tests/CryptoTests.

private let vault = Vault()
private struct Vault {
  func encrypt(_ value: Data, _ context: Data) throws -> Data {
    try InsecureTestSealer(key: 1).seal(value, context: context)
  }
  func decrypt(_ sealed: Data, _ context: Data) throws -> Data {
    try InsecureTestSealer(key: 1).open(sealed, context: context)
  }
}

private struct VaultSealer: Sealer {
  func seal(_ value: Data, context: Data) throws -> Data { try vault.encrypt(value, context) }
  func open(_ sealed: Data, context: Data) throws -> Data { try vault.decrypt(sealed, context) }
}

/// Has an index whose values no seal covers.
private struct Subscriber: Codable, Identifiable, Indexed {
  var id: Int
  var email: String
  static var indexes: [Index<Subscriber>] { [Index(\.email)] }
}

/// Copies all that opens; returns the keys of what does not.
private func rescue(
  _ base: some StorageDriver, sealer: some Sealer, into fresh: SealedStorage
) throws -> [StorageKey] {
  let old = try SealedStorage(base, sealer: sealer)
  _ = try Garage(fresh)  // a new garage, for what the old one lost
  var keys: [StorageKey] = []
  try base.read { transaction in
    try transaction.scan(.all, .forward) { key, _ in
      keys.append(StorageKey(key))
      return .continue
    }
  }
  var lost: [StorageKey] = []
  for key in keys {
    do {
      guard let value = try old.read({ try $0.value(for: key) }) else { continue }
      try fresh.write { transaction in
        try transaction.put(value, for: key)
        return .commit(())
      }
    } catch let error as StorageError where error.kind == .tampered {
      lost.append(key)
    }
  }
  return lost
}

/// The code of the page does what it says, and is what the page shows.
@Suite struct EncryptionPageTests {
  @Test func hides() throws {
    let place = try SealedPlace(.sqlite)
    let (url, sealer) = (place.folder.appending(path: "store"), VaultSealer())
    let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: sealer), hidesIdentifiers: true)
    #expect(garage.hidesIdentifiers)
    try garage.close()
  }

  @Test func changesTheKey() throws {
    let base = MemoryStorage()
    let (oldSealer, newSealer) = (InsecureTestSealer(key: 1), InsecureTestSealer(key: 2))
    try SealedStorage(base, sealer: oldSealer).put(["a": "one", "b": "two", "c": "three"])
    try base.put(raw: [9], for: "b")
    let oldKey = 1
    var (shown, forgotten) = (0, 0)
    func show(_ count: Int, of total: Int) { shown = count }
    func forget(_ key: Int) { forgotten = key }
    let storage = try SealedStorage(base, sealer: newSealer, formerSealers: [oldSealer])
    let result = try storage.rekey { progress in show(progress.examinedCount, of: progress.totalCount) }
    if result.isComplete { forget(oldKey) }
    #expect(shown == 3 && forgotten == 0)
    try storage.write { transaction in
      for key in result.failedKeys { try transaction.remove(key) }
      return .commit(())
    }
    #expect(try SealedStorage(base, sealer: newSealer).entries() == ["a": "one", "c": "three"])
  }

  @Test func copies() throws {
    let place = try SealedPlace(.sqlite)
    let (url, sealer) = (place.folder.appending(path: "store"), VaultSealer())
    let plain = MemoryStorage()
    try Garage(plain).parkAll(Hidden.people(3))
    try Garage(plain).copy(to: SealedStorage(SQLiteStorage(at: url), sealer: sealer))
    let sealed = try SealedStorage(SQLiteStorage(at: url), sealer: sealer)
    #expect(try Garage(sealed).retrieveAll(HiddenPerson.self) == Hidden.people(3))
  }

  /// What an index holds does not come into a sealed file in the clear.
  @Test func copiesNoReadableIndex() throws {
    let place = try SealedPlace(.sqlite)
    let plain = MemoryStorage()
    let old = try Garage(plain)
    try old.parkAll((0..<20).map { Subscriber(id: $0, email: "reader\($0)@example.org") })
    try old.buildIndexes()
    #expect(try old.indexes(of: Subscriber.self).map(\.entries) == [20])
    let sealed = try SealedStorage(
      SQLiteStorage(at: place.folder.appending(path: "store")), sealer: VaultSealer())
    // By a program that does not know of the index.
    let garage = try Garage(MemoryStorage(sharing: plain))
    do {
      try garage.copy(to: sealed)
      Issue.record("The values of an index were copied into a seal.")
    } catch GarageError.invalidIndex(_, let index, _) {
      #expect(index == "email")
    }
    try garage.dropIndex("email", of: Subscriber.self)
    try garage.copy(to: sealed)
    #expect(try Array(Garage(sealed).typeNames().values) == [20])
    #expect(try place.fileBytes().range(of: Data("@example.org".utf8)) == nil)
  }

  /// Whichever entry is lost, all others are in the new garage.
  @Test(arguments: [false, true])
  func rescues(_ hides: Bool) throws {
    let base = MemoryStorage()
    try Garage(SealedStorage(base, sealer: VaultSealer()), hidesIdentifiers: hides).parkAll(Hidden.people(3))
    for key in try base.keys() where key.bytes != [0] + Array("hiding".utf8) {
      let whole = try #require(try base.read { try $0.value(for: key) })
      try base.put([(key, whole.dropLast() + [whole[whole.count - 1] ^ 1])])
      let fresh = try SealedStorage(MemoryStorage(), sealer: VaultSealer())
      #expect(try rescue(base, sealer: VaultSealer(), into: fresh) == [key])
      let garage = try Garage(fresh)
      #expect(garage.hidesIdentifiers == hides)
      // One refers to a pet, which may be what was lost; without the text of a shape none of that shape is read.
      let people = Hidden.people(3).compactMap { try? garage.retrieve(HiddenPerson.self, identifier: $0.id) }
      #expect(people.count >= (key.bytes[0] == 0x10 ? 2 : 3) || key.bytes[0] == 2, "\(key)")
      try base.put([(key, whole)])
    }
  }

  /// Every line of the page's code is in this file or in that of the ciphers, which import what the page says.
  @Test func thePageShowsWhatIsCompiled() throws {
    func lines(_ text: some StringProtocol) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        .map { $0.hasPrefix("private ") ? String($0.dropFirst(8)) : $0 }.filter { !$0.isEmpty }
    }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "Docs/Encryption.md"), encoding: .utf8)
    let ciphers = "Tests/CryptoTests/Tests/GarageCryptoTests/PageTests.swift"
    let sources = try [#filePath, root.appending(path: ciphers).path].map {
      lines(try String(contentsOfFile: $0, encoding: .utf8))
    }
    let blocks = page.components(separatedBy: "```swift\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0]
    }
    #expect(blocks.count >= 8)
    var isImported = false
    for block in blocks {
      let all = lines(block).map {
        $0.components(separatedBy: "  // ")[0].trimmingCharacters(in: .whitespaces)
      }
      let (imports, code) = (all.filter { $0.hasPrefix("import ") }, all.filter { !$0.hasPrefix("import ") })
      // Those of one block may stand in one before it.
      #expect(!imports.isEmpty || isImported, "\(block)")
      isImported = code.isEmpty
      let isThere = sources.contains { source in
        let source = source.map {
          $0.components(separatedBy: "  // ")[0].trimmingCharacters(in: .whitespaces)
        }
        return Set(source).isSuperset(of: imports)
          && source.indices.contains { source[$0...].starts(with: code) }
      }
      #expect(isThere, "\(block)")
    }
    // No heading was cut.
    let headings = page.split(separator: "\n").filter { $0.hasPrefix("#") }
    #expect(headings.allSatisfy { $0.drop { $0 == "#" }.hasPrefix(" ") } && !page.contains("\n\n one key"))
  }
}

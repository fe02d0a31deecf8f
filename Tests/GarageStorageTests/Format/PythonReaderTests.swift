import Foundation
import GarageDriver
import GarageSQLite
import Testing

@testable import GarageStorage

/// The reader in Python, which was written from `Docs/Format.md` alone, agrees with the library.
@Suite struct PythonReaderTests {
  @Test(.enabled(if: Reader.python != nil, "there is no python3 with its sqlite3 module"))
  func theReaderAgreesWithTheLibrary() throws {
    for value in GoldenTests.values {
      let place = try Place(.sqlite)
      let garage = try value.garage(place.open())
      try value.park(garage)
      try garage.close()
      let output = try Reader.run(place.storePath, keys: value.keyName != nil)
      #expect(output.status == 0, "\(value.name): \(output.errors)")
      let found = try output.records().first { line in
        value.keyName.map { line["name"] as? String == $0 } ?? (line["type"] as? String == value.tag)
      }
      let record = try #require(found, "\(value.name): \(output.text)")
      // The digest of a canonical body is the library's business.
      var text = try value.json()
      if text.contains("DIGEST") {
        let address = GoldenAddress(street: "Main", zip: 1)
        text = text.replacing("DIGEST", with: String(try digest(of: address).dropFirst(2)))
      }
      let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
      let read = try #require(record["value"])
      #expect(isEqual(read, expected), "\(value.name): \(read) is not \(expected)")
      if let fields = expected as? [String: Any], let id = fields["id"] {
        // Identifiers are normalized: Swift calls such strings equal. And nothing in them is a reference.
        let readID = try #require(record["id"])
        let isSame = isEqual(readID, id) || (readID as? String).map { $0 == id as? String } ?? false
        #expect(isSame || value.name.hasSuffix("with a reference"), "\(value.name): \(readID) is not \(id)")
      }
    }
  }

  /// The digest in the record's key, which holds it behind space, tag and kind.
  private func digest(of address: GoldenAddress) throws -> String {
    let driver = try Place(.memory).open()
    try Garage(driver).park(address)
    let keys = try Driver.contents(driver, .prefix([0x10])).keys
    return hex(try #require(keys.first).bytes.dropFirst(9))
  }

  private func isEqual(_ a: Any, _ b: Any) -> Bool {
    switch (a, b) {
    case (let a as [String: Any], let b as [String: Any]):
      a.count == b.count && a.allSatisfy { key, value in b[key].map { isEqual(value, $0) } ?? false }
    case (let a as [Any], let b as [Any]): a.count == b.count && zip(a, b).allSatisfy { isEqual($0, $1) }
    // Strings that Swift calls equal may differ in their scalars.
    case (let a as String, let b as String): Array(a.utf8) == Array(b.utf8)
    case (let a as NSNumber, let b as NSNumber): a == b || a.doubleValue == b.doubleValue
    case (is NSNull, is NSNull): true
    default: false
    }
  }

  /// One bit of a record, of a text, of the metadata: the reader says where, and shows what is sound.
  @Test(.enabled(if: Reader.python != nil, "there is no python3 with its sqlite3 module"))
  func theReaderNoticesDamage() throws {
    let place = try Place(.sqlite)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.parkAll([Counter(id: 1), Counter(id: 2)])
    let entries = try Driver.contents(driver).sorted { $0.key < $1.key }
    for (key, value) in entries {
      for position in [0, value.count / 2, value.count - 1] {
        var bytes = value
        bytes[position] ^= 0x10
        try Driver.put(bytes, for: key.bytes, driver)
        let output = try Reader.run(place.storePath)
        #expect(output.status == 1 && output.errors.hasPrefix("reader.py: "), "\(output)")
        #expect(!output.errors.contains("Traceback"), "\(output.errors)")
        #expect(try output.records().count == (key.bytes[0] == 0x10 ? 1 : 0))
      }
      try Driver.put(value, for: key.bytes, driver)
    }
    #expect(try Reader.run(place.storePath).records().count == 2)
    // Typed keys are no records, and none of them here.
    #expect(try Reader.run(place.storePath, keys: true).records().isEmpty)
    #expect(try Reader.run(place.folder.appending(path: "nothing")).status == 1)
    #expect(try Reader.run(testsFolder.appending(path: "reader.py")).status == 1)
  }
}

extension PythonReaderTests {
  /// The same of what stands beside records: statuses, typed keys, and how identifiers are hidden.
  @Test(.enabled(if: Reader.python != nil, "there is no python3 with its sqlite3 module"))
  func theReaderNoticesDamageBesideRecords() throws {
    let place = try Place(.sqlite)
    let driver = try place.open()
    let garage = try Garage(
      driver, types: [], userInfo: [:], fixedTime: nil, hiding: .withKey(Array(repeating: 7, count: 32)))
    try garage.parkAll([GoldenTask(id: "a", syncStatus: .synced), GoldenTask(id: "b", syncStatus: .syncing)])
    let names = ["short", String(repeating: "long", count: 200)]
    for name in names {
      try garage.set(Key<GoldenInner, [Int]>(id: name, defaultValue: []), value: [1, 2])
    }
    func expect(records: Int, keys: Int, _ what: String) throws {
      for (count, showsKeys) in [(records, false), (keys, true)] {
        let output = try Reader.run(place.storePath, keys: showsKeys)
        let isSound = records == 2 && keys == 2
        #expect(output.status == (isSound ? 0 : 1) && output.errors.isEmpty == isSound, "\(what): \(output)")
        #expect(!output.errors.contains("Traceback"), "\(what): \(output.errors)")
        #expect(try output.records().count == count, "\(what): \(output)")
      }
    }
    try expect(records: 2, keys: 2, "nothing")
    let entries = try Driver.contents(driver).sorted { $0.key < $1.key }
    for (key, value) in entries where [0x10, 0x30].contains(key.bytes[0]) {
      for position in [1, value.count / 3, value.count / 2, value.count - 1] {
        var bytes = value
        bytes[position] ^= 0x08
        try Driver.put(bytes, for: key.bytes, driver)
        let isRecord = key.bytes[0] == 0x10
        try expect(records: isRecord ? 1 : 2, keys: isRecord ? 2 : 1, "\(key) at \(position)")
      }
      try Driver.put(value, for: key.bytes, driver)
    }
    // The entry of a status that is gone.
    let status = try #require(entries.first { $0.key.bytes[0] == 0x21 })
    try driver.write { transaction in
      try transaction.remove(status.key)
      return .commit(())
    }
    try expect(records: 1, keys: 2, "a missing entry")
    try Driver.put(status.value, for: status.key.bytes, driver)
    // Another hash key than the records were hidden with.
    let hiding = try #require(entries.first { $0.key.bytes.ends(with: "hiding") })
    let other = HidingMetadata(hidingKey: Array(repeating: 8, count: 32)).bytes
    try Driver.put(other, for: hiding.key.bytes, driver)
    try expect(records: 0, keys: 2, "another hash key")
    try Driver.put(other.dropLast() + [other.last.map { $0 ^ 1 } ?? 0], for: hiding.key.bytes, driver)
    try expect(records: 0, keys: 0, "a damaged hash key")
    try Driver.put(hiding.value, for: hiding.key.bytes, driver)
    try expect(records: 2, keys: 2, "nothing any more")
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}

/// Runs `reader.py`.
enum Reader {
  struct Output {
    var status: Int32
    var text: String
    var errors: String

    func records() throws -> [[String: Any]] {
      try text.split(separator: "\n").compactMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    }
  }

  /// Where python3 is, if it is there and has SQLite. What `PATH` finds may be a script that finds it.
  static let python: URL? = {
    let script = "import sqlite3, hashlib, json, uuid, base64, sys; print(sys.executable)"
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      let file = URL(fileURLWithPath: String(folder)).appending(path: "python3")
      guard FileManager.default.isExecutableFile(atPath: file.path) else { continue }
      guard let output = try? run(file, ["-c", script]), output.status == 0 else { continue }
      return URL(fileURLWithPath: output.text.trimmingCharacters(in: .newlines))
    }
    return nil
  }()

  static func run(_ store: URL, keys: Bool = false) throws -> Output {
    let script = testsFolder.appending(path: "reader.py").path
    return try run(#require(python), ["-B", script] + (keys ? ["--keys"] : []) + [store.path])
  }

  private static func run(_ executable: URL, _ arguments: [String]) throws -> Output {
    let process = Process()
    // Files, as a pipe that is full would stop the process.
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-reader-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, errors) = (folder.appending(path: "out"), folder.appending(path: "err"))
    for file in [output, errors] { try Data().write(to: file) }
    process.executableURL = executable
    process.arguments = arguments
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return Output(
      status: process.terminationStatus, text: String(decoding: try Data(contentsOf: output), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }
}

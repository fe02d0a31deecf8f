import Foundation
import GarageDriver
import GarageStorage
import Testing

/// One row of the table of golden values: what is parked, and how it is recognised when it comes back.
struct GoldenValue: CustomTestStringConvertible, Sendable {
  /// The name of its file under `Tests/Golden/format-1`.
  let name: String
  /// Parks the value in an empty garage.
  let park: @Sendable (Garage) throws -> Void
  /// Checks that the garage gives the value back.
  let check: @Sendable (Garage) throws -> Void
  /// What `reader.py` must say about the record of the value itself: text of JSON.
  let json: @Sendable () throws -> String
  /// The type tag under which `reader.py` finds the record.
  let tag: String
  /// Classes the garage is opened with.
  var types: [any (Codable & SendableMetatype).Type] = []
  /// The `stringValue` of the typed key under which `reader.py` finds the value, where that is no record.
  var keyName: String?
  /// What the garage hides identifiers with; nil where it does not.
  var hidingKey: [UInt8]?

  var testDescription: String { name }

  /// The time that everything in the golden files bears: 2026-01-02 03:04:05.678 UTC.
  static let time: UInt64 = 1_767_323_045_678

  func garage(_ driver: any StorageDriver) throws -> Garage {
    try Garage(
      driver, types: types.map { $0 as any Codable.Type }, userInfo: [:], fixedTime: GoldenValue.time,
      hiding: hidingKey.map { .withKey($0) } ?? .asStored)
  }
}

/// The rows of a table, a line each.
@resultBuilder enum GoldenRows {
  static func buildBlock(_ rows: GoldenValue...) -> [GoldenValue] { rows }
}

/// A row whose value stands in a record as the field `value`; it comes back equal, and JSON says the same of it.
func golden<T: Codable & Equatable & SendableMetatype>(
  _ name: String, json: String? = nil, _ value: @autoclosure @escaping @Sendable () throws -> T
) -> GoldenValue {
  golden(name, json: json, by: { $0 == $1 }, value)
}

/// The same for values that compare by `isEqual`.
func golden<T: Codable & SendableMetatype>(
  _ name: String, json: String? = nil, by isEqual: @escaping @Sendable (T, T) -> Bool,
  _ value: @escaping @Sendable () throws -> T
) -> GoldenValue {
  GoldenValue(
    name: name,
    park: { try $0.park(GoldenBox(value: try value())) },
    check: { garage in
      let copy = try #require(try garage.retrieve(GoldenBox<T>.self, identifier: 1))
      #expect(isEqual(copy.value, try value()), "\(name): \(copy.value)")
    },
    json: { try json.map { "{\"id\":1,\"value\":\($0)}" } ?? goldenJSON(GoldenBox(value: value())) },
    tag: "golden box")
}

/// A row whose value is the record: found by its `id`.
func goldenObject<T: Codable & Identifiable & SendableMetatype>(
  _ name: String, types: [any (Codable & SendableMetatype).Type] = [], tag: String, json: String? = nil,
  by isEqual: @escaping @Sendable (T, T) -> Bool, _ value: @escaping @Sendable () throws -> T
) -> GoldenValue where T.ID: SendableMetatype {
  var row = GoldenValue(
    name: name,
    park: { try $0.park(try value()) },
    check: { garage in
      let value = try value()
      let copies = try garage.retrieveAll(T.self)
      #expect(copies.contains { isEqual($0, value) }, "\(name): \(copies)")
      let count = try garage.count(T.self)
      #expect(count == copies.count)
    },
    json: { try json ?? goldenJSON(try value()) },
    tag: tag)
  row.types = types
  return row
}

/// A row of an identifier: the record holds nothing else.
func goldenIdentifier<ID: Codable & Hashable & SendableMetatype>(
  _ name: String, json: String? = nil, _ id: @autoclosure @escaping @Sendable () -> ID
) -> GoldenValue {
  GoldenValue(
    name: "identifier " + name,
    park: { try $0.park(GoldenIdentity(id: id())) },
    check: { garage in
      let ids = try garage.retrieveAll(GoldenIdentity<ID>.self).map(\.id)
      #expect(ids == [id()], "\(name): \(ids)")
    },
    json: { try json.map { "{\"id\":\($0)}" } ?? goldenJSON(GoldenIdentity(id: id())) },
    tag: "golden identity")
}

/// A row of a value that its content identifies.
func goldenContent<T: Codable & Hashable & SendableMetatype>(
  _ name: String, tag: String, json: String? = nil, _ value: @autoclosure @escaping @Sendable () -> T
) -> GoldenValue {
  GoldenValue(
    name: name,
    park: { try $0.park(value()) },
    check: { garage in
      let identifier = try garage.identifier(for: value())
      let copy = try garage.retrieve(T.self, identifier: identifier)
      #expect(copy == value(), "\(name)")
    },
    json: { try json ?? goldenJSON(value()) },
    tag: tag)
}

/// What Foundation's encoder says, with numbers that JSON does not have in the reader's words.
private func goldenJSON(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

// MARK: - Files

/// What a store holds, as text: `hex of key` `hex of value`, a line for each entry.
struct GoldenEntries: Equatable {
  var entries: [(key: [UInt8], value: [UInt8])]

  static func == (a: GoldenEntries, b: GoldenEntries) -> Bool { a.text == b.text }

  init(of driver: any StorageDriver) throws {
    entries = try Driver.contents(driver).sorted { $0.key < $1.key }.map { ($0.key.bytes, $0.value) }
  }

  /// - Parameter text: what ``text`` gave; lines that begin with `#` are comments.
  init(text: String) throws {
    entries = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      try #require(words.count == 2, "\(line)")
      return (try bytes(ofHex: words[0]), try bytes(ofHex: words[1]))
    }
  }

  var text: String { entries.map { "\(hex($0.key)) \(hex($0.value))\n" }.joined() }

  /// Writes the entries by the driver alone.
  func put(into driver: any StorageDriver) throws {
    for (key, value) in entries { try Driver.put(value, for: key, driver) }
  }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  var text: [UInt8] = []
  let digits = Array("0123456789abcdef".utf8)
  for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]] }
  return String(decoding: text, as: UTF8.self)
}

private func bytes(ofHex text: Substring) throws -> [UInt8] {
  let digits = try text.utf8.map { digit in
    try #require(Character(UnicodeScalar(digit)).hexDigitValue, "no hexadecimal digit")
  }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The recorded bytes of format version 1: `Tests/Golden/format-1/NAME.txt`.
enum GoldenFiles {
  static let folder = testsFolder.appending(path: "Golden/format-1")

  /// `missing` records rows that have no file, `all` every row: only for a format that was never released.
  static let recording = ProcessInfo.processInfo.environment["GARAGE_RECORD_GOLDEN"]

  static func url(_ name: String) -> URL {
    folder.appending(path: name.replacing(" ", with: "-") + ".txt")
  }

  /// The recorded entries of a row; nil where there is no file.
  static func read(_ name: String) throws -> GoldenEntries? {
    guard let data = try? Data(contentsOf: url(name)) else { return nil }
    return try GoldenEntries(text: String(decoding: data, as: UTF8.self))
  }

  static func record(_ value: GoldenValue, _ entries: GoldenEntries) throws {
    let isThere = FileManager.default.fileExists(atPath: url(value.name).path)
    if recording == "all" || (recording == "missing" && !isThere) {
      try Data("# \(value.name)\n\(entries.text)".utf8).write(to: url(value.name))
    }
  }
}

/// The folder `Tests` of this package.
let testsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

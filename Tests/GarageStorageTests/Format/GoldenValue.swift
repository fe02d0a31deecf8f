import Foundation
import GarageDriver
import Testing

@testable import GarageStorage

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
  /// Whether the garage keeps an index of references.
  var referrers = ReferrerOption.asStored

  var testDescription: String { name }

  /// The time that everything in the golden files bears: 2026-01-02 03:04:05.678 UTC.
  static let time: UInt64 = 1_767_323_045_678

  func garage(_ driver: any StorageDriver) throws -> Garage {
    try Garage(
      driver, types: types.map { $0 as any Codable.Type }, userInfo: [:], fixedTime: GoldenValue.time,
      hiding: hidingKey.map { .withKey($0) } ?? .asStored, referrers: referrers)
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

import Foundation
import Testing

@testable import GarageCoding

/// An owner of a value: puts it where values mostly stand, in a property, an optional, an array and a dictionary.
struct Holder<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  var optional: Value?
  var list: [Value]
  var table: [String: Value]

  init(_ value: Value) {
    self.value = value
    optional = value
    list = [value, value]
    table = ["a": value, "b": value]
  }

  var all: [Value] {
    [value] + (optional.map { [$0] } ?? []) + list + table.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// An owner of one value.
struct Owner<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// Encodes a value inside an owner and decodes it again.
func copy<T: Codable>(_ value: T, types: [any Codable.Type] = []) throws -> T {
  try roundTrip(Owner(value), types: types).value
}

/// Encodes one value and decodes its record as another type, whose tag is the same.
func recode<A: Codable, B: Codable>(_ value: A, as type: B.Type, types: [any Codable.Type] = []) throws -> B {
  try reread(try GraphEncoder().encode([Old(value)]), as: New<B>.self, types: types).value
}

/// The root of a graph, read as another type of the same tag.
func reread<T: Codable>(_ graph: EncodedGraph, as type: T.Type, types: [any Codable.Type] = []) throws -> T {
  let source = DictionarySource()
  source.add(graph)
  return try #require(try decode(type, graph.roots[0], from: source, types: types))
}

/// What must be there. A function, because the macro asks for no `try` inside nested functions, and throws there.
func found<T>(_ value: T?) throws -> T { try #require(value) }

func decode<T: Decodable>(
  _ type: T.Type, _ identity: RecordIdentity, from source: DictionarySource, types: [any Codable.Type] = []
) throws -> T? {
  try GraphDecodingSession(source: source, types: try RegisteredTypes(types)).object(type, identity)
}

/// What a program stored …
struct Old<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// … and what the next one declares.
struct New<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
}

/// The body of the first record of a graph.
func body(_ value: any Encodable) throws -> [UInt8] {
  let graph = try GraphEncoder().encode([value])
  let record = graph.records[0]
  return try graph.bytes.withUnsafeBytes { bytes in
    let parsed = try ParsedRecord(
      EncodedGraph.key(of: record, in: bytes), UnsafeRawBufferPointer(rebasing: bytes[record.value]))
    return Array(parsed.bytes(parsed.body))
  }
}

/// A graph's records without their modification times and checksums.
func content(_ graph: EncodedGraph) -> [[UInt8]] {
  graph.records.map { record in
    var bytes = Array(graph.bytes[record.value])
    for index in RecordChecksum.offset..<RecordHead.byteCount { bytes[index] = 0 }
    return Array(graph.keys[record.key]) + bytes
  }
}

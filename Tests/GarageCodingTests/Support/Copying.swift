import Foundation
import Testing

@testable import GarageCoding

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

/// The body of the first record of a graph.
func body(_ value: any Encodable) throws -> [UInt8] {
  let graph = try GraphEncoder().encode([value])
  let record = graph.records[0]
  let key = Array(graph.keys[record.key].dropFirst()), bytes = Array(graph.bytes[record.value])
  return try key.withUnsafeBytes { key in
    try bytes.withUnsafeBytes { bytes in
      let parsed = try ParsedRecord(RecordKey(key), bytes)
      return Array(bytes[parsed.body])
    }
  }
}

/// A graph's records without their modification times and checksums.
func content(_ graph: EncodedGraph) -> [[UInt8]] {
  graph.records.map { record in
    var bytes = Array(graph.bytes[record.value])
    for index in RecordFormat.checksumOffset..<RecordFormat.fixedByteCount { bytes[index] = 0 }
    return Array(graph.keys[record.key]) + bytes
  }
}

extension RecordKey {
  /// The key of these bytes: a tag and an identifier, one behind the other.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      tag: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      identifier: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8)))
  }
}

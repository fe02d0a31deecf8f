import Foundation
@_spi(Measuring) import GarageCoding

/// The garage's coder without a store: whole records, with header, checksum and key. Reused as the garage does.
final class GarageCoder<Object: Codable & Identifiable> {
  private let encoder = GraphEncoder()
  private let source = GraphSource()
  private let session: GraphDecodingSession
  private let tag: UInt64

  init() throws {
    tag = try TypeTag.of(Object.self).digest
    session = GraphDecodingSession(source: source, types: try RegisteredTypes())
  }

  /// As other coders do it: the object's bytes, without what makes them a record.
  func encodeBody(_ object: Object) throws -> [UInt8] { try encoder.body(of: object) }

  func decodeBody(_ bytes: [UInt8]) throws -> Object { try session.value(Object.self, ofBody: bytes.span.bytes) }

  func encode(_ object: Object) throws -> EncodedGraph { try encoder.encode(root: object) }

  /// How large an object's body is, without the table of shapes, which names each by eight bytes behind their number. Not for
  /// objects with references.
  func bodyByteCount(_ object: Object) throws -> Int {
    let shapes = try encode(object).shapes.count
    return try encodeBody(object).count - (shapes == 0 ? 0 : 1 + 8 * shapes)
  }

  /// How large a graph's records are, without their keys.
  static func byteCount(_ graph: EncodedGraph) -> Int { graph.records.reduce(0) { $0 + $1.value.count } }

  /// The coder asks for the texts of shapes once and keeps them; the garage has them in the store.
  func learnTexts(of graph: EncodedGraph) {
    for shape in graph.shapes { source.shapes[shape.digest] = shape.text }
    for tag in graph.tags { source.tags[tag.digest] = tag.name }
  }

  func decode(_ stored: StoredGraph) throws -> Object {
    // Who refers to nothing asks for nothing.
    if stored.records.count > 1 { source.stored = stored }
    defer { session.reset() }
    let object = try stored.graph.bytes.withUnsafeBytes { bytes in
      let root = stored.records[0]
      return try session.object(
        Object.self, tag: tag, keyIdentifier: bytes.bytes.extracting(root.identifier),
        record: bytes.bytes.extracting(root.value))
    }
    switch consume object {
    case .some(let object): return object
    case .none: throw WrongResult("there is no \(Object.self) in a record")
    }
  }
}

/// A graph whose records can be found, as the garage finds them in a store.
final class StoredGraph {
  fileprivate let graph: EncodedGraph
  fileprivate let records: [StoredRecord]

  init(_ graph: EncodedGraph) {
    self.graph = graph
    records = graph.records.map { record in
      let key = record.key
      return StoredRecord(
        tag: graph.bytes[(key.lowerBound + 1)..<(key.lowerBound + 9)].reduce(0) { $0 << 8 | UInt64($1) },
        identifier: (key.lowerBound + 9)..<key.upperBound, value: record.value)
    }
  }
}

private struct StoredRecord {
  var tag: UInt64
  var identifier: Range<Int>
  var value: Range<Int>
}

/// Hands out the other records of one graph.
private final class GraphSource: RecordSource {
  var stored: StoredGraph?
  var shapes: [UInt64: [UInt8]] = [:]
  var tags: [UInt64: String] = [:]

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    guard let stored else { return try body(nil) }
    return try stored.graph.bytes.withUnsafeBytes { bytes in
      for record in stored.records where record.tag == tag {
        let identifier = bytes.bytes.extracting(record.identifier)
        if Self.equal(identifier, keyIdentifier) { return try body(bytes.bytes.extracting(record.value)) }
      }
      return try body(nil)
    }
  }

  private static func equal(_ left: RawSpan, _ right: RawSpan) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        left.count == right.count && memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
      }
    }
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? { shapes[digest] }
  func tagName(_ digest: UInt64) throws -> String? { tags[digest] }
}

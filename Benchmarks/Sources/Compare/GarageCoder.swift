import Foundation
import GarageCoding

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

  func encode(_ object: Object) throws -> EncodedGraph { try encoder.encode(root: object) }

  /// How large the body of a graph's only record is, as Docs/Format.md has it: a header of 12 bytes, which names
  /// each shape by eight bytes behind their number. Not for objects with references.
  static func bodyByteCount(_ graph: EncodedGraph) -> Int {
    byteCount(graph) - 12 - (graph.shapes.isEmpty ? 0 : 1 + 8 * graph.shapes.count)
  }

  /// How large a graph's records are, without their keys.
  static func byteCount(_ graph: EncodedGraph) -> Int { graph.records.reduce(0) { $0 + $1.value.count } }

  /// The coder asks for the texts of shapes once and keeps them; the garage has them in the store.
  func learnTexts(of graph: EncodedGraph) {
    for shape in graph.shapes { source.shapes[shape.digest] = shape.text }
    for tag in graph.tags { source.tags[tag.digest] = tag.name }
  }

  func decode(_ graph: EncodedGraph) throws -> Object {
    source.graph = graph
    defer { session.reset() }
    let (keys, bytes) = (graph.keys.span.bytes, graph.bytes.span.bytes)
    let root = graph.records[0]
    let identifier = keys.extracting(root.key.lowerBound + GraphSource.identifierOffset..<root.key.upperBound)
    let object = try session.object(
      Object.self, tag: tag, keyIdentifier: identifier, record: bytes.extracting(root.value))
    guard let object else { throw WrongResult("there is no \(Object.self) in a record") }
    return object
  }
}

/// Hands out the other records of one graph.
private final class GraphSource: RecordSource {
  /// A prefix byte and the tag's digest come before the identifier.
  static let identifierOffset = 9

  var graph = EncodedGraph?.none
  var shapes: [UInt64: [UInt8]] = [:]
  var tags: [UInt64: String] = [:]

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    guard let graph else { return try body(nil) }
    let (keys, bytes) = (graph.keys.span.bytes, graph.bytes.span.bytes)
    for record in graph.records where record.key.count == Self.identifierOffset + keyIdentifier.byteCount {
      let start = record.key.lowerBound
      let identifier = keys.extracting(start + Self.identifierOffset..<record.key.upperBound)
      let found = keys.unsafeLoadUnaligned(fromByteOffset: start + 1, as: UInt64.self).bigEndian
      if found == tag && Self.equal(identifier, keyIdentifier) {
        return try body(bytes.extracting(record.value))
      }
    }
    return try body(nil)
  }

  private static func equal(_ left: RawSpan, _ right: RawSpan) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0 }
    }
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? { shapes[digest] }
  func tagName(_ digest: UInt64) throws -> String? { tags[digest] }
}

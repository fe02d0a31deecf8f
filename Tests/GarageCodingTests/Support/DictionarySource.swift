import Testing

@testable import GarageCoding

/// Records in a dictionary: the simplest source there is.
final class DictionarySource: RecordSource {
  var records: [[UInt8]: [UInt8]] = [:]
  var shapes: [UInt64: [UInt8]] = [:]
  var tags: [UInt64: String] = [:]

  /// - Parameter count: how many of its records, at most.
  func add(_ graph: EncodedGraph, count: Int = .max) {
    for (key, record) in graph.recordsByKey.prefix(count) { records[key] = record }
    for shape in graph.shapes { shapes[shape.digest] = shape.text }
    for tag in graph.tags { tags[tag.digest] = tag.name }
  }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    let key = keyIdentifier.withUnsafeBytes { RecordKey(tag: tag, identifier: $0).bytes }
    guard let record = records[key] else { return try body(nil) }
    return try body(record.span.bytes)
  }

  func shapeText(_ digest: UInt64) -> [UInt8]? { shapes[digest] }
  func tagName(_ digest: UInt64) -> String? { tags[digest] }
}

/// Encodes a root, decodes it again from the records alone.
func roundTrip<T: Codable>(_ value: T, types: [any Codable.Type] = []) throws -> T {
  let source = DictionarySource()
  let graph = try GraphEncoder().encode([value])
  source.add(graph)
  let session = GraphDecodingSession(source: source, types: try RegisteredTypes(types))
  return try #require(try session.object(T.self, graph.roots[0]))
}

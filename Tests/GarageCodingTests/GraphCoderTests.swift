import Foundation
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

@Suite struct GraphCoderTests {
  struct Address: Codable, Hashable { var street: String, city: String, zip: String }
  final class Person: Codable, Identifiable {
    var id: String
    var name: String
    var age: Int
    var birthdate: Date
    var address: Address
    var dates: [Date]
    var tags: [String]
    @Linked var brother: Person?
    @Linked var siblings: [Person]
    var best: Person?
    var nick: String?
    init(_ id: String) {
      self.id = id
      name = "Name of \(id)"
      age = 42
      birthdate = Date(timeIntervalSinceReferenceDate: 123.456)
      address = Address(street: "1 Main St", city: "Boston", zip: "02101")
      dates = [Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 2.5)]
      tags = ["a", "bb", "ccc"]
      siblings = []
    }
  }

  @Test func personRoundTrips() throws {
    let sam = Person("Sam"), nick = Person("Nick"), emily = Person("Emily")
    sam.brother = nick
    nick.brother = sam
    sam.siblings = [nick, emily]
    sam.best = emily
    let copy = try roundTrip(sam)
    #expect(copy.name == sam.name && copy.age == 42 && copy.birthdate == sam.birthdate)
    #expect(copy.address == sam.address && copy.dates == sam.dates && copy.tags == sam.tags)
    #expect(copy.brother === copy.siblings[0])
    #expect(copy.best === copy.siblings[1])
    #expect(copy.brother?.brother === copy)
    #expect(copy.nick == nil)
    for person in [copy] + copy.siblings + [sam, nick] { person.brother = nil; person.siblings = [] }
  }
}

import Foundation
import GarageCoding

/// The coder beside Foundation's and a hand-written one. Every coder is made once and reused.
struct CodecComparison {
  let people: [Person]
  /// How often each round goes through all of them.
  let repetitions: Int
  let isWanted: (String) -> Bool

  static let names = ["encode", "decode"]
  static let bytesName = "bytes per object"
  private static let peers = [
    "encode": ["JSONEncoder", "PropertyListEncoder", "hand-written"],
    "decode": ["JSONDecoder", "PropertyListDecoder", "hand-written"],
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let coders = try makeCoders()
    var samples = Samples()
    try rounds.run("codec") { round in
      for name in Self.names where isWanted(name) {
        for coder in coders.rotated(by: round) {
          try samples.measure(name == "encode" ? coder.encoding : coder.decoding)
        }
      }
    }
    var rows = Self.names.flatMap { name in
      Self.peers[name]!.compactMap { ResultRow(name, "garage", $0, samples) }
    }
    guard isWanted(Self.bytesName) else { return rows }
    let sizes = Dictionary(
      uniqueKeysWithValues: coders.map { ($0.name, Double($0.byteCount) / Double(people.count)) })
    for peer in ["JSON", "property list", "hand-written"] {
      rows.append(
        ResultRow(
          Self.bytesName, "garage", peer, bytes: sizes["garage"]!, peerBytes: sizes[peer]!,
          objects: people.count))
    }
    return rows
  }

  private struct Coder {
    var name: String
    var encoding: Operation
    var decoding: Operation
    var byteCount: Int
  }

  private func makeCoders() throws -> [Coder] {
    let json = (JSONEncoder(), JSONDecoder())
    let list = (PropertyListEncoder(), PropertyListDecoder())
    list.0.outputFormat = .binary
    let garage = try GarageCoder()
    return [
      try coder(
        "garage", ("garage", "garage"), byteCount: { $0.graph.bytes.count }, encode: garage.encode,
        decode: garage.decode),
      try coder(
        "JSON", ("JSONEncoder", "JSONDecoder"), byteCount: \.count, encode: json.0.encode,
        decode: { try json.1.decode(Person.self, from: $0) }),
      try coder(
        "property list", ("PropertyListEncoder", "PropertyListDecoder"), byteCount: \.count,
        encode: list.0.encode,
        decode: { try list.1.decode(Person.self, from: $0) }),
      try coder(
        "hand-written", ("hand-written", "hand-written"), byteCount: \.count, encode: HandWritten.encode,
        decode: HandWritten.decode),
    ]
  }

  private func coder<Encoded>(
    _ name: String, _ who: (String, String), byteCount: (Encoded) -> Int,
    encode: @escaping (Person) throws -> Encoded, decode: @escaping (Encoded) throws -> Person
  ) throws -> Coder {
    let (people, repetitions) = (people, repetitions)
    let encoded = try people.map(encode)
    let expected = encoded.map(byteCount).reduce(0, +)
    var sizes = 0
    var decoded: [Person] = []
    let count = people.count * repetitions
    return Coder(
      name: name,
      encoding: Operation(
        name: "encode", who: who.0, count: count,
        run: {
          for _ in 0..<repetitions { for person in people { _ = consume(try encode(person)) } }
        },
        verify: {
          sizes = 0
          for person in people { sizes += try decode(encode(person)) == person ? 1 : 0 }
          try WrongResult.unless(sizes == people.count, "not all people come back as they were")
        }),
      decoding: Operation(
        name: "decode", who: who.1, count: count,
        prepare: {
          decoded.removeAll()
          decoded.reserveCapacity(people.count)
        },
        run: {
          for _ in 0..<repetitions {
            decoded.removeAll(keepingCapacity: true)
            for bytes in encoded { decoded.append(try decode(bytes)) }
          }
        },
        verify: { try WrongResult.unless(decoded == people, "the people decoded are others") }),
      byteCount: expected)
  }
}

/// Keeps the compiler from leaving out what nobody looks at.
@inline(never)
private func consume<T>(_ value: T) -> T { value }

/// The garage's coder without a store: whole records, with header, checksum and key.
private final class GarageCoder {
  struct Encoded {
    var graph: EncodedGraph
    var tag: UInt64
  }

  /// Knows the shapes and tags that the encoder used.
  private final class Source: RecordSource {
    var shapes: [UInt64: [UInt8]] = [:]
    var tags: [UInt64: String] = [:]

    func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
      try body(nil)
    }
    func shapeText(_ digest: UInt64) throws -> [UInt8]? { shapes[digest] }
    func tagName(_ digest: UInt64) throws -> String? { tags[digest] }
  }

  private let encoder = GraphEncoder()
  private let source = Source()
  private let session: GraphDecodingSession
  private let tag: UInt64
  private var knowsTexts = false

  init() throws {
    tag = try TypeTag.of(Person.self).digest
    session = GraphDecodingSession(source: source, types: try RegisteredTypes())
  }

  func encode(_ person: Person) throws -> Encoded {
    let graph = try encoder.encode([person])
    if !knowsTexts {
      knowsTexts = true
      for shape in graph.shapes { source.shapes[shape.digest] = shape.text }
      for tag in graph.tags { source.tags[tag.digest] = tag.name }
    }
    return Encoded(graph: graph, tag: tag)
  }

  func decode(_ encoded: Encoded) throws -> Person {
    defer { session.reset() }
    let (keys, bytes) = (encoded.graph.keys.span.bytes, encoded.graph.bytes.span.bytes)
    let person = try session.object(
      Person.self, tag: encoded.tag, keyIdentifier: keys.extracting(9..<keys.byteCount), record: bytes)
    guard let person else { throw WrongResult("there is no person in a record") }
    return person
  }
}

import Testing

@testable import GarageCoding

/// Where a session keeps what it decoded: for as long as somebody may refer to it, and no longer.
struct DecodedObjectLifetimeTests {
  /// Counts the objects that live. Tasks of other tests do not see it.
  private final class Life {
    @TaskLocal static var count: Counter = Counter()
    final class Counter: @unchecked Sendable {
      // @unchecked: used by one thread.
      var living = 0
    }
    let counter = Life.count
    init() { counter.living += 1 }
    deinit { counter.living -= 1 }
  }

  private struct Small: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "decoded" }
    var id: String
    let life = Life()
    enum CodingKeys: CodingKey { case id }
  }

  /// The same record as another type.
  private struct Other: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "decoded" }
    var id: String
    let life = Life()
    enum CodingKeys: CodingKey { case id }
  }

  private final class Instance: Codable, Identifiable {
    var id: String
    let life = Life()
    enum CodingKeys: CodingKey { case id }
    init(id: String) { self.id = id }
  }

  /// Larger than what stands together, and further apart than eight bytes.
  private struct Large: Codable, Identifiable {
    var id: String
    let life = Life()
    let room = (SIMD64<UInt64>(repeating: 1), SIMD64<UInt64>(repeating: 2), SIMD64<UInt64>(repeating: 3))
    enum CodingKeys: CodingKey { case id }
  }

  private struct Damaged: Codable, Identifiable {
    var id: String
    let life = Life()
    enum CodingKeys: CodingKey { case id }
    init(id: String) { self.id = id }
    init(from decoder: any Decoder) throws {
      id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
      if id == "bad" { throw Refused() }
    }
  }

  private struct Refused: Error {}

  private struct Root: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "root" }
    var id = 1
    var small: Small, other: Small, again: Small
    var large: [Large]
    var instance: Instance, sameInstance: Instance
    var damaged: [Damaged]
  }

  private struct RootOfBoth: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "root" }
    var id: Int
    var small: Small, other: Other, again: Small
    var large: [Large]
    var instance: Instance, sameInstance: Instance
    var damaged: [Damaged]
  }

  private func graph(damaged: [String]) throws -> EncodedGraph {
    let (small, instance) = (Small(id: "s"), Instance(id: "i"))
    let large = (0..<100).map { Large(id: "l\($0 % 10)") }
    let root = Root(
      small: small, other: small, again: small, large: large, instance: instance, sameInstance: instance,
      damaged: damaged.map(Damaged.init(id:)))
    return try GraphEncoder().encode(root: root)
  }

  private func session(_ graph: EncodedGraph) throws -> GraphDecodingSession {
    let source = DictionarySource()
    source.add(graph)
    return GraphDecodingSession(source: source, types: try RegisteredTypes())
  }

  @Test func objectsOfAllKindsLiveAsLongAsTheSession() throws {
    try Life.$count.withValue(Life.Counter()) {
      let graph = try graph(damaged: [])
      #expect(Life.count.living == 0)
      let session = try session(graph)
      for _ in 1...3 {
        do {
          let root = try #require(try session.object(RootOfBoth.self, graph.roots[0]))
          #expect(root.small.id == "s" && root.other.id == "s" && root.small.life === root.again.life)
          #expect(root.instance === root.sameInstance)
          #expect(root.large.map(\.id) == (0..<100).map { "l\($0 % 10)" })
          #expect(root.large[7].life === root.large[17].life)
          #expect(root.large[42].room.1 == SIMD64<UInt64>(repeating: 2))
        }
        // One of each type that the record was read as; ten large ones, each once.
        #expect(Life.count.living == 13)
        session.reset()
        #expect(Life.count.living == 0)
      }
    }
  }

  @Test func whatFailsLeavesNothing() throws {
    try Life.$count.withValue(Life.Counter()) {
      let graph = try graph(damaged: ["good", "bad", "better"])
      let session = try session(graph)
      for _ in 1...3 {
        #expect(throws: Refused.self) { try session.object(RootOfBoth.self, graph.roots[0]) }
        #expect(Life.count.living == 0)
      }
    }
  }
}

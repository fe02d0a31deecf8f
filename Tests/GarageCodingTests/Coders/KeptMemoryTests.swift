import Foundation
import Testing

@testable import GarageCoding

// Coders are used again and never freed: what they keep must not be what their largest value needed.

/// Arrays that are written in turn, so that all of them wait.
private struct Parts: Codable, Equatable {
  var parts: [Data]
  init(_ parts: [Data]) { self.parts = parts }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    var nested = parts.map { _ in list.nestedUnkeyedContainer() }
    for index in parts.indices { try nested[index].encode(parts[index]) }
    for index in parts.indices { try nested[index].encode(index) }
  }
  init(from decoder: any Decoder) throws {
    parts = []
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      var nested = try list.nestedUnkeyedContainer()
      parts.append(try nested.decode(Data.self))
      #expect(try nested.decode(Int.self) == parts.count - 1)
    }
  }
}

/// Maps that wait and hold many that wait.
private struct Tables: Codable, Equatable {
  var tables: [[String: Int]]
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  init(_ tables: [[String: Int]]) { self.tables = tables }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    var nested = tables.map { _ in list.nestedContainer(keyedBy: Key.self) }
    for index in tables.indices {
      for (key, value) in tables[index] {
        var single = nested[index].nestedUnkeyedContainer(forKey: Key(stringValue: key))
        try single.encode(value)
      }
    }
  }
  init(from decoder: any Decoder) throws {
    tables = try decoder.singleValueContainer().decode([[String: [Int]]].self).map { table in
      table.mapValues { $0.first ?? -1 }
    }
  }
}

@Suite struct KeptMemoryTests {
  private static let limit = 1 << 20

  private func data(_ count: Int, _ number: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) })
  }

  /// Encodes values under a typed key, one after the other with one core, which is cleared after each as it is when it
  /// is given back, and reads them back.
  private func check<T: Codable & Equatable>(_ values: [T]) throws {
    let key = Array("a key".utf8)
    try key.withUnsafeBytes { bytes in
      let key = CheckedKey(bytes)
      try EncodingCore.withCore { core in
        for value in values {
          // As when it is lent.
          core.state.serialBefore = core.state.lastSerial
          let encoded = try GraphEncoder().value(value, key: key, fullKey: nil, core).bytes
          if encoded.count > Self.limit { #expect(core.keptByteCount > Self.limit) }
          core.reset()
          #expect(core.keptByteCount < Self.limit)
          let session = GraphDecodingSession(source: DictionarySource(), types: try RegisteredTypes())
          let isSame = try session.value(T.self, key: key, fullKey: nil, record: encoded.span.bytes) == value
          #expect(isSame)
        }
      }
    }
  }

  @Test func ofASingleValue() throws {
    try check([data(10, 1), data(8 << 20, 2), data(11, 3), data(300_000, 4), data(200_000, 5), data(12, 6)])
    let text = String(repeating: "text that grows ", count: 1 << 19)
    try check(["", text, "a"])
  }

  @Test func ofManyFields() throws {
    let table = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("key \($0)", $0) })
    try check([["a": 1], table, ["b": 2, "c": 3]])
  }

  @Test func ofNestedContainers() throws {
    let (small, large) = (
      Parts([data(10, 1), data(0, 2)]), Parts((0..<400).map { data(20_000, $0) })
    )
    try check([small, large, small, large, small])
  }

  @Test func ofNestedContainersInNestedOnes() throws {
    let table = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("\($0)", $0) })
    let (small, large) = (Tables([["a": 1, "b": 2], [:]]), Tables(Array(repeating: table, count: 10)))
    try check([small, large, small, large, small])
  }

  @Test func ofReferencesThatWereDecoded() throws {
    struct Hub: Codable, Identifiable, Equatable {
      var id = 1
      var others: [Reference<Hub>]
    }
    let hub = Hub(others: (0..<40_000).map { Reference(Hub.self, identifier: $0) })
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([hub])
    source.add(graph)
    for _ in 0..<2 {
      let session = GraphDecodingSession(source: source, types: try RegisteredTypes())
      let isSame = try session.object(Hub.self, graph.roots[0]) == hub
      #expect(isSame)
      let state = session.walk.state
      func byteCount() -> Int {
        state.references.byteCapacity + state.shapes.byteCapacity + state.input.offsets.byteCapacity
      }
      #expect(byteCount() > Self.limit)
      state.giveMemoryBack()
      #expect(byteCount() < Self.limit)
    }
    #expect(try roundTrip(Hub(others: [])) == Hub(others: []))
  }
}

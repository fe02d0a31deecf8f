import Foundation
import GarageCoding
import GarageDriver
@testable import GarageStorage
import Synchronization
import Testing

/// How records are put in order before they are written, and fetched ahead before they are decoded.
@Suite struct RecordBatchTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func recordsAreWrittenInKeyOrder(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let ids = Set(
      (0..<500).map { _ in
        let length = Int.random(in: 0...12, using: &generator)
        return String((0..<length).map { _ in "ab\u{0}\u{1}z".randomElement(using: &generator)! })
      })
    let prefix = seed % 2 == 0 ? "a long beginning in common " : ""
    let people = ids.shuffled(using: &generator).map { Person(prefix + $0) }
    let graph = try GraphEncoder(keyPrefix: 0x10).encode(people)
    let keys = graph.recordsInKeyOrder().map { StorageKey(Array(graph.keys[graph.records[$0].key])) }
    #expect(keys.count == ids.count, "seed \(seed)")
    #expect(keys == keys.sorted(), "seed \(seed)")
    #expect(Set(keys).count == keys.count, "seed \(seed)")
  }

  /// Keys of several types, the last of those that are the same, in the order of all their bytes.
  @Test(arguments: [12, 13, 14, 15] as [UInt64])
  func recordsOfSeveralTypesAreWrittenInKeyOrder(_ seed: UInt64) throws {
    struct SortedVolume: Codable, Identifiable { var id: String }
    struct SortedNumber: Codable, Identifiable { var id: Int }
    struct SortedShelf: Codable, Identifiable {
      var id: UUID
      var volumes: [SortedVolume]
      var numbers: [SortedNumber]
    }
    var generator = SeededGenerator(seed: seed)
    func shelves(_ count: Int) -> [SortedShelf] {
      (0..<count).map { index in
        let id = (UInt64.random(in: 0...20, using: &generator).bigEndian, UInt64(index % 2))
        let volumes = (0..<3).map { _ in
          let length = Int.random(in: 0...12, using: &generator)
          return SortedVolume(
            id: String((0..<length).map { _ in "ab\u{0}\u{1}z".randomElement(using: &generator)! }))
        }
        return SortedShelf(
          id: withUnsafeBytes(of: id) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }, volumes: volumes,
          numbers: (0..<3).map { _ in SortedNumber(id: .random(in: -300...300, using: &generator)) })
      }
    }
    let graphs = try [40, 1, 25].map { try GraphEncoder(keyPrefix: 0x10).encode(shelves($0)) }
    for graph in graphs + [EncodedGraph(joining: graphs)] {
      var last: [StorageKey: Int] = [:]
      for index in graph.records.indices {
        last[StorageKey(Array(graph.keys[graph.records[index].key]))] = index
      }
      let expected = last.keys.sorted().map { last[$0]! }
      #expect(graph.recordsInKeyOrder() == expected, "seed \(seed)")
    }
  }

  /// Few records are sorted in another way than many. Of those of one key the last one counts.
  @Test(arguments: [16, 17] as [UInt64])
  func fewRecordsAreWrittenInKeyOrder(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for count in Array(1...24) + Array(1...24) {
      let names = (0..<count).map { _ in "\(Int.random(in: 0...12, using: &generator))" }
      let graph = EncodedGraph(
        joining: try names.map { try GraphEncoder(keyPrefix: 0x10).encode([Person($0)]) })
      var last: [StorageKey: Int] = [:]
      for index in graph.records.indices {
        last[StorageKey(Array(graph.keys[graph.records[index].key]))] = index
      }
      let expected = last.keys.sorted().map { last[$0]! }
      #expect(graph.recordsInKeyOrder() == expected, "seed \(seed), \(names)")
    }
  }

  /// Who is told that nothing need be sorted must be told right.
  @Test(arguments: [5, 6, 7, 8] as [UInt64])
  func whetherRecordsAreInKeyOrderIsKnown(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func graph(_ ids: [String]) throws -> EncodedGraph {
      try GraphEncoder(keyPrefix: 0x10).encode(ids.map { Person($0) })
    }
    func isAscending(_ graph: EncodedGraph) -> Bool {
      let keys = graph.records.map { StorageKey(Array(graph.keys[$0.key])) }
      return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
    }
    for round in 0..<200 {
      var parts: [EncodedGraph] = []
      var ids = (0..<Int.random(in: 1...40, using: &generator)).map { "\(100 + $0)" }
      if round % 3 == 0, ids.count > 1 {
        ids.swapAt(
          Int.random(in: 0..<ids.count, using: &generator), Int.random(in: 0..<ids.count, using: &generator))
      }
      if round % 5 == 0 { ids[0] = String(repeating: "long ", count: 30_000) }
      for part in ids.indices where part % 7 == 0 {
        parts.append(try graph(Array(ids[part..<min(part + 7, ids.count)])))
      }
      for part in parts { #expect(part.isInKeyOrder == isAscending(part), "seed \(seed), round \(round)") }
      let joined = EncodedGraph(joining: parts)
      #expect(joined.isInKeyOrder == isAscending(joined), "seed \(seed), round \(round)")
    }
  }

  /// The next graph may use the memory of one that is gone, and never that of one that somebody has.
  @Test(arguments: [9, 10, 11] as [UInt64])
  func aGraphThatIsHeldStaysAsItIs(_ seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let batches = (0..<120).map { _ in
      let count = [1, 20, 150, 400, 1500].randomElement(using: &generator)!
      let name = String(repeating: "x", count: Int.random(in: 0...60, using: &generator))
      return (0..<count).map { "\(name) \($0)" }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for share in 0..<3 {
        group.addTask {
          var held: [(graph: EncodedGraph, bytes: [UInt8], count: Int)] = []
          for (index, names) in batches.enumerated() where index % 3 == share {
            let graph = try GraphEncoder(keyPrefix: 0x10).encode(names.map { Person($0) })
            held.append((graph, Array(graph.bytes), names.count))
            if index % 4 == 0 { held.removeAll() }
            if held.count > 5 { held.removeFirst(index % 6) }
            for (graph, bytes, count) in held {
              #expect(graph.records.count == count && Array(graph.bytes) == bytes, "seed \(seed), \(index)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aBatchReachesTheDriverInOrder() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    try garage.parkAll((0..<100).shuffled().map { Counter(id: $0) })
    let puts = storage.puts.withLock { $0 }.filter { $0.bytes[0] == 0x10 }
    #expect(puts.count == 100)
    #expect(puts == puts.sorted())
  }

  // MARK: Round trips

  private struct Node: Codable, Identifiable {
    var id: Int
    var children: [Node] = []
    var later: Reference<Node>?
  }

  private static func tree(_ id: Int, depth: Int) -> Node {
    let children = depth == 0 ? [] : (1...4).map { tree(id * 4 + $0, depth: depth - 1) }
    return Node(id: id, children: children, later: Reference(Node.self, identifier: id + 1))
  }

  @Test func aGraphIsFetchedLevelByLevel() throws {
    let storage = CountingStorage(try Place(.memory).open(), roundTripsAreExpensive: true)
    let garage = try Garage(storage)
    try garage.park(RecordBatchTests.tree(0, depth: 4))
    #expect(try garage.count(Node.self) == 341)
    storage.gets.store(0, ordering: .relaxed)
    let root = try #require(try garage.retrieve(Node.self, identifier: 0))
    #expect(root.children.count == 4)
    #expect(root.children[3].children[3].children[3].children[3].id == 340)
    #expect(storage.gets.load(ordering: .relaxed) <= 6)
    #expect(try garage.retrieve(Node.self, identifier: 1000) == nil)

    storage.gets.store(0, ordering: .relaxed)
    #expect(try garage.retrieveAll(Node.self).map(\.id) == Array(0..<341))
    var visited: [Int] = []
    try garage.forEach(Node.self) { visited.append($0.id) }
    #expect(visited == Array(0..<341))
    #expect(storage.gets.load(ordering: .relaxed) <= 30)
    try garage.write { writer in
      #expect(try writer.retrieveAll(Node.self).count == 341)
      try writer.delete(Node.self, identifier: 340)
    }
    // A missing target is an error where the property needs it, as it is without fetching ahead.
    #expect(throws: DecodingError.self) { try garage.retrieve(Node.self, identifier: 84) }
  }

  private struct Chapter: Codable, Identifiable, Equatable {
    var id: Int
    var text: String
    var part: Leaflet
  }
  private struct Leaflet: Codable, Identifiable, Equatable {
    var id: Int
    var title: String
  }

  /// A block of large records is copied some at a time, and what they refer to is there for each.
  @Test func largeRecordsAreVisitedInOrder() throws {
    let storage = CountingStorage(try Place(.memory).open(), roundTripsAreExpensive: true)
    let garage = try Garage(storage)
    let text = String(repeating: "x", count: 300_000)
    let chapters = (0..<40).map {
      Chapter(id: $0, text: "\($0)" + text, part: Leaflet(id: $0 % 3, title: "t\($0 % 3)"))
    }
    try garage.parkAll(chapters)
    let first = Reference(Leaflet.self, identifier: 0)
    let found = try garage.retrieveReferrers(Chapter.self, of: first)
    #expect(found == chapters.filter { $0.part.id == 0 })
    let changed = try garage.query(Chapter.self).updateAll { $0.text += "y" }
    #expect(changed == 40)
    #expect(try garage.retrieveAll(Chapter.self).map(\.text) == chapters.map { $0.text + "y" })
  }

  // MARK: Memory

  private struct Part: Codable, Identifiable {
    var id: Int
    var parts: [Part]
  }

  /// Many objects that reach one large graph do not each decode it again, and do not hold everything either.
  @Test func forEachSharesLargeGraphs() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    let large = Part(id: -1, parts: (0..<12_000).map { Part(id: 1_000_000 + $0, parts: []) })
    try garage.parkAll((0..<2000).map { Part(id: $0, parts: $0 % 2 == 0 ? [] : [large]) })
    storage.gets.store(0, ordering: .relaxed)
    var reached = 0
    try garage.forEach(Part.self) { part in
      if part.id >= 0 && part.id < 2000 { reached += part.parts.first?.parts.count ?? 0 }
    }
    #expect(reached == 1000 * 12_000)
    #expect(storage.gets.load(ordering: .relaxed) < 60_000)
  }

  @Test func embeddedStoragesAreAskedOneByOne() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    try garage.park(RecordBatchTests.tree(0, depth: 2))
    storage.gets.store(0, ordering: .relaxed)
    #expect(try garage.retrieve(Node.self, identifier: 0)?.children.count == 4)
    #expect(storage.gets.load(ordering: .relaxed) >= 21)
  }
}

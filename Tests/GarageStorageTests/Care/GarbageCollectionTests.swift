import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// `collectGarbage` deletes what no root reaches, and nothing else.
@Suite struct GarbageCollectionTests {
  /// A random graph with references of all kinds, and the same as lists of numbers.
  private struct RandomGraph {
    var nodes: [CareNode]
    /// Where each node's references lead, by kind.
    var edges: [[ReferenceKind: Set<Int>]]
    /// The leaf of each node that has one.
    var leaves: [Int: Int] = [:]

    init(_ count: Int, _ random: inout SeededGenerator) throws {
      nodes = (0..<count).map { CareNode($0) }
      edges = Array(repeating: [:], count: count)
      for node in nodes {
        let links = (0..<Int.random(in: 0...2, using: &random)).map { _ in
          Int.random(in: 0..<count, using: &random)
        }
        // Some lead to nothing.
        let others = (0..<Int.random(in: 0...1, using: &random)).map { _ in
          Int.random(in: 0..<count + 3, using: &random)
        }
        node.links = links.map { nodes[$0] }
        node.others = others.map { Reference(CareNode.self, identifier: $0) }
        if Bool.random(using: &random) {
          leaves[node.id] = Int.random(in: 0..<5, using: &random)
          node.parent = CareLeaf(id: "leaf \(leaves[node.id]!)")
        }
        edges[node.id] = [.linked: Set(links), .lazy: Set(others.filter { $0 < count })]
      }
    }

    /// A plain search: the nodes and leaves that these reach.
    func reached(from roots: Set<Int>, along kinds: Set<ReferenceKind>) -> (nodes: Set<Int>, leaves: Set<Int>)
    {
      var reached = roots
      var waiting = Array(roots)
      while let next = waiting.popLast() {
        for kind in kinds {
          for target in edges[next][kind] ?? [] where reached.insert(target).inserted {
            waiting.append(target)
          }
        }
      }
      return (reached, kinds.contains(.eager) ? Set(reached.compactMap { leaves[$0] }) : [])
    }
  }

  @Test(arguments: Backend.allCases, [false, true])
  func deletesWhatAPlainSearchDoesNotReach(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for kinds in [Set(ReferenceKind.allCases), [.eager, .linked], [.lazy]] {
      for _ in 0..<5 {
        let graph = try RandomGraph(40, &random)
        defer { for node in graph.nodes { node.links = [] } }
        let garage = try Garage(Place(backend).open(), hidesIdentifiers: hidesIdentifiers)
        try garage.parkAll(graph.nodes)
        try garage.parkAll((0..<5).map { Errand(id: $0, syncStatus: .notSynced) })
        let leafCount = try garage.count(CareLeaf.self)
        let roots = Set((0..<3).map { _ in Int.random(in: 0..<40, using: &random) })
        let expected = graph.reached(from: roots, along: kinds)
        let garageRoots: [GarageRoot] =
          try roots.map { try .object(CareNode.self, identifier: $0) } + [.all(Errand.self)]
        let listed = try garage.unreachable(from: garageRoots, along: kinds)
        let deleted = try garage.collectGarbage(roots: garageRoots, along: kinds)
        let hint: Comment = "seed \(seed), roots \(roots), along \(kinds)"
        #expect(deleted == 40 - expected.nodes.count + leafCount - expected.leaves.count, hint)
        #expect(listed.count == deleted, hint)
        let left = try Set(garage.query(CareNode.self).values(\.id))
        #expect(left == expected.nodes, hint)
        #expect(try garage.count(CareLeaf.self) == expected.leaves.count, hint)
        #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).count == 5, hint)
        #expect(try garage.collectGarbage(roots: garageRoots, along: kinds) == 0, hint)
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func rootsAreTypesNamesAndKeys(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let garage = store.garage
    let all = try garage.count(CareNode.self)
    // Everything is linked in one circle.
    let favourite = try Reference(CareNode.self, identifier: 3).identity
    #expect(try !garage.unreachable(from: [.keys]).contains(favourite))
    #expect(try garage.unreachable(from: []).contains(favourite))
    let tag = String(reflecting: CareNode.self)
    #expect(try garage.unreachable(from: [.allNamed(tag)]) == garage.unreachable(from: [.all(CareNode.self)]))
    // Of a class its subclasses, too; of a subclass not its superclass.
    let dogs = try garage.unreachable(from: [.all(Dog.self), .all(CareNode.self)])
    #expect(
      dogs.contains { $0.identifier.description == "a" }
        && !dogs.contains { $0.identifier.description == "p" })
    let puppy = try garage.unreachable(from: [.allNamed(String(reflecting: Puppy.self))])
    #expect(
      !puppy.contains { $0.identifier.description == "p" }
        && puppy.contains { $0.identifier.description == "d" })
    try garage.collectGarbage(roots: [.keys])
    #expect(try garage.count(CareNode.self) == all && garage.count(Animal.self) == 0)
    #expect(try garage.get(CareKeys.number) == 7)
  }

  /// Nobody knows what a damaged record refers to: nothing is deleted then.
  @Test(arguments: Backend.allCases)
  func doesNothingBehindADamagedRecord(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let contents = try Driver.contents(store.driver)
    let (key, record) = try #require(contents.first { $0.key.bytes[0] == 0x10 && $0.value.count > 3000 })
    try Driver.put(record.dropLast(3) + [1, 2, 3], for: key.bytes, store.driver)
    #expect(throws: GarageError.self) { try store.garage.collectGarbage(roots: [.all(CareNode.self)]) }
    #expect(try Driver.contents(store.driver).count == contents.count)
  }

  /// Where a type was renamed references still have its former name: their targets are no garage.
  @Test(arguments: Backend.allCases)
  func keepsWhatIsKnownByAnotherName(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Holder(id: 1, leaf: FormerLeaf(id: "x")))
    // Parked under its new name, which takes the record of the former one away.
    try garage.park(NewLeaf(id: "x"))
    #expect(try garage.count(FormerLeaf.self) == 0)
    #expect(try garage.collectGarbage(roots: [.all(Holder.self)]) == 0)
    #expect(try garage.count(NewLeaf.self) == 1)
  }

  /// An older program has parked the object again, beside the record that counts. Both stay.
  @Test(arguments: Backend.allCases)
  func keepsAllRecordsOfAnObject(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Holder(id: 1, leaf: FormerLeaf(id: "x")))
    try garage.park(NewLeaf(id: "x", text: "new"))
    try garage.park(FormerLeaf(id: "x", text: "old"))
    #expect(try garage.collectGarbage(roots: [.all(Holder.self)]) == 0)
    #expect(try garage.retrieve(NewLeaf.self, identifier: "x")?.text == "new")
    try garage.deleteAll(Holder.self)
    #expect(try garage.collectGarbage(roots: [.all(NewLeaf.self)]) == 0)
    #expect(try garage.retrieve(FormerLeaf.self, identifier: "x")?.text == "old")
  }

  private struct Holder: Codable, Identifiable { var id: Int, leaf: FormerLeaf }
  private struct FormerLeaf: Codable, Identifiable, TypeTagged {
    var id: String, text = ""; static var typeTag: String { "former leaf" }
  }
  private struct NewLeaf: Codable, Identifiable, TypeTagged {
    var id: String, text = ""
    static var typeTag: String { "new leaf" }
    static var formerTypeTags: [String] { ["former leaf"] }
  }

  /// While another thread moves references about, nothing that it holds on to is ever deleted.
  @Test(arguments: Backend.engines)
  func whatIsReferredToMeanwhileStays(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let root = CareNode(0)
    try garage.park(root)
    let isDone = Atomic<Bool>(false)
    let lost = Mutex<[Int]>([])
    let writer = Thread {
      // Each time a new node, or the one before, is all that the root refers to.
      for id in 1..<200 {
        do {
          try garage.write { writer in
            guard let root = try writer.retrieve(CareNode.self, identifier: 0) else {
              return lost.withLock { $0.append(0) }
            }
            if id > 1, root.links.first?.id != id - 1 { lost.withLock { $0.append(id - 1) } }
            root.links = [CareNode(id)]
            try writer.park(root)
            root.links = []
          }
        } catch { lost.withLock { $0.append(-id) } }
      }
      isDone.store(true, ordering: .releasing)
    }
    writer.start()
    var collected = 0
    while !isDone.load(ordering: .acquiring) {
      collected += try garage.collectGarbage(roots: [.object(CareNode.self, identifier: 0)])
    }
    collected += try garage.collectGarbage(roots: [.object(CareNode.self, identifier: 0)])
    #expect(lost.withLock { $0 } == [])
    #expect(try garage.count(CareNode.self) == 2 && collected == 198)
  }
}

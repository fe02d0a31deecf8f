import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

private struct Leaf: Codable, Identifiable, Equatable {
  var id: Int
  var text = "leaf"
}
private struct Branch: Codable, Identifiable {
  var id: Int
  var leaf: Leaf
}

private struct Twig: Codable, Identifiable, Indexed {
  var id: Int
  var text = "twig"
  var leaf: Reference<Leaf>?
  static var indexes: [Index<Twig>] { [Index(\.text, .readable)] }
}

private final class Ring: Codable, Identifiable {
  let id: Int
  let text: String
  let next: Ring?
  init(id: Int, text: String = "ring", next: Ring? = nil) {
    (self.id, self.text, self.next) = (id, text, next)
  }
}

/// One value whose seal does not open stops none of the verbs that go through all.
@Suite struct UnreadableSealTests {
  /// Twenty leaves and twenty branches, of which the seals of leaf 7 and branch 3 are damaged.
  private func damaged(hidesIdentifiers: Bool) throws -> MemoryStorage {
    let memory = MemoryStorage()
    let garage = try Garage(
      SealedStorage(memory, sealer: InsecureTestSealer(key: 7)), hidesIdentifiers: hidesIdentifiers)
    try garage.parkAll((0..<20).map { Branch(id: $0, leaf: Leaf(id: $0)) })
    // Which entry is whose: found by parking it again.
    for (isLeaf, id) in [(true, 7), (false, 3)] {
      let before = try contents(memory)
      if isLeaf {
        try garage.park(Leaf(id: id, text: "changed"))
      } else {
        try garage.park(Branch(id: id, leaf: Leaf(id: id)))
      }
      let after = try contents(memory)
      let changed = after.filter { before[$0.key] != $0.value }.keys.sorted()
      let key = try #require(isLeaf ? changed.first : changed.min { after[$0]!.count > after[$1]!.count })
      try memory.write { transaction in
        var value = try #require(try transaction.value(for: key))
        value[value.count - 1] ^= 1
        try transaction.put(value, for: key)
        return .commit(())
      }
    }
    return memory
  }

  private func contents(_ memory: MemoryStorage) throws -> [StorageKey: [UInt8]] {
    try memory.read { transaction in
      var contents: [StorageKey: [UInt8]] = [:]
      try transaction.scan(.all, .forward) { key, value in
        contents[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
      return contents
    }
  }

  /// Also in pages, of which each is as long as was asked for, and where none of them is known.
  @Test(arguments: [false, true], [1, 3, 7, 19, 20, 100])
  func theOthersAreListed(hidesIdentifiers: Bool, limit: Int) throws {
    let memory = try damaged(hidesIdentifiers: hidesIdentifiers)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    let name = try #require(try garage.storedTypeNames().first { $0.hasSuffix("Leaf") })
    var (found, damages): ([String], [GarageError]) = ([], [])
    var last: Identifier?
    while true {
      let page = try garage.identifiers(ofTypeNamed: name, after: last, limit: limit) { damages.append($0) }
      found += page.map(\.description)
      last = page.last
      if page.count < limit { break }
    }
    #expect(Set(found) == Set((0..<20).map { "\($0)" }.filter { $0 != "7" || !hidesIdentifiers }))
    #expect(found.count == Set(found).count)
    #expect(damages.count == (hidesIdentifiers ? 1 : 0), "\(damages)")
    let index = try garage.objectIndex(ofTypeNamed: name)
    damages = []
    let listed = try garage.identifiers(in: index, from: 0, limit: 20) { damages.append($0) }
    #expect(Set(listed.map(\.description)) == Set(found) && damages.count == (hidesIdentifiers ? 1 : 0))
  }

  /// Also where none is listed behind it.
  @Test func eachIsToldOfOnceAmongAll() throws {
    for id in 0..<4 {
      let memory = MemoryStorage()
      let garage = try Garage(
        SealedStorage(memory, sealer: InsecureTestSealer(key: 7)), hidesIdentifiers: true)
      try garage.parkAll((0..<4).map { Leaf(id: $0) })
      let before = try contents(memory)
      try garage.park(Leaf(id: id, text: "changed"))
      let key = try #require(contents(memory).first { before[$0.key] != $0.value }?.key)
      try memory.write { transaction in
        var value = try #require(try transaction.value(for: key))
        value[value.count - 1] ^= 1
        try transaction.put(value, for: key)
        return .commit(())
      }
      let name = try #require(try garage.storedTypeNames().first)
      var (found, damages): ([String], [GarageError]) = ([], [])
      try garage.forEachIdentifier(ofTypeNamed: name, onDamage: { damages.append($0) }) {
        found.append("\($0)")
        return true
      }
      #expect(Set(found) == Set((0..<4).map { "\($0)" }).subtracting(["\(id)"]), "\(id)")
      #expect(found.count == 3 && damages.count == 1, "\(id): \(damages)")
      found = []
      try garage.forEachIdentifier(ofTypeNamed: name, onDamage: { _ in }) {
        found.append("\($0)")
        return found.count < 2
      }
      #expect(found.count == 2)
    }
  }

  @Test(arguments: [false, true])
  func theOthersAreRead(hidesIdentifiers: Bool) throws {
    let memory = try damaged(hidesIdentifiers: hidesIdentifiers)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    var errors: [UnreadableObject] = []
    let leaves = try garage.retrieveAll(Leaf.self) { errors.append($0) }
    #expect(Set(leaves.map(\.id)) == Set(0..<20).subtracting([7]))
    #expect(errors.map(\.type) == ["Leaf"])
    if !hidesIdentifiers { #expect(errors.map(\.identifier) == ["7"]) }
    #expect(errors.allSatisfy { "\($0)".contains("seal does not open") })
    #expect(throws: GarageError.self) { try garage.retrieveAll(Leaf.self) }

    // A branch that does not open, and one whose leaf does not: the one that holds it is named.
    errors = []
    var branches: [Int] = []
    try garage.forEach(Branch.self, onError: { errors.append($0) }) { branches.append($0.id) }
    #expect(Set(branches) == Set(0..<20).subtracting([3, 7]))
    #expect(errors.map(\.type) == ["Branch", "Branch"])
  }

  /// At the end of a chain that is planned before it is decoded.
  @Test func theOthersAreReadWhereAChainEndsThere() throws {
    for length in [3, 15, 16, 17, 18, 40, 300] {
      let memory = MemoryStorage()
      let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
      try garage.park(Ring(id: 0))
      try garage.park(Ring(id: length))
      let before = try contents(memory)
      var ring = Ring(id: length, text: "changed")
      try garage.park(ring)
      let key = try #require(contents(memory).first { before[$0.key] != $0.value }?.key)
      for id in (1..<length).reversed() { ring = Ring(id: id, next: ring) }
      try garage.park(ring)
      try memory.write { transaction in
        var value = try #require(try transaction.value(for: key))
        value[value.count - 1] ^= 1
        try transaction.put(value, for: key)
        return .commit(())
      }
      let again = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
      var errors: [UnreadableObject] = []
      #expect(try again.retrieveAll(Ring.self) { errors.append($0) }.map(\.id) == [0], "\(length)")
      #expect(errors.count == length, "\(length)")
      for id in 1...length {
        #expect(throws: GarageError.self, "\(id) of \(length)") {
          try again.retrieve(Ring.self, identifier: id)
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func aWriterDeletesWhatDoesNotOpen(hidesIdentifiers: Bool) throws {
    let memory = try damaged(hidesIdentifiers: hidesIdentifiers)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    try garage.write { writer in
      var count = 0
      try writer.forEach(Leaf.self, onError: { _ in count += 1 }) { _ in }
      #expect(count == 1)
      try writer.delete(Leaf.self, identifier: 7)
      try writer.delete(Branch.self, identifier: 3)
      try writer.delete(Branch.self, identifier: 7)
    }
    #expect(try Set(garage.retrieveAll(Leaf.self).map(\.id)) == Set(0..<20).subtracting([7]))
    #expect(try Set(garage.retrieveAll(Branch.self).map(\.id)) == Set(0..<20).subtracting([3, 7]))
  }

  /// Also where the entries in indexes do not open either, as with a key that is lost.
  @Test(arguments: [false, true], [false, true])
  func whatDoesNotOpenGoesWithItsEntries(isReplaced: Bool, autosaves: Bool) throws {
    let memory = MemoryStorage()
    func open() throws -> Garage {
      try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)), referrers: .hashed)
    }
    func twig(_ id: Int, _ text: String, _ leaf: Int) -> Twig {
      Twig(id: id, text: text, leaf: Reference(Leaf.self, identifier: leaf))
    }
    let before = try open()
    try before.parkAll((0..<20).map { twig($0, "twig", 1) })
    try before.park(twig(0, "changed", 2))
    try before.buildIndexes()
    for id in [3, 7] {
      let known = try contents(memory)
      try before.park(twig(id, "changed", 2))
      for (key, value) in try contents(memory) where known[key] != value {
        try memory.write { transaction in
          var value = value
          value[value.count - 1] ^= 1
          try transaction.put(value, for: key)
          return .commit(())
        }
      }
    }
    let garage = try open()
    #expect(throws: GarageError.self) { try garage.retrieve(Twig.self, identifier: 3) }
    garage.isAutosaveEnabled = autosaves
    for id in [3, 7] {
      if isReplaced {
        try garage.park(twig(id, "new", 1))
      } else {
        try garage.delete(Twig.self, identifier: id)
      }
    }
    try garage.save()
    #expect(try garage.count(Twig.self) == (isReplaced ? 20 : 18))
    #expect(try garage.query(Twig.self).where(\.text == "changed").values(\.id) == [0])
    #expect(try garage.query(Twig.self).where(\.text == "new").count() == (isReplaced ? 2 : 0))
    #expect(try garage.referrers(of: Leaf.self, identifier: 2).count == 1)
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
  }

  /// Those that cannot be named do not keep the others from being listed, and go with them.
  @Test(arguments: [false, true])
  func garbageIsListedWithoutThem(hidesIdentifiers: Bool) throws {
    let memory = try damaged(hidesIdentifiers: hidesIdentifiers)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    #expect(try garage.unreachable(from: []).count == (hidesIdentifiers ? 38 : 40))
    #expect(try garage.collectGarbage(roots: []) == 40)
    #expect(try garage.unreachable(from: []).isEmpty)
  }

  @Test(arguments: [false, true])
  func migrationReportsThem(hidesIdentifiers: Bool) throws {
    let memory = try damaged(hidesIdentifiers: hidesIdentifiers)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    let leaves = try garage.migrateAll(Leaf.self)
    #expect(leaves.failed.count == 1)
    #expect(leaves.unchanged == 19)
    let branches = try garage.migrateAll(Branch.self)
    #expect(branches.failed.count == 2)
    #expect(branches.unchanged == 18)
  }

  /// `deleteAll` asks for no value.
  @Test(arguments: [false, true])
  func allCanBeDeleted(autosaves: Bool) throws {
    let memory = try damaged(hidesIdentifiers: false)
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    garage.isAutosaveEnabled = autosaves
    try garage.deleteAll(Leaf.self)
    try garage.deleteAllObjects()
    try garage.save()
    #expect(try garage.count(Leaf.self) == 0)
    #expect(try garage.count(Branch.self) == 0)
  }
}

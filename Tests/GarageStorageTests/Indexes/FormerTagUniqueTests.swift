import GarageDriver
import Testing

@testable import GarageStorage

/// Unique values of objects that are stored under former tags as well: these sort before and behind the present one.
@Suite struct FormerTagUniqueTests {
  /// The ways in which objects move to the present tag.
  enum Way: CaseIterable {
    case parkAll, updateAll, saved, savedOneByOne

    fileprivate func apply(_ houses: [MovedHouse], to garage: Garage) throws {
      switch self {
      case .parkAll: try garage.parkAll(houses)
      case .updateAll:
        let changed = Dictionary(uniqueKeysWithValues: houses.map { ($0.id, $0) })
        let query = garage.query(MovedHouse.self).where(\.id == .oneOf(Array(changed.keys)))
        _ = try query.updateAll { house in if let new = changed[house.id] { house = new } }
      case .saved, .savedOneByOne:
        garage.isAutosaveEnabled = false
        defer { garage.isAutosaveEnabled = true }
        do {
          if self == .saved {
            try garage.parkAll(houses)
          } else {
            for house in houses { try garage.park(house) }
          }
          try garage.save()
        } catch {
          garage.discardUnsavedChanges()
          throw error
        }
      }
    }
  }

  private func isTaken(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch GarageError.notUnique {
      return true
    } catch {
      Issue.record(error)
      return false
    }
  }

  /// The tests are of both orders.
  @Test func tagsSortBeforeAndBehindThePresentOne() throws {
    let tags = try RecordTypeFacts.of(MovedHouse.self).tags
    #expect(tags.dropFirst().count { $0 < tags[0] } == 2)
    #expect(tags.dropFirst().count { $0 > tags[0] } == 2)
  }

  /// An object that keeps its value is none that has it besides.
  @Test(arguments: Backend.allCases, Way.allCases)
  func objectsThatMoveKeepTheirValues(_ backend: Backend, way: Way) throws {
    for isHashed in [false, true] {
      let garage = try Place(backend).garage()
      try garage.make([MovedHouse.index(isHashed: isHashed)])
      var expected: [String] = []
      for tag in 0..<formerHouseTypes.count {
        // Whichever of the two has the lesser value.
        for (turn, letters) in [("a", "z"), ("z", "a")].enumerated() {
          let id = 100 + 10 * tag + 2 * turn
          let (kept, given, new) = ("\(id) \(letters.0)", "\(id) \(letters.1)", "\(id) m")
          try garage.park(any: formerHouse(id, kept, tag))
          try garage.park(MovedHouse(id: id + 1, name: given))
          let houses = [MovedHouse(id: id, name: kept, rooms: 2), MovedHouse(id: id + 1, name: new)]
          do { try way.apply(houses, to: garage) } catch {
            Issue.record(error, "tag \(tag), turn \(turn), hashed \(isHashed)")
            return
          }
          expected += [kept, new]
          #expect(isTaken { try garage.park(MovedHouse(id: 1, name: kept)) })
          #expect(isTaken { try garage.park(any: formerHouse(1, new, tag)) })
          try garage.park(MovedHouse(id: 1, name: given))
          try garage.delete(MovedHouse.self, identifier: 1)
        }
      }
      #expect(try garage.query(MovedHouse.self).values(\.name) == expected)
      #expect(try garage.verifyIndexes().isSound)
    }
  }

  /// Two of one call are compared, whatever stands between them under other tags: the names begin with the same eight
  /// bytes.
  @Test(arguments: Backend.allCases, [false, true])
  func valuesAreComparedAcrossTags(_ backend: Backend, isHashed: Bool) throws {
    let garage = try Place(backend).garage()
    try garage.make([MovedHouse.index(isHashed: isHashed)])
    let (first, second) = ("by the river 1", "by the river 2")
    for tag in 0..<formerHouseTypes.count {
      let moved: [Any] = [
        MovedHouse(id: 1, name: first), MovedHouse(id: 2, name: second), formerHouse(3, first, tag),
      ]
      #expect(isTaken { try garage.parkAll(any: moved) }, "tag \(tag)")
      let former: [Any] = [
        formerHouse(1, first, tag), formerHouse(2, second, tag), MovedHouse(id: 3, name: first),
      ]
      #expect(isTaken { try garage.parkAll(any: former) }, "tag \(tag)")
    }
    #expect(try garage.query(MovedHouse.self).isEmpty())
  }

  /// Entries are sorted by their values first, whatever their tags, and so however many there are.
  @Test(arguments: [2, 40, 300, 3_000])
  func entriesAreSortedByValue(count: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(.memory).garage()
    try garage.make([Index(\MovedHouse.rooms), MovedHouse.index(isHashed: false)])
    let names = Population.names(count, &random)
    try garage.parkAll(any: names.indices.map { Population.house($0, names[$0], &random) })
    try garage.withReadAccess { access in
      let transaction = access.transaction
      let catalog = try #require(try garage.indexing.catalog(in: transaction))
      let batch = IndexBatch(catalog, garage.indexing.keys, garage.indexing.texts)
      try transaction.scan(KeyLayout.allRecords, .forward) { key, record in
        try batch.fill(key, record, Array(batch.parts.indices), in: transaction)
        return .continue
      }
      try transaction.scan(KeyLayout.allRecords, .forward) { key, record in
        try batch.note(key, old: record, new: nil, in: transaction)
        return .continue
      }
      #expect(!batch.isGatheredInOrder)
      try batch.sort()
      for part in batch.parts { expectSorted(part, count, batch, "\(part.item.name), seed \(seed)") }
    }
    // Gathered in the order of their keys.
    try garage.withReadAccess { access in
      let transaction = access.transaction
      let catalog = try #require(try garage.indexing.catalog(in: transaction))
      let batch = IndexBatch(catalog, garage.indexing.keys, garage.indexing.texts)
      try transaction.scan(KeyLayout.allRecords, .forward) { key, record in
        try batch.note(key, old: record, new: nil, in: transaction)
        return .continue
      }
      #expect(batch.isGatheredInOrder)
      try batch.sort()
      for part in batch.parts { expectSorted(part, count, batch, "\(part.item.name), seed \(seed)") }
    }
  }

  private func expectSorted(
    _ part: IndexBatch.Part, _ count: Int, _ batch: IndexBatch, _ hint: Comment
  ) {
    #expect(part.removed.count == count, hint)
    for entries in [part.added, part.removed] {
      let keys = entries.map { batch.withBytes($0.start, $0.keyCount) { StorageKey($0) } }
      let isSorted = zip(keys, keys.dropFirst()).allSatisfy { left, right in
        let values = left.bytes.dropFirst(part.prefixByteCount)
        let others = right.bytes.dropFirst(part.prefixByteCount)
        return values.lexicographicallyPrecedes(others) || values.elementsEqual(others) && left < right
      }
      #expect(isSorted, hint)
    }
  }

  // MARK: - Any moves

  private struct Population {
    var random: SeededGenerator
    var names: [Int: String] = [:]

    /// Names of which no two are alike, and many begin alike.
    static func names(_ count: Int, _ random: inout SeededGenerator) -> [String] {
      let beginnings = ["", "by the river ", String(repeating: "far ", count: 80)]
      let names = (0..<count).map { number in
        "\(beginnings[Int.random(in: 0..<beginnings.count, using: &random)])\(number)"
      }
      return names.shuffled(using: &random)
    }

    /// A house under the present tag, or a former one.
    static func house(_ id: Int, _ name: String, _ random: inout SeededGenerator) -> Any {
      let rooms = Int.random(in: 0..<3, using: &random)
      let tag = Int.random(in: 0...formerHouseTypes.count, using: &random)
      if tag == formerHouseTypes.count { return MovedHouse(id: id, name: name, rooms: rooms) }
      return formerHouse(id, name, tag, rooms: rooms)
    }

    /// Some of the houses with names that were exchanged among them, and now and then one that another has.
    mutating func moves(_ share: Double) -> [MovedHouse] {
      let ids = names.keys.sorted().filter { _ in Double.random(in: 0..<1, using: &random) < share }
      var given = ids.compactMap { names[$0] }
      for place in given.indices where Int.random(in: 0..<3, using: &random) == 0 {
        given.swapAt(place, Int.random(in: 0..<given.count, using: &random))
      }
      let taken = names.values.sorted().randomElement(using: &random)
      if let taken, !given.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
        given[Int.random(in: 0..<given.count, using: &random)] = taken
      }
      return zip(ids, given).map { id, name in
        MovedHouse(id: id, name: name, rooms: Int.random(in: 0..<3, using: &random))
      }
    }
  }

  /// Taken is what a model takes, and nothing else: of few, and of so many that they are sorted in another way.
  @Test(arguments: Backend.engines, [5, 60, 700])
  func anyMoves(_ backend: Backend, count: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var population = Population(random: SeededGenerator(seed: seed))
    let rounds = (runsLongTests ? 60 : 12) / (count > 100 ? 4 : 1)
    let garage = try Place(backend).garage()
    try garage.make([MovedHouse.index(isHashed: Bool.random(using: &population.random))])
    for round in 0..<rounds {
      let hint: Comment = "round \(round), seed \(seed)"
      // New ones come under any tag, as those of a program's former release do.
      let first = population.names.count
      let new = Population.names(count / (round == 0 ? 1 : 5), &population.random).map { "\(round) \($0)" }
      for place in new.indices { population.names[first + place] = new[place] }
      try garage.parkAll(
        any: new.indices.map { Population.house(first + $0, new[$0], &population.random) })
      let moves = population.moves([1, 0.5, 0.1][round % 3])
      if moves.isEmpty { continue }
      var after = population.names
      for house in moves { after[house.id] = house.name }
      let isFree = Set(after.values).count == after.count
      let way = [Way.parkAll, .updateAll, .saved][Int.random(in: 0..<3, using: &population.random)]
      let wasFree = !isTaken { try way.apply(moves, to: garage) }
      #expect(wasFree == isFree, hint)
      if wasFree != isFree { return }
      if isFree { population.names = after }
    }
    let all = try garage.query(MovedHouse.self).retrieveAll().sorted { $0.id < $1.id }
    #expect(all.map(\.id) == population.names.keys.sorted(), "seed \(seed)")
    #expect(all.map(\.name) == all.compactMap { population.names[$0.id] }, "seed \(seed)")
    #expect(try garage.verifyIndexes().isSound, "seed \(seed)")
  }
}

// MARK: - Models

private struct MovedHouse: Codable, Identifiable, TypeTagged {
  var id: Int
  var name: String
  var rooms = 1
  static var typeTag: String { "moved house" }
  static var formerTypeTags: [String] { formerHouseTypes.map { $0.tag } }

  static func index(isHashed: Bool) -> Index<MovedHouse> {
    isHashed ? Index(\MovedHouse.name, .unique, .hashed) : Index(\MovedHouse.name, .unique, .readable)
  }
}

private protocol HouseTag: Sendable { static var tag: String { get } }
private enum HouseTag1: HouseTag { static var tag: String { "house 1" } }
private enum HouseTag2: HouseTag { static var tag: String { "house 2" } }
private enum HouseTag4: HouseTag { static var tag: String { "house 4" } }
private enum HouseTag6: HouseTag { static var tag: String { "house 6" } }

private let formerHouseTypes: [any HouseTag.Type] = [
  HouseTag1.self, HouseTag2.self, HouseTag4.self, HouseTag6.self,
]

/// The same house in a former release.
private struct FormerHouse<Name: HouseTag>: Codable, Identifiable, TypeTagged {
  var id: Int
  var name: String
  var rooms: Int
  static var typeTag: String { Name.tag }
}

private func formerHouse(_ id: Int, _ name: String, _ tag: Int, rooms: Int = 1) -> Any {
  func make<Name: HouseTag>(_ type: Name.Type) -> Any {
    FormerHouse<Name>(id: id, name: name, rooms: rooms)
  }
  return make(formerHouseTypes[tag])
}

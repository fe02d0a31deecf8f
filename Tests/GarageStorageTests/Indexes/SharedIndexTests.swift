import Foundation
import GarageDriver
import Synchronization
import Testing

@testable import GarageStorage

/// Conditions of which several parts have an index of their own.
@Suite struct SharedIndexTests {
  private static let all = (0..<300).map { Tile(id: $0) }

  private static let indexes: [Index<Tile>] = [
    Index(\.row, .readable), Index(\.column, .readable), Index(each: \.marks, .readable),
    Index(\.shade, .hashed),
  ]

  private static var questions: [Question<Tile>] {
    [
      Question(condition: \.row == 1 && \.column == 2) { $0.row == 1 && $0.column == 2 },
      Question(condition: \.row >= 1 && \.column < 2 && \.name == .hasPrefix("1")) {
        $0.row >= 1 && $0.column < 2 && $0.name.hasPrefix("1")
      },
      Question(condition: \.marks == .contains(1) && \.marks == .contains(4)) {
        $0.marks.contains(1) && $0.marks.contains(4)
      },
      Question(condition: \.marks == .contains(2) && \.row != 0 && \.column == 1) {
        $0.marks.contains(2) && $0.row != 0 && $0.column == 1
      },
      Question(condition: \.shade == nil && \.column == 3) { $0.shade == nil && $0.column == 3 },
      Question(condition: \.shade == "dark" && \.row == 2 && \.marks == .contains(0)) {
        $0.shade == "dark" && $0.row == 2 && $0.marks.contains(0)
      },
      Question(condition: (\.row == 1 && \.shade == "dark") || (\.column == 1 && \.row == 2)) {
        $0.row == 1 && $0.shade == "dark" || $0.column == 1 && $0.row == 2
      },
      Question(condition: \.row == 1 && \.row == 2 && \.column == 1) { _ in false },
    ]
  }

  /// With any of the indexes the answer is that of a filter.
  @Test(arguments: runsLongTests ? Backend.allCases : Backend.engines)
  func anyIndexesLeadToTheSame(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    var all = SharedIndexTests.all
    try garage.parkAll(all)
    // From one set of indexes to the next by one that comes or goes.
    for number in 0..<16 {
      if number > 0 {
        let changed = number.trailingZeroBitCount
        let name = ["row", "column", "marks", "shade"][changed]
        if try garage.indexes(of: Tile.self).contains(where: { $0.name == name }) {
          try garage.dropIndex(name, of: Tile.self)
        } else {
          try garage.make([SharedIndexTests.indexes[changed]])
        }
      }
      try ask(garage, all)
    }
    try garage.make(SharedIndexTests.indexes)
    for place in stride(from: 0, to: 300, by: 3) { all[place].column = (all[place].column + 1) % 4 }
    garage.isAutosaveEnabled = false
    try garage.parkAll(all)
    try ask(garage, all)
    try garage.save()
    try ask(garage, all)
    try garage.write { try ask($0, all) }
    #expect(try garage.verifyIndexes().isSound)
  }

  private func ask(_ reader: some GarageReading, _ all: [Tile]) throws {
    for question in SharedIndexTests.questions {
      let query = reader.query(Tile.self).where(question.condition)
      let expected = all.filter(question.holds).map(\.id)
      let found = try query.values(\.id)
      let plan = try query.explain()
      #expect(found == expected, "\(question.condition): \(plan)")
      #expect(try query.count() == expected.count, "\(question.condition)")
      #expect(try query.limit(2).values(\.id) == Array(expected.prefix(2)), "\(question.condition)")
      let last = try query.sorted(by: \.name, .descending).limit(1).values(\.id)
      #expect(last == all.filter(question.holds).max { $0.name < $1.name }.map { [$0.id] } ?? [])
    }
  }

  /// Fewer records are read than by one of the indexes, whichever it is.
  @Test(arguments: Backend.allCases)
  func fewerRecordsAreRead(_ backend: Backend) throws {
    func getCount(_ indexes: [Index<Tile>], _ expected: [String]) throws -> Int {
      let storage = CountingStorage(try Place(backend).open())
      let garage = try Garage(storage)
      try garage.parkAll((0..<1000).map { Tile(id: $0) })
      try garage.make(indexes)
      let query = garage.query(Tile.self).where(\.number == 7 && \.side == 7)
      #expect(try query.values(\.id) == [7, 137, 267, 397, 527, 657, 787, 917])
      #expect(try query.explain().indexes == expected)
      let before = storage.gets.load(ordering: .relaxed)
      #expect(try query.values(\.id).count == 8)
      return storage.gets.load(ordering: .relaxed) - before
    }
    let number = Index<Tile>(\.number, .readable)
    let side = Index<Tile>(\.side, .readable)
    let byNumber = try getCount([number], ["number"])
    let bySide = try getCount([side], ["side"])
    let byBoth = try getCount([number, side], ["number", "side"])
    // 1000 / 10 have the number, 1000 / 13 are of the side.
    #expect(byNumber >= 100 && bySide >= 76)
    #expect(byBoth <= bySide - 60, "\(byBoth), \(bySide), \(byNumber)")
  }

  /// What satisfies one of two conditions that have an index each is told by the entries, and counted once where it satisfies both.
  @Test func eitherIsToldByEntries() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    let all = (0..<1000).map { Tile(id: $0) }
    try garage.parkAll(all)
    try garage.make([Index<Tile>(\.number), Index<Tile>(\.side)])
    let query = garage.query(Tile.self).where(\.number == 7 || \.side == 7)
    let expected = all.filter { $0.number == 7 || $0.side == 7 }
    func expectFewGets(_ body: () throws -> Void) throws {
      let before = storage.gets.load(ordering: .relaxed)
      try body()
      let gets = storage.gets.load(ordering: .relaxed) - before
      #expect(gets < 10)
    }
    #expect(try query.explain().indexes == ["number", "side"])
    try expectFewGets {
      let count = try query.count()
      #expect(count == expected.count)
    }
    try expectFewGets {
      let identifiers = try query.identifiers().map(\.description)
      #expect(identifiers == expected.map { "\($0.id)" })
    }
    #expect(try query.values(\.id) == expected.map(\.id))
    #expect(try query.where(\.isOdd == true).values(\.id) == expected.filter(\.isOdd).map(\.id))
    #expect(try query.where(\.isOdd == true).count() == expected.count { $0.isOdd })
  }

  /// A list that is much longer than the other is not read to its end: the shorter one leads, whatever is expected of them.
  @Test func theShorterListLeads() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    try garage.parkAll((0..<2000).map { Tile(id: $0) })
    // One value promises less than a range does, and is more.
    try garage.make([Index<Tile>(\.isOdd), Index<Tile>(\.id)])
    let query = garage.query(Tile.self).where(\.isOdd == true && \.id == 100..<200)
    #expect(try query.explain().indexes == ["isOdd", "id"])
    let before = storage.gets.load(ordering: .relaxed)
    #expect(try query.values(\.id) == Array(stride(from: 101, to: 200, by: 2)))
    #expect(storage.gets.load(ordering: .relaxed) - before < 120)
    let text = try query.explain().description
    #expect(
      text.hasPrefix(
        """
        reads one value of the index "isOdd", and the records that these lead to
        reads a range of the index "id" beside it: the shorter one leads
        """), "\(text)")
  }
}

private struct Tile: Codable, Identifiable {
  var id: Int
  var row: Int
  var column: Int
  var marks: [Int]
  var shade: String?
  var name: String
  var number: Int
  var side: Int
  var isOdd: Bool

  init(id: Int) {
    self.id = id
    (row, column) = (id % 3, id % 4)
    marks = [id % 2, id % 5]
    shade = [nil, "dark", "light"][id / 7 % 3]
    name = "\(id)"
    (number, side, isOdd) = (id % 10, id % 13, id % 2 == 1)
  }
}

import Foundation
import Testing

@testable import GarageStorage

/// Short lists in the order of an index, which take a shorter way than all other queries: they find the same.
@Suite struct FirstInOrderTests {
  private struct Stop: Error {}

  private struct Athlete: Codable, Identifiable, Equatable, Indexed {
    var id: Int
    /// Few different ones, and nil.
    var team: Int?
    /// Different ones.
    var number: Int
    var nick: String
    /// Many that begin alike, and are too long for an entry.
    var name: String
    var time: Double
    var born: Date?
    var token: UUID
    /// Without an index.
    var shoe: Int

    static var indexes: [Index<Athlete>] {
      [
        Index(\.team, .readable), Index(\.number, .readable), Index(\.nick, .readable),
        Index(\.name, .readable),
        Index(\.time, .readable), Index(\.born, .readable), Index(\.token, .readable),
        Index(\.team, \.number, .readable), Index("any", \.nick, .caseInsensitive, .readable),
      ]
    }

    init(_ id: Int, _ random: inout SeededGenerator) {
      func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      self.id = id
      team = pick([nil, 1, 2, -3])
      number = Int.random(in: -1_000_000...1_000_000, using: &random)
      nick = pick(["", "a", "A", "b\0", "caf\u{E9}", "cafe\u{301}", "z"])
      name =
        pick(["", "a", String(repeating: "long ", count: 60)]) + "\(Int.random(in: 0..<9, using: &random))"
      time = pick([.nan, -0.0, 0, 1, -.infinity, .infinity, Double.random(in: -9...9, using: &random)])
      born =
        Bool.random(using: &random)
        ? nil : Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9...9, using: &random)))
      token = UUID(
        uuid: (
          UInt8.random(in: 0..<3, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          UInt8.random(in: 0..<3, using: &random)
        ))
      shoe = Int.random(in: 36...46, using: &random)
    }
  }

  /// All orders that are asked for.
  private func orders(_ query: Query<Athlete>) -> [Query<Athlete>] {
    SortDirection.allCases.flatMap { direction in
      [
        query.sorted(by: \.team, direction), query.sorted(by: \.number, direction),
        query.sorted(by: \.nick, direction), query.sorted(by: \.name, direction),
        query.sorted(by: \.time, direction), query.sorted(by: \.born, direction),
        query.sorted(by: \.token, direction), query.sorted(by: \.shoe, direction),
        query.sorted(by: \.id, direction),
        query.sorted(by: \.team, direction).sorted(by: \.number, direction),
      ]
    }
  }

  /// Compares what is found the shorter way with what the longer ones find.
  private func ask(_ reader: some GarageReading, _ hint: Comment) throws {
    for query in orders(reader.query(Athlete.self)) {
      let all = try query.values(\.id)
      for limit in [0, 1, 7, 20, 64, 65] {
        let found = try query.limit(limit).retrieveAll().map(\.id)
        #expect(found == Array(all.prefix(limit)), "\(query), \(limit), \(hint)")
      }
      #expect(try query.first()?.id == all.first, "\(query), \(hint)")
      let limited = try query.limit(30).values(\.id)
      #expect(limited == Array(all.prefix(30)), "\(query), \(hint)")
    }
  }

  /// Whether a query takes the shorter way; what it finds there is what it finds anyway.
  private func isShort<T: Codable & Identifiable & Equatable>(_ query: Query<T>) throws -> Bool {
    var (found, isShort) = ([T](), false)
    try query.withAccess { access in
      isShort = try query.visitInOrder(access) { found.append($0) }
    }
    let all = try query.retrieveAll()
    #expect(found == (isShort ? all : []), "\(query)")
    return isShort
  }

  private func athletes(_ count: Int, _ random: inout SeededGenerator) -> [Athlete] {
    (0..<count).map { Athlete($0, &random) }
  }

  /// More of them than fit into a list, and fewer, with all changes that records may meet.
  @Test(arguments: Backend.engines, [3, 65, 150])
  func findsTheSame(_ backend: Backend, count: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Garage(Place(backend).open(), hidesIdentifiers: backend.isSealed)
    try ask(garage, "none, seed \(seed)")
    try garage.parkAll(athletes(count, &random).shuffled(using: &random))
    try ask(garage, "parked, seed \(seed)")
    try garage.parkAll((0..<count / 3).map { Athlete(3 * $0, &random) })
    for id in stride(from: 0, to: count, by: 5) { try garage.delete(Athlete.self, identifier: id) }
    try ask(garage, "changed, seed \(seed)")
    #expect(try garage.verifyIndexes().isSound)
  }

  /// A writer sees its own changes, and what it rolls back was never there.
  @Test(arguments: Backend.engines)
  func ownChanges(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    try garage.parkAll(athletes(70, &random))
    try ask(garage, "parked, seed \(seed)")
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.parkAll((0..<90).map { Athlete(2 * $0, &random) })
        try writer.delete(Athlete.self, identifier: 3)
        try ask(writer, "written, seed \(seed)")
        throw Stop()
      }
    }
    try ask(garage, "rolled back, seed \(seed)")
    try garage.write { writer in
      try writer.parkAll((0..<20).map { Athlete(4 * $0, &random) })
      try ask(writer, "written, seed \(seed)")
    }
    try ask(garage, "committed, seed \(seed)")
    try garage.read { try ask($0, "read, seed \(seed)") }
  }

  /// Unsaved changes are in no index of the storage.
  @Test(arguments: Backend.engines)
  func unsavedChanges(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    try garage.parkAll(athletes(70, &random))
    try ask(garage, "parked, seed \(seed)")
    garage.isAutosaveEnabled = false
    try garage.parkAll((0..<30).map { Athlete(3 * $0, &random) })
    try garage.delete(Athlete.self, identifier: 4)
    try ask(garage, "unsaved, seed \(seed)")
    try garage.write { try ask($0, "unsaved, in a write, seed \(seed)") }
    garage.discardUnsavedChanges()
    try ask(garage, "discarded, seed \(seed)")
    try garage.park(Athlete(5, &random))
    try garage.save()
    try ask(garage, "saved, seed \(seed)")
  }

  /// The pages of a query begin where its short list ends.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func pagesGoOn(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    try garage.parkAll(athletes(100, &random))
    for query in orders(garage.query(Athlete.self)) {
      let first = try query.limit(20).retrieveAll()
      let page = try query.page(size: 20)
      #expect(page.objects.map(\.id) == first.map(\.id), "\(query), seed \(seed)")
      let next = try query.page(after: page.next, size: 20)
      let longer = try query.limit(40).retrieveAll()
      #expect((page.objects + next.objects).map(\.id) == longer.map(\.id), "\(query), seed \(seed)")
    }
  }

  /// The way is taken where it is one, and left in time where it is none.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb, .sealedSQLite])
  func takesTheShorterWay(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Ball.self, Football.self])
    try garage.parkAll((0..<100).map { Stick($0, $0 % 9, text: "\($0 % 7)") })
    let query = garage.query(Stick.self)
    for direction in SortDirection.allCases {
      let byLength = query.sorted(by: \.length, direction)
      let byText = query.sorted(by: \.text, direction)
      // Asked twice: the way is found first, and known then.
      for _ in 0..<2 {
        for limit in [1, 20, 64] {
          #expect(try isShort(byLength.limit(limit)))
          #expect(try isShort(byText.limit(limit)))
        }
        for limit in [0, 65, 100] { #expect(try !isShort(byLength.limit(limit))) }
        #expect(try !isShort(byLength))
        #expect(try !isShort(query.where(\.length > 3).sorted(by: \.length, direction).limit(9)))
        #expect(try !isShort(byLength.sorted(by: \.text, direction).limit(9)))
        #expect(try !isShort(query.sorted(by: \.width, direction).limit(9)))
        #expect(try !isShort(query.limit(9)))
      }
    }
    try garage.write { writer in
      #expect(try isShort(writer.query(Stick.self).sorted(by: \.length).limit(9)))
      try writer.park(Stick(101, -1, text: ""))
      #expect(try isShort(writer.query(Stick.self).sorted(by: \.length).limit(9)))
    }
    // Those that begin alike are cut, and stand in no order.
    let long = String(repeating: "z", count: 300)
    try garage.parkAll((200..<210).map { Stick($0, $0, text: long + "\($0 % 3)") })
    #expect(try isShort(query.sorted(by: \.text).limit(20)))
    #expect(try !isShort(query.sorted(by: \.text, .descending).limit(20)))
    garage.isAutosaveEnabled = false
    try garage.park(Stick(1, 4, text: "4"))
    #expect(try !isShort(query.sorted(by: \.length).limit(20)))
    try garage.save()
    garage.isAutosaveEnabled = true
    #expect(try isShort(query.sorted(by: \.length).limit(20)))
    // Classes stand beside their subclasses.
    try garage.parkAll((0..<9).map { Ball($0, size: 9 - $0) })
    try garage.parkAll((9..<19).map { Football($0, size: $0) })
    for direction in SortDirection.allCases {
      let sizes = [Int](direction == .ascending ? 1...7 : 12...18)
      let found = try garage.query(Ball.self).sorted(by: \.size, direction).limit(7).retrieveAll().map(\.size)
      #expect(found == (direction == .ascending ? sizes : sizes.reversed()))
      let footballs = try garage.query(Football.self).sorted(by: \.size, direction).limit(2).retrieveAll()
      #expect(footballs.map(\.size) == (direction == .ascending ? [9, 10] : [18, 17]))
    }
  }

  /// An index answers from when it is whole until it is dropped, whoever does it.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func indexesComeAndGo(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    func ask(index: Bool, _ hint: Comment) throws {
      for garage in [a, b] {
        let all = try garage.retrieveAll(Counter.self)
        for direction in SortDirection.allCases {
          let query = garage.query(Counter.self).sorted(by: \.value, direction).limit(5)
          let sorted = all.sorted { left, right in
            if left.value == right.value { return left.id < right.id }
            return (left.value < right.value) == (direction == .ascending)
          }
          #expect(try query.retrieveAll() == Array(sorted.prefix(5)), hint)
          #expect(try query.explain().indexes == (index ? ["value"] : []), hint)
        }
      }
    }
    try a.parkAll((0..<20).map { Counter(id: $0, value: $0 * 7 % 10) })
    try ask(index: false, "none")
    // Whoever writes maintains it from now on, and has not gone through what was there before.
    try a.indexing.declare([Index(\Counter.value)])
    try a.park(Counter(id: 30, value: 5))
    try ask(index: false, "building")
    try b.park(Counter(id: 31, value: 4))
    try ask(index: false, "still building")
    try a.buildIndexes()
    try ask(index: true, "built")
    try b.park(Counter(id: 32, value: -1))
    try b.delete(Counter.self, identifier: 10)
    try ask(index: true, "changed")
    try b.dropIndex("value", of: Counter.self)
    try b.park(Counter(id: 33, value: -2))
    try ask(index: false, "dropped")
    try a.buildIndexes()
    try ask(index: true, "built again")
  }
}

/// Structs and classes whose lists are short.
private struct Stick: Codable, Identifiable, Equatable, Indexed {
  var id: Int
  var length: Int
  var width: Int
  var text: String

  init(_ id: Int, _ length: Int, text: String) {
    (self.id, self.length, width, self.text) = (id, length, -length, text)
  }

  static var indexes: [Index<Stick>] { [Index(\.length, .readable), Index(\.text, .readable)] }
}

private class Ball: Codable, Identifiable, Indexed {
  let id: Int
  let size: Int

  init(_ id: Int, size: Int) { (self.id, self.size) = (id, size) }

  typealias IndexedType = Ball
  static var indexes: [Index<Ball>] { [Index(\.size, .readable)] }
}

private final class Football: Ball {
  override init(_ id: Int, size: Int) { super.init(id, size: size) }
  required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}

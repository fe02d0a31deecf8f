import Foundation
import GarageDriver
import Synchronization
import Testing

@testable import GarageStorage

/// `isEmpty()` and `limit(n).count()` are what a filter says, and read no more than they need.
@Suite struct FewCountTests {
  private static let open = Backend.engines.filter { !$0.isSealed }
  private static let limits =
    runsLongTests ? [0, 1, 2, 3, 16, 17, 100, 399, 2500, 10_000, 10_001, .max] : [0, 1, 17, 100, .max]

  private func expect<T: Codable & SendableMetatype>(
    _ query: Query<T>, _ expected: Int, _ hint: String, limits: [Int] = FewCountTests.limits
  ) throws {
    for limit in limits {
      let count = try query.limit(limit).count()
      #expect(count == min(limit, expected), "\(hint), limit \(limit)")
    }
    let (count, isEmpty) = (try query.count(), try query.isEmpty())
    #expect(count == expected, "\(hint)")
    #expect(isEmpty == (expected == 0), "\(hint)")
    let noneIsWanted = try query.limit(0).isEmpty()
    #expect(noneIsWanted, "\(hint)")
  }

  // MARK: - By indexes of every form

  private typealias Asked = (name: String, condition: Condition<Fellow>, holds: (Fellow) -> Bool)

  private static let long = String(repeating: "Long", count: 80)

  private static func fellow(_ id: Int, _ other: Int) -> Fellow {
    let names = ["Doe", "doe", "Smith", "Stone", long + "1", long + "2", "Sam"]
    var fellow = Fellow(id: id, age: other % 20, lastName: names[other % names.count])
    fellow.email = other % 2 == 0 ? "\(id)@x" : nil
    fellow.firstName = "Jo\(other % 3)"
    (fellow.shelf, fellow.place) = (id % 10, id)
    fellow.tags = other % 2 == 0 ? ["a", "b", "a"] : other % 3 == 0 ? ["b"] : ["c\(other % 5)"]
    fellow.address.zip = "1000\(other % 7)"
    return fellow
  }

  // Long because every form of index has its lines.
  private var conditions: [Asked] {
    let (one, two) = (FewCountTests.long + "1", FewCountTests.long + "2")
    let inCapitals = one.uppercased()
    var all: [Asked] = []
    func add(_ name: String, _ condition: Condition<Fellow>, _ holds: @escaping (Fellow) -> Bool) {
      all.append((name, condition, holds))
    }
    add("ages", \.age > 0) { $0.age > 0 }
    add("an age", \.age == 3) { $0.age == 3 }
    add("no age", \.age == 100) { _ in false }
    add("not an age", \.age != 3) { $0.age != 3 }
    add("between ages", \.age > 5 && \.age < 9) { $0.age > 5 && $0.age < 9 }
    add("some ages", \.age == .oneOf([1, 2, 3, 19, 50])) { [1, 2, 3, 19].contains($0.age) }
    add("many ages", \.age == .oneOf(Array(2..<40))) { $0.age >= 2 }
    add("none of no ages", \.age == .oneOf([])) { _ in false }
    add("beginning", \.lastName == .hasPrefix("S")) { $0.lastName.hasPrefix("S") }
    add("no beginning", \.lastName == .hasPrefix("Zq")) { _ in false }
    add("beginning and more", \.lastName == .hasPrefix("S") && \.firstName == "Jo1") {
      $0.lastName.hasPrefix("S") && $0.firstName == "Jo1"
    }
    add("beginning of both", \.lastName == "Stone" && \.firstName == .hasPrefix("Jo")) {
      $0.lastName == "Stone"
    }
    add("long", \.lastName == two) { $0.lastName == two }
    add("long ones", \.lastName >= two) { $0.lastName >= two }
    add("long in any case", \.lastName == .caseInsensitive(inCapitals)) { $0.lastName == one }
    add("in any case", \.lastName == .caseInsensitive("DOE")) { $0.lastName.lowercased() == "doe" }
    add("tag", \.tags == .contains("a")) { $0.tags.contains("a") }
    add("no tag", \.tags == .contains("none")) { _ in false }
    add("one of two tags", \.tags == .contains("a") || \.tags == .contains("b")) {
      $0.tags.contains("a") || $0.tags.contains("b")
    }
    add("two tags", \.tags == .contains("a") && \.tags == .contains("b")) {
      $0.tags.contains("a") && $0.tags.contains("b")
    }
    add("tag and age", \.tags == .contains("b") && \.age == 4) { $0.tags.contains("b") && $0.age == 4 }
    add("email", \.email == "4@x") { $0.email == "4@x" }
    add("no email", \.email == nil) { $0.email == nil }
    add("any email", \.email != nil) { $0.email != nil }
    add("zip", \.address.zip == "10003" && \.age > 2) { $0.address.zip == "10003" && $0.age > 2 }
    add("several", \.age == 3 || \.tags == .contains("b") || \.lastName == "Smith") {
      $0.age == 3 || $0.tags.contains("b") || $0.lastName == "Smith"
    }
    add("two indexes", \.lastName == "Doe" && \.shelf == 3) { $0.lastName == "Doe" && $0.shelf == 3 }
    add("without an index", \.firstName == .hasSuffix("1") && \.age > 3) {
      $0.firstName.hasSuffix("1") && $0.age > 3
    }
    add("place", \.shelf == 3 && \.place == 13) { $0.shelf == 3 && $0.place == 13 }
    add("identifiers", \.id > 300) { $0.id > 300 }
    return all
  }

  private func expectAll(_ source: any GarageReading, _ all: [Fellow], _ hint: String) throws {
    let query = source.query(Fellow.self)
    let predicate = #Predicate<Fellow> { $0.firstName == "Jo2" }
    for (index, (name, condition, holds)) in conditions.enumerated() {
      let (hint, expected) = ("\(name), \(hint)", all.count(where: holds))
      try expect(query.where(condition), expected, hint)
      try expect(query.where(condition).sorted(by: \.age), expected, hint, limits: [2])
      // Only objects tell, and these take long.
      if index % 8 > 0 { continue }
      let both = query.where(condition).where(matching: predicate)
      try expect(both, all.count { holds($0) && $0.firstName == "Jo2" }, "object, \(hint)", limits: [1, 500])
    }
    try expect(query, all.count, "all, \(hint)")
  }

  private func changed(_ all: [Fellow], _ park: (Fellow) throws -> Void, _ delete: (Int) throws -> Void)
    throws
    -> [Fellow]
  {
    var all = all
    // Their earlier entries are elsewhere.
    for id in stride(from: 0, to: 200, by: 3) {
      all[id] = FewCountTests.fellow(id, id + 1)
      try park(all[id])
    }
    for id in 400..<420 {
      all.append(FewCountTests.fellow(id, id))
      try park(all[id])
    }
    for id in 220..<250 { try delete(id) }
    all.removeSubrange(220..<250)
    return all
  }

  @Test(arguments: open)
  func byIndexesOfEveryForm(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try expectAll(garage, [], "nobody")
    var all = (0..<400).map { FewCountTests.fellow($0, $0) }
    try garage.parkAll(all)
    try expectAll(garage, all, "saved")
    garage.isAutosaveEnabled = false
    all = try changed(all) {
      try garage.park($0)
    } _: {
      try garage.delete(Fellow.self, identifier: $0)
    }
    try expectAll(garage, all, "unsaved")
    try garage.save()
    try expectAll(garage, all, "saved later")
  }

  @Test(arguments: open)
  func insideAWrite(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<400).map { FewCountTests.fellow($0, $0) }
    try garage.parkAll(all)
    try garage.write { writer in
      let now = try changed(all) {
        try writer.park($0)
      } _: {
        try writer.delete(Fellow.self, identifier: $0)
      }
      try expectAll(writer, now, "in a write")
    }
  }

  @Test func withoutAnIndex() throws {
    let garage = try Place(.memory).garage()
    let all = (0..<400).map { FewCountTests.fellow($0, $0) }
    try garage.parkAll(all)
    for name in try garage.indexes(of: Fellow.self).map(\.name) {
      try garage.dropIndex(name, of: Fellow.self)
    }
    try expectAll(garage, all, "without an index")
  }

  // MARK: - Most of it in vain

  private struct Runner: Codable, Identifiable, Indexed {
    static var indexes: [Index<Runner>] {
      [Index(\.name, .readable), Index(\.rank, .readable), Index(each: \.clubs, .readable)]
    }
    var id: Int
    var name: String
    var rank: Int
    var speed: Int
    var clubs: [String]

    init(_ id: Int) {
      (self.id, rank, speed) = (id, id % 10, id % 3000)
      name = id % 3 == 0 ? "S\(id % 100)" : "T\(id)"
      clubs = ["c\(id % 3)", "d\(id % 2)"]
    }
  }

  /// More records than are asked one by one, before all are read in their order.
  @Test(arguments: Backend.engines)
  func whereFewOfManyMatch(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<7000).map { Runner($0) }
    try garage.parkAll(all)
    func check(_ source: any GarageReading, _ all: [Runner]) throws {
      let query = source.query(Runner.self)
      func ask(_ condition: Condition<Runner>, _ holds: (Runner) -> Bool) throws {
        let limits = runsLongTests ? [1, 2, 50, 5000] : [2]
        try expect(query.where(condition), all.count(where: holds), "\(condition)", limits: limits)
      }
      try ask(\.name == .hasPrefix("S") && \.speed == 2999) { $0.name.hasPrefix("S") && $0.speed == 2999 }
      try ask(\.name == .hasPrefix("T") && \.speed == 2999) { $0.name.hasPrefix("T") && $0.speed == 2999 }
      try ask(\.name == .hasPrefix("T") && \.speed == -1) { _ in false }
      try ask(\.rank > 0 && \.speed == 2999) { $0.rank > 0 && $0.speed == 2999 }
      try ask(\.rank > 0 && \.name == .hasPrefix("T69")) { $0.rank > 0 && $0.name.hasPrefix("T69") }
      let isInOneOfTwo: Condition<Runner> = \.clubs == .contains("c1") || \.clubs == .contains("d1")
      try ask(isInOneOfTwo) { $0.clubs.contains("c1") || $0.clubs.contains("d1") }
      try ask(isInOneOfTwo && \.speed == 2998) {
        ($0.clubs.contains("c1") || $0.clubs.contains("d1")) && $0.speed == 2998
      }
    }
    try check(garage, all)
    try garage.write { writer in
      var changed = all
      changed[5].speed = 2999
      try writer.park(changed[5])
      try check(writer, changed)
    }
  }

  // MARK: - Classes, and types of another name

  @Test(arguments: open)
  func ofClasses(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Cow.self, Hen.self])
    try garage.make([Index(\Critter.name)])
    for id in 0..<60 {
      let name = "n\(id % 4)"
      let critter: Critter =
        switch id % 3 {
        case 0: Critter(id, name)
        case 1: Cow(id, name)
        default: Hen(id, name, id)
        }
      try garage.park(any: critter)
    }
    let limits = [0, 1, 4, 5, 6, 19, 20, 21, 100]
    try expect(garage.query(Critter.self), 60, "all", limits: limits)
    try expect(garage.query(Cow.self), 20, "cows", limits: limits)
    try expect(garage.query(Critter.self).where(\.name == "n1"), 15, "n1", limits: limits)
    try expect(garage.query(Hen.self).where(\.name == "n1"), 5, "hens, n1", limits: limits)
    try expect(garage.query(Hen.self).where(\.name > "n1"), 10, "hens, behind n1", limits: limits)
    try expect(garage.query(Cow.self).where(\.name == .hasPrefix("n")), 20, "cows, n", limits: limits)
    let some: Condition<Cow> = \.name == .oneOf(["n1", "n2"]) || \.name == "n3"
    try expect(garage.query(Cow.self).where(some), 15, "some cows", limits: limits)
  }

  private struct Formerly: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "few count former" }
    var id: Int
    var name: String
  }
  private struct Lately: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "few count late" }
    static var formerTypeTags: [String] { ["few count former"] }
    var id: Int
    var name: String
  }
  /// Knows nothing of the former name.
  private struct Elsewhere: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "few count late" }
    var id: Int
    var name: String
  }

  /// An identifier that has a record of each counts once, and only as what it is now.
  @Test(arguments: open)
  func ofAFormerName(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<30).map { Formerly(id: $0, name: "a\($0 % 3)") })
    try garage.parkAll((30..<40).map { Lately(id: $0, name: "b") })
    try garage.make([Index(\Lately.name)])
    let query = garage.query(Lately.self)
    try expect(query, 40, "all")
    try expect(query.where(\.name == "a1"), 10, "a1")
    try expect(query.where(\.name == .hasPrefix("a")), 30, "a")
    try expect(query.where(\.name == "a1" || \.name >= "b"), 20, "a1 or b")
    try garage.parkAll((0..<6).map { Elsewhere(id: $0, name: $0 < 3 ? "b" : "a1") })
    try expect(query, 40, "all, some twice")
    // 1 left them, 3 and 5 came to them, and 4 is there twice.
    try expect(query.where(\.name == "a1"), 11, "a1, some twice")
    try expect(query.where(\.name == .hasPrefix("a")), 27, "a, some twice")
    try expect(query.where(\.name == "a1" || \.name >= "b"), 24, "a1 or b, some twice")
  }

  // MARK: - What is read

  /// The first entries tell: no others are read.
  @Test(arguments: open)
  func readsNoMoreThanIsWanted(_ backend: Backend) throws {
    let storage = VisitCountingStorage(try Place(backend).open())
    let garage = try Garage(storage)
    try garage.parkAll((0..<4000).map { Runner($0) })
    let query = garage.query(Runner.self)
    // Each is asked twice: what is read once for all is no part of it.
    func asked<R>(_ body: () throws -> R) throws -> (answer: R, visits: Int) {
      _ = try body()
      storage.visits.store(0, ordering: .relaxed)
      let answer = try body()
      return (answer, storage.visits.load(ordering: .relaxed))
    }
    func check(_ query: Query<Runner>) throws {
      let ofOne = try asked { try query.isEmpty() }
      #expect(!ofOne.answer && ofOne.visits < 200, "\(query)")
      let ofTen = try asked { try query.limit(10).count() }
      #expect(ofTen.answer == 10 && ofTen.visits < 400, "\(query)")
    }
    try check(query)
    try check(query.where(\.rank > 0))
    try check(query.where(\.rank == .oneOf([2, 3])))
    try check(query.where(\.name == .hasPrefix("S")))
    try check(query.where(\.name >= "S"))
    try check(query.where(\.clubs == .contains("d1")))
    try check(query.where(\.clubs == .contains("c1") || \.clubs == .contains("d1")))
    try check(query.where(\.rank > 0 && \.name == .hasPrefix("S")))
    try check(query.where(\.id >= 0))
  }
}

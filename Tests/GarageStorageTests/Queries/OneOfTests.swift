import Foundation
import Testing

@testable import GarageStorage

/// `.oneOf` looks for few values one after another, and for many by what they are: it finds what a filter finds.
@Suite struct OneOfTests {
  private enum State: String, Codable, CaseIterable {
    case new, open, sold, sent, paid, late, lost, found, kept, void, closed
  }
  private enum Rank: Int, Codable, CaseIterable { case low = -3, middle = 7, high = 70 }

  private struct Spot: Codable, Hashable { var x: Int, y: Int }
  private struct Placed: Codable, Identifiable {
    var id: Int
    var spot: Spot
  }

  /// Of thousands of values that stand in several fields, which are asked one by one.
  @Test func manyValuesOfSeveralFields() throws {
    let garage = try Place(.memory).garage()
    try garage.parkAll((0..<20).map { Placed(id: $0, spot: Spot(x: $0, y: -$0)) })
    let spots = [Spot(x: 3, y: -3), Spot(x: 4, y: 4)] + (0..<4_000).map { Spot(x: 100 + $0, y: $0) }
    let query = garage.query(Placed.self)
    #expect(try query.where(\.spot == .oneOf(spots)).values(\.id) == [3])
    #expect(try query.where(\.spot != .oneOf(spots)).count() == 19)
    #expect(try query.where(\.spot == .oneOf(spots)).explain().description.contains("spot"))
  }

  private struct Span: Codable, Hashable {
    var from: Date
    var name: String?
  }

  private enum Mark: Codable, Hashable {
    case none
    case at(Date)
    case between(from: Date, to: Date)
  }

  private struct Trip: Codable, Identifiable {
    var id: Int
    var span: Span
    var mark: Mark?
    var days: [Date]
  }

  private struct Event: Codable, Identifiable {
    var id: Int
    var day: Date
    var others: [Date]
  }

  /// They are named in values of other types as well.
  @Test func datesInsideOfValues() throws {
    let garage = try Place(.memory).garage()
    let never = Date(timeIntervalSinceReferenceDate: .nan)
    let text = "nan s since 2001-01-01T00:00:00Z"
    let query = garage.query(Trip.self)
    let conditions: [(condition: Condition<Trip>, words: String)] = [
      (\.span == Span(from: never, name: "a"), "\\.span == Span(from: \(text), name: \"a\")"),
      (\.span == Span(from: never, name: nil), "\\.span == Span(from: \(text), name: nil)"),
      (\.mark == Mark.at(never), "\\.mark == at(\(text))"),
      (\.mark == Mark.between(from: never, to: never), "\\.mark == between(from: \(text), to: \(text))"),
      (\.days == [never, never], "\\.days == [\(text), \(text)]"),
      (\.mark == Mark.none, "\\.mark == none"),
    ]
    for (condition, words) in conditions {
      #expect("\(condition)".contains(words), "\(condition)")
      #expect(try query.where(condition).explain().description.contains(words))
    }
  }

  /// Conditions are put into words only for those who ask: `Date.description` ends the process where the seconds are no number.
  @Test func datesOfAnyKind() throws {
    let garage = try Place(.memory).garage()
    let days = [0, 1e300, .infinity, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }
    try garage.parkAll((0..<4).map { Event(id: $0, day: days[$0], others: [days[$0]]) })
    let query = garage.query(Event.self)
    #expect(try query.where(\.day == .oneOf(days)).values(\.id) == [0, 1, 2])
    #expect(try query.where(\.others == .contains(days[3])).isEmpty())
    #expect(try query.where(\.others == .contains(days[1])).values(\.id) == [1])
    let conditions: [Condition<Event>] = [
      \.day == .oneOf(days), \.day == days[3], \.day < days[3], \.others == .contains(days[3]),
    ]
    for condition in conditions {
      #expect("\(condition)".contains("nan s since 2001-01-01T00:00:00Z"))
      #expect(try query.where(condition).explain().description.contains("nan s since 2001-01-01T00:00:00Z"))
    }
  }

  private struct Ware: Codable, Identifiable {
    var id: Int
    var number: Int
    var choice: Int?
    var small: UInt8
    var wide: UInt64
    var weight: Double
    var price: Decimal
    var name: String
    var title: String?
    var token: UUID
    var owner: UUID?
    var born: Date
    var seen: Date?
    var state: State
    var rank: Rank?

    init(_ id: Int, like other: Int) {
      self.id = id
      (number, choice) = (OneOfTests.number(other), OneOfTests.choice(other))
      (small, wide) = (OneOfTests.small(other), OneOfTests.wide(other))
      (weight, price) = (OneOfTests.weight(other), OneOfTests.price(other))
      (name, title) = (OneOfTests.name(other), OneOfTests.title(other))
      (token, owner) = (OneOfTests.token(other), OneOfTests.owner(other))
      (born, seen) = (OneOfTests.born(other), OneOfTests.seen(other))
      (state, rank) = (OneOfTests.state(other), OneOfTests.rank(other))
    }
  }

  // MARK: - Values, the first ones special

  private static let long = String(repeating: "long ", count: 60)

  private static func pick<T>(_ special: [T], _ index: Int, else other: (Int) -> T) -> T {
    index < special.count ? special[index] : other(index)
  }

  private static func number(_ index: Int) -> Int {
    pick([0, .min, -1, 1 << 53, 1 << 53 + 1, .max, 63, 64], index) { $0 * 1000 }
  }
  private static func choice(_ index: Int) -> Int? { index % 5 == 3 ? nil : number(index) }
  private static func small(_ index: Int) -> UInt8 { UInt8(index % 256) }
  private static func wide(_ index: Int) -> UInt64 {
    pick([0, 1 << 63, .max, 1 << 63 - 1, 1 << 53 + 1], index) { UInt64($0) << 50 + 1 }
  }
  private static func weight(_ index: Int) -> Double {
    pick([0, .nan, -0.0, .infinity, 0.1, -.infinity, 0x1p53, 0x1p63, .leastNonzeroMagnitude], index) {
      Double($0) / 4
    }
  }
  private static func price(_ index: Int) -> Decimal { Decimal(index) / 4 }
  private static func name(_ index: Int) -> String {
    let special = [
      "caf\u{E9}", "", "cafe\u{301}", "\u{304C}", "\u{304B}\u{3099}", long, long + "1", long + "e\u{301}",
      long + "\u{E9}", "a\u{0}b", "\r\n", "\u{1F1E9}\u{1F1EA}", "\u{FFFF}", "A", "a",
    ]
    return pick(special, index) { "name \($0)" }
  }
  private static func title(_ index: Int) -> String? { index % 4 == 1 ? nil : name(index) }
  private static func token(_ index: Int) -> UUID {
    let (high, low) = (UInt8(index >> 8 & 255), UInt8(index & 255))
    return UUID(uuid: (low, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, high, low))
  }
  private static func owner(_ index: Int) -> UUID? { index % 3 == 2 ? nil : token(index) }
  private static func born(_ index: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: pick([0, -0.0, 0.1, -1e9], index) { Double($0) * 60 })
  }
  private static func seen(_ index: Int) -> Date? { index % 6 == 1 ? nil : born(index) }
  private static func state(_ index: Int) -> State { State.allCases[index % State.allCases.count] }
  private static func rank(_ index: Int) -> Rank? {
    index % 4 == 3 ? nil : Rank.allCases[index % Rank.allCases.count]
  }

  private static var indexes: [Index<Ware>] {
    [
      Index(\.number, .readable), Index(\.choice, .readable), Index(\.small, .readable),
      Index(\.wide, .readable), Index(\.weight, .readable), Index(\.price, .readable),
      Index(\.name, .readable), Index(\.title, .readable), Index(\.token, .readable),
      Index(\.owner, .readable), Index(\.born, .readable), Index(\.seen, .readable),
      Index(\.state, .readable), Index(\.rank, .readable),
    ]
  }

  // MARK: - Of every kind

  /// A garage with wares, what they are, and how they are asked.
  private struct Store {
    let garage: Garage
    var all: [Ware]
    let counts: [Int]
    let starts: [Int]
    var hint: String

    func expect(_ condition: Condition<Ware>, _ name: String, _ holds: (Ware) -> Bool) throws {
      let expected = all.filter(holds).map(\.id)
      let query = garage.query(Ware.self).where(condition)
      let hint = "\(name), \(hint)"
      let found = try query.values(\.id)
      #expect(found == expected, "\(hint)")
      if counts.contains(where: { $0 > 100 }) { return }
      let count = try query.count()
      #expect(count == expected.count, "\(hint)")
      let isEmpty = try query.isEmpty()
      #expect(isEmpty == expected.isEmpty, "\(hint)")
    }

    func check<Value: Codable & Hashable>(
      _ property: KeyPath<Ware, Value>, _ name: String, _ value: (Int) -> Value
    ) throws {
      for count in counts {
        for start in starts {
          // Some of them twice.
          let once = (start..<start + count).map(value)
          let values = once + once.prefix(count / 2)
          let wanted = Set(values)
          let others = (start + count / 2..<start + count + 12).map(value)
          let alsoWanted = Set(others)
          let isWanted: Condition<Ware> = property == .oneOf(values)
          let isNotWanted: Condition<Ware> = property != .oneOf(values)
          let isAlsoWanted: Condition<Ware> = property == .oneOf(others)
          let isEarly: Condition<Ware> = \.id < 40
          let name = "\(name), \(count) from \(start)"
          try expect(isWanted, name) { wanted.contains($0[keyPath: property]) }
          try expect(isNotWanted, "none of \(name)") { !wanted.contains($0[keyPath: property]) }
          try expect(isWanted && isAlsoWanted, "two of \(name)") {
            wanted.contains($0[keyPath: property]) && alsoWanted.contains($0[keyPath: property])
          }
          if count > 100 { continue }
          try expect(isWanted && isEarly, "early, \(name)") {
            wanted.contains($0[keyPath: property]) && $0.id < 40
          }
          try expect(isAlsoWanted || isEarly && isNotWanted, "others, \(name)") {
            alsoWanted.contains($0[keyPath: property])
              || $0.id < 40 && !wanted.contains($0[keyPath: property])
          }
        }
      }
    }

    func checkAll() throws {
      try check(\.number, "number", OneOfTests.number)
      try check(\.choice, "choice", OneOfTests.choice)
      try check(\.small, "small", OneOfTests.small)
      try check(\.wide, "wide", OneOfTests.wide)
      try check(\.weight, "weight", OneOfTests.weight)
      try check(\.price, "price", OneOfTests.price)
      try check(\.name, "name", OneOfTests.name)
      try check(\.title, "title", OneOfTests.title)
      try check(\.token, "token", OneOfTests.token)
      try check(\.owner, "owner", OneOfTests.owner)
      try check(\.born, "born", OneOfTests.born)
      try check(\.seen, "seen", OneOfTests.seen)
      try check(\.state, "state", OneOfTests.state)
      try check(\.rank, "rank", OneOfTests.rank)
    }
  }

  private func store(_ backend: Backend, counts: [Int], starts: [Int]) throws -> Store {
    let garage = try Place(backend).garage()
    let all = (0..<80).map { Ware($0, like: $0 * 7 % 60) }
    try garage.parkAll(all)
    return Store(garage: garage, all: all, counts: counts, starts: starts, hint: "without an index")
  }

  @Test(arguments: Backend.engines)
  func valuesOfEveryKind(_ backend: Backend) throws {
    // Around the number above which there is a table.
    let counts = runsLongTests ? [0, 1, 8, 9, 40] : [8, 9]
    var store = try store(backend, counts: counts, starts: runsLongTests ? [0, 11] : [11])
    try store.checkAll()
    try store.garage.make(OneOfTests.indexes)
    store.hint = "with indexes"
    try store.checkAll()
    store.garage.isAutosaveEnabled = false
    for id in stride(from: 0, to: 80, by: 9) {
      store.all[id] = Ware(id, like: id + 3)
      try store.garage.park(store.all[id])
    }
    try store.garage.delete(Ware.self, identifier: 79)
    store.all.removeLast()
    store.hint = "unsaved"
    try store.checkAll()
  }

  @Test func manyValuesOfEveryKind() throws {
    var store = try store(.memory, counts: [1000], starts: [0])
    try store.checkAll()
    try store.garage.make(OneOfTests.indexes)
    store.hint = "with indexes"
    try store.checkAll()
  }

  @Test(arguments: [1100, 5000])
  func stillMoreValues(_ count: Int) throws {
    var store = try store(.memory, counts: [count], starts: [1])
    for hint in ["without an index", "with indexes"] {
      store.hint = hint
      try store.check(\.number, "number", OneOfTests.number)
      try store.check(\.choice, "choice", OneOfTests.choice)
      try store.check(\.weight, "weight", OneOfTests.weight)
      try store.check(\.title, "title", OneOfTests.title)
      try store.check(\.token, "token", OneOfTests.token)
      try store.check(\.born, "born", OneOfTests.born)
      try store.garage.make(OneOfTests.indexes)
    }
  }

  /// Nil, values that are not there, and nothing else.
  @Test func nilAlone() throws {
    let store = try store(.memory, counts: [], starts: [])
    let none = [Int?](repeating: nil, count: 20)
    try store.expect(\.choice == .oneOf(none), "nil") { $0.choice == nil }
    try store.expect(\.choice != .oneOf(none), "not nil") { $0.choice != nil }
    let (nans, zeros) = ([Double](repeating: .nan, count: 20), [Double](repeating: -0.0, count: 20))
    try store.expect(\.weight == .oneOf(nans), "NaN") { _ in false }
    try store.expect(\.weight == .oneOf(zeros), "zero") { $0.weight == 0 }
    let untitled = [String?](repeating: nil, count: 9)
    let isUntitled: Condition<Ware> = \.title == .oneOf(untitled)
    try store.expect(isUntitled || \.choice == .oneOf(none), "two") { $0.choice == nil || $0.title == nil }
  }

  // MARK: - Numbers of other kinds, and none

  private enum Whole {
    struct Gauge: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "gauge of one of many" }
      var id: Int
      var value: Int
    }
  }
  private enum Exact {
    struct Gauge: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "gauge of one of many" }
      var id: Int
      var value: Decimal
    }
  }
  private enum Rough {
    struct Gauge: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "gauge of one of many" }
      var id: Int
      var value: Double
      var mark: Int?
    }
  }

  /// What a property of another type wrote is the same number, and is absent where there was no property.
  @Test(arguments: [false, true])
  func numbersOfOtherKinds(isIndexed: Bool) throws {
    let garage = try Place(.memory).garage()
    if isIndexed {
      try garage.make([Index(\Rough.Gauge.value)])
      try garage.make([Index(\Rough.Gauge.mark)])
    }
    try garage.parkAll((0..<30).map { Whole.Gauge(id: $0, value: $0) })
    try garage.parkAll((30..<60).map { Exact.Gauge(id: $0, value: Decimal($0) / 2) })
    try garage.parkAll((60..<90).map { Rough.Gauge(id: $0, value: Double($0) / 4, mark: $0 % 3) })
    var values = (0..<30).map { Double($0) }
    values += (30..<60).map { Double($0) / 2 }
    values += (60..<90).map { Double($0) / 4 }
    func expect(_ wanted: [Double]) throws {
      let expected = values.count { wanted.contains($0) }
      let rough = garage.query(Rough.Gauge.self)
      #expect(try rough.where(\.value == .oneOf(wanted)).count() == expected, "\(wanted)")
      #expect(try rough.where(\.value != .oneOf(wanted)).count() == 90 - expected, "\(wanted)")
      let decimals = wanted.map { Decimal($0) }
      let exact = garage.query(Exact.Gauge.self).where(\.value == .oneOf(decimals))
      #expect(try exact.count() == expected, "\(wanted)")
      let integers: [Int] = wanted.compactMap { Int(exactly: $0) }
      let whole = garage.query(Whole.Gauge.self).where(\.value == .oneOf(integers))
      let expectedOfWhole = values.count { value in integers.contains { Double($0) == value } }
      #expect(try whole.count() == expectedOfWhole, "\(wanted)")
    }
    for count in [2, 8, 9, 30] {
      try expect((0..<count).map { Double($0) })
      try expect((0..<count).map { Double($0) / 2 + 10 })
      try expect((0..<count).map { Double($0) / 4 + 15 })
    }
    let rough = garage.query(Rough.Gauge.self)
    for count in [1, 20] {
      let marks: [Int?] = Array(0..<count)
      let marksOrNil = marks + [nil]
      let marked = (60..<90).count { $0 % 3 < count }
      #expect(try rough.where(\.mark == .oneOf(marks)).count() == marked)
      #expect(try rough.where(\.mark == .oneOf(marksOrNil)).count() == marked + 60)
      #expect(try rough.where(\.mark != .oneOf(marksOrNil)).count() == 30 - marked)
    }
  }
}

import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Queries in orders that no index has, over more objects than are held at a time where few of them are wanted.
@Suite struct SortingTests {
  struct Runner: Codable, Identifiable, Equatable {
    var id: Int
    /// Few different ones, and nil.
    var team: Int?
    var name: String
    var time: Double
    var birthday: Date?

    init(_ id: Int, _ random: inout SeededGenerator) {
      func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      self.id = id
      team = pick([nil, 1, 2, 3, -4, 1 << 40])
      // Many with long beginnings in common, and some of which is decomposed.
      let beginning = pick([
        "", "a", "Ana", "caf\u{E9} ", "cafe\u{301} ", String(repeating: "long ", count: 60),
      ])
      name = beginning + "\(Int.random(in: 0..<50, using: &random))"
      time = pick([.nan, -0.0, 0, 1, -.infinity, .infinity, Double.random(in: -1e3...1e3, using: &random)])
      birthday =
        Bool.random(using: &random)
        ? nil : Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9...9, using: &random)))
    }
  }

  private static let count = 2_600

  /// Text as it is ordered. `<` of Swift 6.3 says of some texts, one of them decomposed, that neither is less, though they are
  /// not equal.
  private struct Composed: Comparable {
    let utf8: [UInt8]
    init(_ text: String) { utf8 = Array(text.precomposedStringWithCanonicalMapping.utf8) }
    static func < (left: Composed, right: Composed) -> Bool {
      left.utf8.lexicographicallyPrecedes(right.utf8)
    }
  }

  /// As the values of a record are ordered: nil first, then NaN.
  private static func order<T: Comparable>(_ left: T?, _ right: T?) -> Int {
    guard let left else { return right == nil ? 0 : -1 }
    guard let right else { return 1 }
    let (isLeft, isRight) = (left != left, right != right)
    if isLeft || isRight { return isLeft == isRight ? 0 : isLeft ? -1 : 1 }
    return left < right ? -1 : right < left ? 1 : 0
  }

  private static func sorted<T: Identifiable<Int>>(_ objects: [T], by orders: [(T, T) -> Int]) -> [Int] {
    objects.sorted { left, right in
      for order in orders.map({ $0(left, right) }) where order != 0 { return order < 0 }
      return left.id < right.id
    }.map(\.id)
  }

  @Test(arguments: Backend.engines)
  func sortsMany(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    // In another order than that of their identifiers.
    let runners = (0..<SortingTests.count).map { Runner($0, &random) }
    let place = try Place(backend)
    let garage = try Garage(place.open(), hidesIdentifiers: backend.isSealed)
    try garage.parkAll(runners.shuffled(using: &random))
    let query = garage.query(Runner.self)
    func order<T: Comparable>(_ path: @escaping (Runner) -> T?) -> (Runner, Runner) -> Int {
      { SortingTests.order(path($0), path($1)) }
    }
    func reversed(_ order: @escaping (Runner, Runner) -> Int) -> (Runner, Runner) -> Int {
      { -order($0, $1) }
    }
    let composed = Dictionary(uniqueKeysWithValues: runners.map { ($0.id, Composed($0.name)) })
    let (team, name, time) = (order { $0.team }, order { composed[$0.id] }, order { $0.time })
    let birthday = order { $0.birthday }
    let cases: [(Query<Runner>, [(Runner, Runner) -> Int])] = [
      (query.sorted(by: \.name), [name]),
      (query.sorted(by: \.name, .descending), [reversed(name)]),
      (query.sorted(by: \.time), [time]),
      (query.sorted(by: \.time, .descending), [reversed(time)]),
      (query.sorted(by: \.team), [team]),
      (query.sorted(by: \.team, .descending).sorted(by: \.name), [reversed(team), name]),
      (query.sorted(by: \.birthday).sorted(by: \.time, .descending), [birthday, reversed(time)]),
    ]
    for (index, (query, orders)) in cases.enumerated() {
      // Those that are equal come in the order of their keys, which have no identifiers where these are hidden.
      let query = backend.isSealed ? query.sorted(by: \.id) : query
      let hint: Comment = "query \(index), seed \(seed)"
      let expected = SortingTests.sorted(runners, by: orders)
      #expect(try query.values(\.id) == expected, hint)
      #expect(try query.retrieveAll().map(\.id) == expected, hint)
      for limit in [1, 3, 40, 700, 2_599, 2_600, 9_000] {
        #expect(
          try query.limit(limit).values(\.id) == Array(expected.prefix(limit)), "limit \(limit), \(hint)")
      }
      let fast = runners.filter { $0.team == 1 || $0.name.hasSuffix("7") }
      let filtered = query.where(\.team == 1 || \.name == .hasSuffix("7")).limit(30)
      #expect(
        try filtered.retrieveAll().map(\.id) == Array(SortingTests.sorted(fast, by: orders).prefix(30)), hint)
      var (found, cursor) = ([Int](), nil as QueryCursor?)
      repeat {
        let page = try query.page(after: cursor, size: 450)
        found += page.objects.map(\.id)
        cursor = page.next
      } while cursor != nil
      #expect(found == expected, hint)
    }
  }

  /// One that only its type has an order for.
  private struct Version: Codable, Hashable, Comparable {
    var major: Int
    var minor: Int
    static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor) < (right.major, right.minor)
    }
  }

  /// A number in a type whose `<` leaves NaN in no order.
  private struct Score: Codable, Hashable, Comparable {
    var value: Double
    var name = ""
    static func < (left: Score, right: Score) -> Bool { left.value < right.value }
  }

  private struct Release: Codable, Identifiable {
    var id: Int
    var version: Version
    var score: Score
    var size: Double?
    var name: String
  }

  /// What has an order in bytes has the same beside what has none: NaN first, text composed.
  @Test(arguments: Backend.engines)
  func sortsBesideOrdersOfObjects(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Garage(Place(backend).open(), hidesIdentifiers: backend.isSealed)
    func number() -> Double {
      [.nan, -0.0, 0, 1, 2, 3, -.infinity, .infinity].randomElement(using: &random)!
    }
    let releases = (0..<400).map { id in
      Release(
        id: id, version: Version(major: Int.random(in: 0..<3, using: &random), minor: 0),
        score: Score(value: number()), size: Bool.random(using: &random) ? nil : number(),
        name: ["e\u{301}", "\u{E9}", "e\u{301}2", "\u{E9}2", "e", "z"].randomElement(using: &random)!)
    }
    try garage.parkAll(releases)
    let version: (Release, Release) -> Int = { SortingTests.order($0.version.major, $1.version.major) }
    let size: (Release, Release) -> Int = { SortingTests.order($0.size, $1.size) }
    let name: (Release, Release) -> Int = { SortingTests.order(Composed($0.name), Composed($1.name)) }
    let score: (Release, Release) -> Int = { SortingTests.order($0.score.value, $1.score.value) }
    let query = garage.query(Release.self)
    let cases: [(Query<Release>, [(Release, Release) -> Int])] = [
      (query.sorted(by: \.size).sorted(by: \.version), [size, version]),
      (query.sorted(by: \.version).sorted(by: \.size), [version, size]),
      (query.sorted(by: \.version).sorted(by: \.size, .descending), [version, { -size($0, $1) }]),
      (query.sorted(by: \.name).sorted(by: \.version, .descending), [name, { -version($0, $1) }]),
      (query.sorted(by: \.score), [score]),
      (query.sorted(by: \.score, .descending).sorted(by: \.name), [{ -score($0, $1) }, name]),
    ]
    for (index, (query, orders)) in cases.enumerated() {
      let hint: Comment = "query \(index), seed \(seed)"
      let expected = SortingTests.sorted(releases, by: orders)
      let query = query.sorted(by: \.id)
      #expect(try query.values(\.id) == expected, hint)
      #expect(try query.limit(33).retrieveAll().map(\.id) == Array(expected.prefix(33)), hint)
    }
  }

  private struct Named: Codable, Identifiable, Indexed {
    var id: Int
    var name: String
    var rank: Int
    static var indexes: [Index<Named>] { [Index(\.name)] }
  }

  /// Pages in the order of an index, of text that is equal to other text, or of which Swift says that neither is less.
  @Test(arguments: SortDirection.allCases)
  func pagesOfComposedText(_ direction: SortDirection) throws {
    let texts = [
      "", "a", "e", "e\u{301}", "\u{E9}", "e\u{301}t", "\u{E9}t", "\u{E9}s", "e\u{301}s", "ab\u{300}",
      "a\u{300}b", "\u{C5}B", "A\u{30A}B",
      "A\u{30A}A", "\u{C5}C", "f",
    ]
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<96).map { Named(id: $0, name: texts[$0 * 7 % texts.count], rank: $0 % 3) })
    for query in [
      garage.query(Named.self).sorted(by: \.name, direction),
      garage.query(Named.self).sorted(by: \.rank).sorted(by: \.name, direction),
    ] {
      let expected = try query.values(\.id)
      #expect(Set(expected).count == 96)
      for size in [1, 5, 31] {
        var (found, cursor) = ([Int](), nil as QueryCursor?)
        repeat {
          let page = try query.page(after: cursor, size: size)
          found += page.objects.map(\.id)
          cursor = page.next
        } while cursor != nil && found.count < 200
        #expect(found == expected, "\(query), pages of \(size)")
      }
    }
  }

  class Track: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "track that is sorted" }
    var id: Int
    var title: String
    var length: Int
    init(_ id: Int) { (self.id, title, length) = (id, "title \(id * 7 % 10)", id % 3) }
    var label: String {
      get { title + "!" }
      set { title = newValue }
    }
  }

  /// What a cursor says of an order is the same in every process, also of properties whose names Swift does not tell.
  @Test(arguments: Backend.allCases)
  func cursorsOfClasses(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<10).map(Track.init))
    let query = garage.query(Track.self)
    let cursor = try #require(try query.sorted(by: \.title).page(size: 3).next)
    #expect(cursor.order == ["\\.title"])
    #expect(
      try query.sorted(by: \.title).page(after: cursor, size: 3).objects.map(\.title).first == "title 3")
    let error = #expect(throws: GarageError.self) {
      try query.sorted(by: \.length).page(after: cursor, size: 3)
    }
    #expect("\(try #require(error))".contains("sorted by \\.title"))
    let computed = try #require(try query.sorted(by: \.label, .descending).page(size: 3).next)
    #expect(computed.order == ["\\.<computed (String)>, descending"])
    #expect(try !query.sorted(by: \.label).explain().description.contains("0x"))
  }
}

import Synchronization
import Testing

@testable import GarageStorage

/// Sums, means, least and greatest values: the same from records, from entries of indexes, and by a filter.
@Suite struct TotalsTests {
  private struct Gauge: Codable, Identifiable, Equatable {
    var id: Int
    var city: String
    var age: Int
    var level: Int8
    var size: UInt64
    var score: Int?
    var weight: Double
    var mark: Float?
    var depth: Double?

    init(_ id: Int, _ random: inout SeededGenerator) {
      self.id = id
      city = ["a", "b", "", String(repeating: "long ", count: 60)].randomElement(using: &random)!
      age = [-5, 0, 7, 63, 64, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1 << 55].randomElement(using: &random)!
      level = Int8(id % 3 - 1)
      size = [0, 9, 1 << 40].randomElement(using: &random)!
      score = [nil, 0, 3, -70, 1 << 33].randomElement(using: &random)!
      weight = [0.1, -2.5, 1e10, -0.0].randomElement(using: &random)!
      mark = [nil, 0.5, 2.25].randomElement(using: &random)!
      depth = [nil, .nan, -.infinity, 4.5, -0.0, .leastNonzeroMagnitude].randomElement(using: &random)!
    }
  }

  private func check(_ query: Query<Gauge>, _ found: [Gauge], _ hint: Comment) throws {
    #expect(try query.sum(\.age) == found.map(\.age).reduce(0, +), hint)
    #expect(try query.sum(\.level) == found.map(\.level).reduce(0, +), hint)
    #expect(try query.sum(\.size) == found.map(\.size).reduce(0, +), hint)
    #expect(try query.sum(\.score) == found.compactMap(\.score).reduce(0, +), hint)
    #expect(try query.sum(\.weight) == found.map(\.weight).reduce(0, +), hint)
    #expect(try query.sum(\.mark) == found.compactMap(\.mark).reduce(0, +), hint)
    let scores = found.compactMap(\.score)
    let mean = scores.isEmpty ? nil : Double(scores.reduce(0, +)) / Double(scores.count)
    #expect(try query.average(\.score) == mean, hint)
    let sizes = found.map(\.size)
    let meanSize = sizes.isEmpty ? nil : Double(sizes.reduce(0, +)) / Double(sizes.count)
    #expect(try query.average(\.size) == meanSize, hint)
    #expect(try query.min(\.age) == found.map(\.age).min(), hint)
    #expect(try query.max(\.age) == found.map(\.age).max(), hint)
    #expect(try query.min(\.level) == found.map(\.level).min(), hint)
    #expect(try query.max(\.size) == found.map(\.size).max(), hint)
    #expect(try query.min(\.score) == scores.min(), hint)
    #expect(try query.max(\.score) == scores.max(), hint)
    #expect(try query.max(\.weight) == found.map(\.weight).max(), hint)
    #expect(try query.min(\.weight) == found.map(\.weight).min(), hint)
    // NaN does not count.
    let depths = found.compactMap(\.depth).filter { !$0.isNaN }
    #expect(try query.min(\.depth) == depths.min(), hint)
    #expect(try query.max(\.depth) == depths.max(), hint)
    #expect(try query.min(\.mark) == found.compactMap(\.mark).min(), hint)
  }

  private func check(_ garage: Garage, _ all: [Gauge], _ hint: Comment) throws {
    let query = garage.query(Gauge.self)
    try check(query, all, hint)
    try check(query.limit(5), Array(all.prefix(5)), hint)
    try check(query.where(\.city == "a"), all.filter { $0.city == "a" }, hint)
    let long = String(repeating: "long ", count: 60)
    try check(query.where(\.city == long), all.filter { $0.city == long }, hint)
    try check(query.where(\.age >= 0 && \.age < 64), all.filter { 0..<64 ~= $0.age }, hint)
    try check(query.where(\.city == "b" && \.age > 7), all.filter { $0.city == "b" && $0.age > 7 }, hint)
    try check(query.where(\.score == nil), all.filter { $0.score == nil }, hint)
    try check(query.where(\.weight > 0.05), all.filter { $0.weight > 0.05 }, hint)
    try check(query.where(\.city == "none"), [], hint)
    let sorted = all.sorted { $0.age == $1.age ? $0.id < $1.id : $0.age < $1.age }
    try check(query.sorted(by: \.age).limit(9), Array(sorted.prefix(9)), hint)
  }

  private static let indexes: [[Index<Gauge>]] = [
    [], [Index(\.age, .readable)], [Index(\.city, \.age, .readable)],
    [Index(\.score, .readable), Index(\.city, \.score, .readable)],
    [Index(\.city, \.level, \.score, .readable), Index(\.size, \.age, .readable)],
    [Index(\.weight, \.size, .readable), Index(\.age, \.mark, .readable), Index(\.city, .readable)],
  ]

  @Test(arguments: Backend.engines, 0..<6)
  func areTheSameWithAnyIndex(_ backend: Backend, _ place: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    let hint: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    var all = (0..<120).map { Gauge($0, &random) }
    try garage.parkAll(all)
    let indexes = TotalsTests.indexes[place]
    if !indexes.isEmpty { try garage.make(indexes) }
    try check(garage, all, hint)
    garage.isAutosaveEnabled = false
    all[7] = Gauge(7, &random)
    try garage.park(all[7])
    try check(garage, all, hint)
    try garage.save()
    try check(garage, all, hint)
  }

  /// An index that leads to what is found, and has the numbers, is enough.
  @Test func noRecordsAreRead() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    var random = SeededGenerator(seed: 1)
    let all = (0..<1000).map { Gauge($0, &random) }
    try garage.parkAll(all)
    try garage.make([Index(\Gauge.city, \.score)])
    let query = garage.query(Gauge.self).where(\.city == "a")
    let expected = all.filter { $0.city == "a" }.compactMap(\.score)
    let before = storage.gets.load(ordering: .relaxed)
    #expect(try query.sum(\.score) == expected.reduce(0, +))
    #expect(try query.max(\.score) == expected.max())
    let gets = storage.gets.load(ordering: .relaxed) - before
    #expect(gets < 20)
  }

  /// What its type does not hold is refused, as where the object is read.
  @Test func sumsBeyondTheTypeAreRefused() throws {
    let garage = try Place(.memory).garage()
    var random = SeededGenerator(seed: 1)
    var all = (0..<3).map { Gauge($0, &random) }
    for place in all.indices { (all[place].size, all[place].level) = (.max - 1, 100) }
    try garage.parkAll(all)
    let query = garage.query(Gauge.self)
    for hasIndexes in [false, true] {
      if hasIndexes { try garage.make([Index(\Gauge.level), Index(\Gauge.level, \.size)]) }
      #expect(throws: GarageError.self) { try query.sum(\.level) }
      #expect(throws: GarageError.self) { try query.sum(\.size) }
      #expect(try query.limit(1).sum(\.size) == .max - 1)
      #expect(try query.max(\.size) == .max - 1)
      #expect(try query.min(\.level) == 100)
    }
  }
}

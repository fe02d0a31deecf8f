import Foundation
import Synchronization
import Testing

@testable import GarageStorage

/// Ends of a query that entries answer: with an index and without, the same.
@Suite struct GroupTests {
  private func expectSame(_ garage: Garage, _ all: [Specimen], _ hint: Comment) throws {
    let query = garage.query(Specimen.self)
    func distinct<V: Hashable & Codable>(_ property: KeyPath<Specimen, V>) throws {
      var known: Set<V> = []
      let expected = all.map { $0[keyPath: property] }.filter { known.insert($0).inserted }
      #expect(try query.distinct(property).map { "\($0)" } == expected.map { "\($0)" }, hint)
      let counts = try query.countByValue(property)
      let expectedCounts = all.reduce(into: [V: Int]()) { $0[$1[keyPath: property], default: 0] += 1 }
      #expect(counts.values.sorted() == expectedCounts.values.sorted(), hint)
      for (value, count) in expectedCounts where value == value { #expect(counts[value] == count, hint) }
    }
    try distinct(\.age)
    try distinct(\.name)
    try distinct(\.nickname)
    try distinct(\.weight)
    try distinct(\.isDone)
    try distinct(\.born)
    try distinct(\.state)
    try distinct(\.address.zip)
    func extremes<V: Comparable & Codable>(_ property: KeyPath<Specimen, V>) throws {
      let values = all.map { $0[keyPath: property] }.filter { $0 == $0 }
      #expect(try query.min(property) == values.min(), hint)
      #expect(try query.max(property) == values.max(), hint)
      let some = all.filter { $0.isDone }.map { $0[keyPath: property] }.filter { $0 == $0 }
      #expect(try query.where(\.isDone == true).max(property) == some.max(), hint)
    }
    try extremes(\.age)
    try extremes(\.name)
    try extremes(\.weight)
    try extremes(\.price)
    #expect(try query.min(\.nickname) == all.compactMap(\.nickname).min(), hint)
    #expect(try query.max(\.nickname) == all.compactMap(\.nickname).max(), hint)
    #expect(try query.identifiers().map(\.description) == all.map { "\($0.id)" }, hint)
    #expect(try query.limit(3).identifiers().map(\.description) == all.prefix(3).map { "\($0.id)" }, hint)
  }

  @Test(arguments: Backend.engines)
  func entriesTellTheSame(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    let hint: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    #expect(try garage.query(Specimen.self).distinct(\.age).isEmpty, hint)
    var all = (0..<200).map { Specimen($0, &random) }
    try garage.parkAll(all)
    try expectSame(garage, all, hint)
    try garage.make([
      Index(\Specimen.age, .readable), Index(\.name, .readable), Index(\.nickname, .readable),
      Index(\.weight, .readable), Index(\.isDone, .readable), Index(\.born, .readable),
      Index(\.state, .readable), Index(\.address.zip, .readable), Index(\.price, .readable),
    ])
    try expectSame(garage, all, hint)
    garage.isAutosaveEnabled = false
    all[7] = Specimen(7, &random)
    try garage.park(all[7])
    try expectSame(garage, all, hint)
    try garage.save()
    try expectSame(garage, all, hint)
  }

  /// The first field of an index of several tells the same, whatever stands in the others.
  @Test(arguments: Backend.engines)
  func firstFieldsOfSeveralTellTheSame(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    let hint: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    let all = (0..<400).map { Specimen($0, &random) }
    try garage.parkAll(all)
    try garage.make([
      Index(\Specimen.age, \.name, .readable), Index(\.name, \.nickname, .readable),
      Index(\.nickname, \.id, .readable), Index(\.weight, \.age, .readable),
      Index(\.isDone, \.price, \.age, .readable), Index(\.born, \.isDone, .readable),
      Index(\.state, \.born, .readable), Index(\.address.zip, \.state, .readable),
      Index(\.price, \.weight, .readable),
    ])
    try expectSame(garage, all, hint)
  }

  private struct Sighting: Codable, Identifiable {
    var id: Int
    var place: String
    var hour: Int
  }

  /// Which value is found first is told by the first records where these have all, and else by the entries.
  @Test(arguments: Backend.engines)
  func firstComesFirst(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.make([Index(\Sighting.place, \.hour, .readable)])
    let query = garage.query(Sighting.self)
    func check(_ count: Int, _ place: (Int) -> String) throws {
      try garage.deleteAll(Sighting.self)
      let all = (0..<count).map { Sighting(id: $0, place: place($0), hour: ($0 * 7919) % 24) }
      try garage.parkAll(all)
      var known: Set<String> = []
      let expected = all.map(\.place).filter { known.insert($0).inserted }
      #expect(try query.distinct(\.place) == expected)
      let counts = all.reduce(into: [String: Int]()) { $0[$1.place, default: 0] += 1 }
      #expect(try query.countByValue(\.place) == counts)
    }
    // All are among the first ones, some are not, and nearly all are different.
    try check(600) { "place \($0 * 31 % 7)" }
    try check(2600) { $0 < 1800 ? "place \($0 * 31 % 5)" : $0 == 2500 ? "one" : "late \($0 / 2 % 3)" }
    try check(1500) { "place \($0 * 31 % 1400)" }
    try check(40) { _ in String(repeating: "long ", count: 60) }
  }

  /// Of a large group one record is read.
  @Test func oneRecordIsReadForEachValue() throws {
    let driver = CountingStorage(try Place(.memory).open())
    let garage = try Garage(driver)
    try garage.make([Index(\Counter.value)])
    try garage.parkAll((0..<5000).map { Counter(id: $0, value: $0 % 4) })
    func reads<R: Equatable>(_ expected: R, _ body: () throws -> R) throws -> Int {
      let before = driver.gets.load(ordering: .relaxed)
      let found = try body()
      #expect(found == expected)
      return driver.gets.load(ordering: .relaxed) - before
    }
    let query = garage.query(Counter.self)
    #expect(try reads([0, 1, 2, 3]) { try query.distinct(\.value) } < 20)
    let counts = [0: 1250, 1: 1250, 2: 1250, 3: 1250]
    #expect(try reads(counts) { try query.countByValue(\.value) } < 20)
    #expect(try reads(3) { try query.max(\.value) } < 20)
  }
}

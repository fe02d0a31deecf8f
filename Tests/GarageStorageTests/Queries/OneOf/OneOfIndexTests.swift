import Foundation
import Testing

@testable import GarageStorage

/// Many values lead through an index, and through the order of identifiers, to what a filter finds.
@Suite struct OneOfIndexTests {
  private struct Tick: Codable, Identifiable, Equatable {
    var id: Int
    var number: Int
    var name: String

    init(_ id: Int) {
      (self.id, number) = (id, id * 3 % 6007)
      // Long ones that begin alike are cut to the same bytes.
      name = id % 50 == 0 ? String(repeating: "x", count: 300) + "\(id % 7)" : "n\(id % 4001)"
    }
  }

  private struct Tock: Codable, Identifiable, Equatable {
    var id: Int
    var kind: Int
    var number: Int
    var name: String

    init(_ id: Int) { (self.id, kind, number, name) = (id, id % 5, id % 3001, "n\(id % 2999)") }
  }

  private static let count = 6000

  private func expect<T: Codable & Identifiable & Equatable & SendableMetatype>(
    _ query: Query<T>, _ expected: [T], _ indexes: [String]?, _ hint: Comment
  ) throws {
    let found = try query.retrieveAll()
    #expect(found == expected, hint)
    #expect(try query.count() == expected.count, hint)
    for limit in [1, 7, 2000] {
      #expect(try query.limit(limit).count() == min(limit, expected.count), hint)
      #expect(try query.limit(limit).retrieveAll() == Array(expected.prefix(limit)), hint)
    }
    #expect(try query.isEmpty() == expected.isEmpty, hint)
    if let indexes { #expect(try query.explain().indexes == indexes, hint) }
  }

  @Test(arguments: Backend.engines)
  func manyValuesLeadThroughAnIndex(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<OneOfIndexTests.count).map { Tick($0) }
    try garage.make([Index(\Tick.number, .readable)])
    try garage.make([Index(\Tick.name, .readable)])
    try garage.parkAll(all)
    func check(_ all: [Tick], _ source: any GarageReading, _ hint: Comment, isPlanned: Bool) throws {
      let query = source.query(Tick.self)
      // Of a server each would be asked for by itself.
      let isPlanned = isPlanned && !backend.isPostgres
      for count in [1023, 1025, 1100, 5000] {
        // Half of them twice, in no order.
        let values = (0..<count).map { $0 * 7919 % 9000 } + (0..<count / 2).map { $0 * 7919 % 9000 }
        let wanted = Set(values)
        let isWanted: Condition<Tick> = \.number == .oneOf(values)
        try expect(
          query.where(isWanted), all.filter { wanted.contains($0.number) }, isPlanned ? ["number"] : nil, hint
        )
        #expect(try query.where(!isWanted).count() == all.count { !wanted.contains($0.number) }, hint)
      }
      let values = (0..<3000).map { $0 * 7919 % 9000 }
      let others = (0..<3000).map { $0 * 104_729 % 9000 }
      let (wanted, alsoWanted) = (Set(values), Set(others))
      let both: Condition<Tick> = \.number == .oneOf(values) && \.number == .oneOf(others)
      try expect(
        query.where(both), all.filter { wanted.contains($0.number) && alsoWanted.contains($0.number) },
        isPlanned ? ["number"] : nil, hint)
      let names = all.map(\.name).prefix(2500) + ["none", "n", "n4001"]
      let wantedNames = Set(names)
      let isNamed: Condition<Tick> = \.name == .oneOf(names)
      try expect(
        query.where(isNamed), all.filter { wantedNames.contains($0.name) }, isPlanned ? ["name"] : nil, hint)
      let either: Condition<Tick> = \.number == .oneOf(values) || isNamed
      #expect(
        try query.where(either).count()
          == all.count { wanted.contains($0.number) || wantedNames.contains($0.name) }, hint)
      let isThatAndLate: Condition<Tick> = isNamed && \.id > 1000
      #expect(
        try query.where(isThatAndLate).count() == all.count { wantedNames.contains($0.name) && $0.id > 1000 },
        hint)
    }
    try check(all, garage, "saved", isPlanned: true)
    try garage.write { writer in
      var changed = all
      for id in stride(from: 0, to: 600, by: 3) {
        changed[id].number += 1
        try writer.park(changed[id])
      }
      try writer.delete(Tick.self, identifier: OneOfIndexTests.count - 1)
      changed.removeLast()
      try check(changed, writer, "in a write", isPlanned: false)
    }
  }

  /// Values that are named more often than there are records are not looked for one by one.
  @Test(arguments: Backend.engines)
  func moreValuesThanRecords(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<500).map { Tick($0) }
    try garage.make([Index(\Tick.number, .readable)])
    try garage.parkAll(all)
    for count in [1000, 2000] {
      let values = Array(0..<count)
      let wanted = all.filter { $0.number < count }
      try expect(
        garage.query(Tick.self).where(\.number == .oneOf(values)), wanted, count == 1000 ? ["number"] : [],
        "\(count)")
    }
  }

  /// Of several properties: as many values as they make together, or as the first of them names.
  @Test(arguments: Backend.engines)
  func manyValuesOfSeveralProperties(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<OneOfIndexTests.count).map { Tock($0) }
    try garage.make([Index(\Tock.kind, \.number, .readable)])
    try garage.make([Index(\Tock.name, \.number, .readable)])
    try garage.parkAll(all)
    func check(_ condition: Condition<Tock>, _ indexes: [String], _ holds: (Tock) -> Bool) throws {
      try expect(
        garage.query(Tock.self).where(condition), all.filter(holds), backend.isPostgres ? nil : indexes,
        "\(indexes)")
    }
    let numbers = (0..<1100).map { $0 * 2 }
    let wanted = Set(numbers)
    try check(\.kind == .oneOf([1, 3, 9]) && \.number == .oneOf(numbers), ["kind, number"]) {
      ($0.kind == 1 || $0.kind == 3) && wanted.contains($0.number)
    }
    let names = (0..<1100).map { "n\($0 * 2)" }
    let wantedNames = Set(names)
    // A range for each of them, of one and of two stretches.
    try check(\.name == .oneOf(names) && \.number > 1500, ["name, number"]) {
      wantedNames.contains($0.name) && $0.number > 1500
    }
    try check(\.name == .oneOf(names) && \.number <= 1500, ["name, number"]) {
      wantedNames.contains($0.name) && $0.number <= 1500
    }
    try check(\.name == .oneOf(names) && !(\.number == 8), ["name, number"]) {
      wantedNames.contains($0.name) && $0.number != 8
    }
    // More than are looked for together.
    let many = Array(0..<1200)
    try check(\.name == .oneOf(names) && \.number == .oneOf(many), ["name, number"]) {
      wantedNames.contains($0.name) && $0.number < 1200
    }
  }

  // MARK: - Identifiers

  private struct OfNumber: Codable, Identifiable, Equatable {
    var id: Int
    var kind: Int
  }
  private struct OfText: Codable, Identifiable, Equatable {
    var id: String
    var kind: Int
  }
  private struct OfUUID: Codable, Identifiable, Equatable {
    var id: UUID
    var kind: Int
  }
  private struct OfWideNumber: Codable, Identifiable, Equatable {
    var id: UInt64
    var kind: Int
  }

  @Test(arguments: Backend.engines)
  func identifiers(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((-500..<2000).map { OfNumber(id: $0, kind: $0 & 3) })
    let all = try garage.retrieveAll(OfNumber.self)
    let query = garage.query(OfNumber.self)
    for count in [0, 1, 9, 1000, 1100, 5000] {
      let values = (0..<count).map { $0 * 7919 % 3000 - 700 }
      let (wanted, some) = (Set(values), values + values.prefix(count / 2))
      let isWanted: Condition<OfNumber> = \.id == .oneOf(some)
      let hint: Comment = "\(count)"
      try expect(query.where(isWanted), all.filter { wanted.contains($0.id) }, [], hint)
      try expect(
        query.where(isWanted && \.kind == 1), all.filter { wanted.contains($0.id) && $0.kind == 1 }, [], hint)
      #expect(try query.where(!isWanted).count() == all.count { !wanted.contains($0.id) }, hint)
      let others = (0..<count).map { $0 * 104_729 % 3000 - 700 }
      let alsoWanted = Set(others)
      let both: Condition<OfNumber> = isWanted && \.id == .oneOf(others)
      try expect(
        query.where(both), all.filter { wanted.contains($0.id) && alsoWanted.contains($0.id) }, [], hint)
      let number = wanted.intersection(alsoWanted).count
      if number > 1 {
        #expect(try query.where(both).explain().description.hasPrefix("reads \(number) records of OfNumber"))
      }
      let last = try query.where(isWanted).sorted(by: \.id, .descending).limit(5).retrieveAll()
      #expect(last == all.filter { wanted.contains($0.id) }.suffix(5).reversed(), hint)
    }
  }

  @Test(arguments: Backend.engines)
  func identifiersOfOtherKinds(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let long = String(repeating: "long ", count: 60)
    let texts = ["", "caf\u{E9}", "\u{304C}", "a\u{0}", long, long + "1", long + "\u{E9}"]
    try garage.parkAll((texts + (0..<200).map { "t\($0)" }).map { OfText(id: $0, kind: 1) })
    let allTexts = try garage.retrieveAll(OfText.self)
    let composed = ["", "cafe\u{301}", "\u{304B}\u{3099}", "a\u{0}", long + "e\u{301}", long + "2"]
    for count in [1, 2, 5, 6, 20, 2000] {
      let values = (composed + (0..<2000).map { "t\($0 * 7)" }).prefix(count)
      let wanted = Set(values)
      try expect(
        garage.query(OfText.self).where(\.id == .oneOf(values)),
        allTexts.filter { wanted.contains($0.id) }, [], "\(count) texts")
    }

    let uuids = (0..<1500).map { (index: Int) -> UUID in
      let (low, high) = (UInt8(index & 255), UInt8(index >> 8))
      return UUID(uuid: (low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high))
    }
    // Some of them are more than 63 bits hold.
    let wides = (0..<1500).map { UInt64($0) << 53 + UInt64($0 & 1) }
    let stored = stride(from: 0, to: 1500, by: 2)
    try garage.parkAll(stored.map { OfUUID(id: uuids[$0], kind: 1) })
    try garage.parkAll(stored.map { OfWideNumber(id: wides[$0], kind: 1) })
    let allUUIDs = try garage.retrieveAll(OfUUID.self)
    let allWides = try garage.retrieveAll(OfWideNumber.self)
    for count in [2, 9, 1100] {
      let someUUIDs = uuids.suffix(count)
      let wantedUUIDs = Set(someUUIDs)
      try expect(
        garage.query(OfUUID.self).where(\.id == .oneOf(someUUIDs)),
        allUUIDs.filter { wantedUUIDs.contains($0.id) }, [], "\(count) UUIDs")
      let someWides = wides.suffix(count)
      let wantedWides = Set(someWides)
      try expect(
        garage.query(OfWideNumber.self).where(\.id == .oneOf(someWides)),
        allWides.filter { wantedWides.contains($0.id) }, [], "\(count) wide numbers")
    }
  }

  // MARK: - Ranges

  /// Ranges in order meet as they do where each is compared with each.
  @Test func rangesThatMeet() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    func ranges() -> ValueRanges {
      var bounds: Set<UInt8> = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        bounds.insert(UInt8.random(in: 0...30, using: &random))
      }
      let sorted = bounds.sorted()
      let ranges = stride(from: 0, to: sorted.count - 1, by: Bool.random(using: &random) ? 1 : 2).map {
        ValueRanges.Range(
          lower: [sorted[$0]], upper: [sorted[$0 + 1]], isExact: Bool.random(using: &random),
          isPoint: Bool.random(using: &random))
      }
      return ValueRanges(ranges)
    }
    for _ in 0..<2000 {
      let (left, right) = (ranges(), ranges())
      let found = left.intersection(right).ranges
      var expected: [(lower: UInt8, upper: UInt8, isExact: Bool, isPoint: Bool)] = []
      for one in left.ranges {
        for other in right.ranges {
          let (lower, upper) = (max(one.lower[0], other.lower[0]), min(one.upper[0], other.upper[0]))
          if lower < upper {
            expected.append((lower, upper, one.isExact && other.isExact, one.isPoint || other.isPoint))
          }
        }
      }
      let isSame =
        found.count == expected.count
        && zip(found, expected).allSatisfy {
          $0.lower == [$1.lower] && $0.upper == [$1.upper] && $0.isExact == $1.isExact
            && $0.isPoint == $1.isPoint
        }
      #expect(isSame, "\(left) \(right), seed \(seed)")
    }
  }
}

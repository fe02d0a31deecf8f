import Foundation
import GarageStorage
import Testing

/// Queries find what a plain filter over all objects finds, in the order that they ask for.
@Suite struct QueryTests {
  private struct Population {
    var random: SeededGenerator
    let garage: Garage
    var all: [Specimen] = []

    init(_ backend: Backend, _ count: Int, _ seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      garage = try Place(backend).garage()
      all = (0..<count).map { Specimen($0, &random) }
      try garage.parkAll(all)
    }
  }

  @Test(arguments: Backend.allCases)
  func findsWhatAFilterFinds(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var population = try Population(backend, 200, seed)
    for _ in 0..<(runsLongTests ? 150 : 50) {
      let question = Question.random(like: population.all, depth: 3, &population.random)
      let expected = population.all.filter(question.holds)
      let query = population.garage.query(Specimen.self).where(question.condition)
      let hint: Comment = "\(question.condition), seed \(seed)"
      #expect(try query.retrieveAll().map(\.id) == expected.map(\.id), hint)
      #expect(try query.count() == expected.count, hint)
      #expect(try query.isEmpty() == expected.isEmpty, hint)
      #expect(try query.first()?.id == expected.first?.id, hint)
      #expect(try query.values(\.id) == expected.map(\.id), hint)
      #expect(try query.identifiers().count == expected.count, hint)
    }
  }

  @Test(arguments: Backend.allCases)
  func mostIsDecidedFromBytes(_ backend: Backend) throws {
    let population = try Population(backend, 10, 1)
    let query = population.garage.query(Specimen.self)
      .where(
        \.age == 18...65 && \.name == .hasPrefix("S") && \.nickname == nil && \.address.zip == "1"
          && \.second?.floor == nil && \.state == .open && \.tags == .contains("a"))
    let plan = try query.explain()
    #expect(!plan.description.contains("decodes"), "\(plan)")
    #expect(plan.readsAllRecords)
    #expect(plan.indexes.isEmpty)
    #expect(plan.description.contains("\\.name == .hasPrefix(\"S\")"), "\(plan)")
  }

  @Test(arguments: Backend.allCases)
  func sortsAndLimits(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    let population = try Population(backend, 150, seed)
    let query = population.garage.query(Specimen.self)
    func check<V: Comparable & Codable>(_ property: KeyPath<Specimen, V>) throws {
      for direction in SortDirection.allCases {
        let sorted = query.sorted(by: property, direction).sorted(by: \.small)
        let expected = population.all.sorted { left, right in
          let (a, b) = (left[keyPath: property], right[keyPath: property])
          if a < b || b < a { return (a < b) == (direction == .ascending) }
          return (left.small, left.id) < (right.small, right.id)
        }
        #expect(try sorted.retrieveAll().map(\.id) == expected.map(\.id), "\(property), seed \(seed)")
        #expect(try sorted.limit(7).values(\.id) == expected.prefix(7).map(\.id), "\(property), seed \(seed)")
        #expect(try sorted.first()?.id == expected[0].id)
        #expect(try sorted.limit(0).retrieveAll().isEmpty)
      }
    }
    try check(\.age)
    try check(\.huge)
    try check(\.name)
    try check(\.born)
    try check(\.address.zip)
  }

  @Test(arguments: Backend.allCases)
  func nilAndNaNComeFirst(_ backend: Backend) throws {
    let population = try Population(backend, 100, 3)
    let nicknames = try population.garage.query(Specimen.self).sorted(by: \.nickname).values(\.nickname)
    #expect(nicknames.firstIndex { $0 != nil } == population.all.filter { $0.nickname == nil }.count)
    let weights = try population.garage.query(Specimen.self).sorted(by: \.weight, .descending).values(
      \.weight)
    let numberCount = population.all.filter { !$0.weight.isNaN }.count
    #expect(weights.prefix(numberCount).allSatisfy { !$0.isNaN })
    #expect(weights.prefix(numberCount).elementsEqual(weights.prefix(numberCount).sorted(by: >)))
  }

  @Test(arguments: Backend.allCases)
  func valuesOfProperties(_ backend: Backend) throws {
    let population = try Population(backend, 120, 4)
    let (all, query) = (population.all, population.garage.query(Specimen.self))
    func check<V: Hashable & Codable>(_ property: KeyPath<Specimen, V>) throws {
      let expected = all.map { $0[keyPath: property] }
      #expect(try query.values(property) == expected, "\(property)")
      #expect(try Set(query.distinct(property)) == Set(expected), "\(property)")
      #expect(
        try query.countByValue(property) == Dictionary(expected.map { ($0, 1) }, uniquingKeysWith: +),
        "\(property)")
    }
    try check(\.age)
    try check(\.small)
    try check(\.huge)
    try check(\.name)
    try check(\.nickname)
    try check(\.isDone)
    try check(\.born)
    try check(\.seen)
    try check(\.token)
    try check(\.link)
    try check(\.blob)
    try check(\.state)
    try check(\.rank)
    try check(\.tags)
    try check(\.address.floor)
    let pairs = try query.where(\.isDone == true).sorted(by: \.age).limit(5).values(\.name, \.age)
    let expected = all.filter(\.isDone).sorted { ($0.age, $0.id) < ($1.age, $1.id) }.prefix(5)
    #expect(pairs.map(\.0) == expected.map(\.name))
    #expect(pairs.map(\.1) == expected.map(\.age))
  }

  @Test(arguments: Backend.allCases)
  func leastGreatestSumAndMean(_ backend: Backend) throws {
    let population = try Population(backend, 120, 5)
    let (all, query) = (population.all, population.garage.query(Specimen.self))
    #expect(try query.min(\.age) == all.map(\.age).min())
    #expect(try query.max(\.name) == all.map(\.name).max())
    #expect(try query.max(\.seen) == all.compactMap(\.seen).max())
    #expect(try query.min(\.weight) == all.map(\.weight).filter { !$0.isNaN }.min())
    #expect(try query.min(\.address.floor) == all.compactMap(\.address.floor).min())
    #expect(try query.where(\.id < 0).max(\.age) == nil)
    #expect(try query.average(\.id) == 59.5)
    #expect(try query.sum(\.id) == 119 * 60)
    #expect(try query.where(\.id < 0).sum(\.small) == 0)
    #expect(try query.where(\.id < 0).average(\.small) == nil)
    #expect(throws: GarageError.sumOutOfRange(type: "Specimen", property: "\\.small")) {
      try query.where(\.small > 0).sum(\.small)
    }
  }

  private struct Booking: Codable, Identifiable {
    var id: Int
    var tiny: Int8
    var small: Int32
    var number: Int
    var count: UInt8
    var credit: Int16?
    var wide: Int128
    var most: UInt128 = 0
  }

  /// What is too large only on the way to a sum is no error, in whichever order it comes.
  @Test(arguments: Backend.engines)
  func sumsThatFitAreGiven(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let query = garage.query(Booking.self)
    for ids in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      try garage.parkAll([
        Booking(
          id: ids[0], tiny: .max, small: .max, number: .max, count: 200, credit: .max, wide: .max,
          most: .max - 5),
        Booking(id: ids[1], tiny: 1, small: 1, number: 1, count: 55, credit: 1, wide: 1, most: 2),
        Booking(id: ids[2], tiny: -5, small: -5, number: -5, count: 0, credit: -5, wide: -5, most: 3),
        Booking(id: 3, tiny: 0, small: 0, number: 0, count: 0, credit: nil, wide: 0),
      ])
      #expect(try query.sum(\.tiny) == .max - 4)
      #expect(try query.sum(\.small) == .max - 4)
      #expect(try query.sum(\.number) == .max - 4)
      #expect(try query.sum(\.count) == 255)
      #expect(try query.sum(\.credit) == .max - 4)
      #expect(try query.sum(\.wide) == .max - 4)
      #expect(try query.sum(\.most) == .max)
    }
    try garage.park(Booking(id: 4, tiny: 5, small: 5, number: 5, count: 1, credit: 5, wide: 5, most: 1))
    func expectTooLarge(_ property: String, _ sum: () throws -> Void) {
      #expect(throws: GarageError.sumOutOfRange(type: "Booking", property: property)) { try sum() }
    }
    expectTooLarge("\\.tiny") { _ = try query.sum(\.tiny) }
    expectTooLarge("\\.small") { _ = try query.sum(\.small) }
    expectTooLarge("\\.number") { _ = try query.sum(\.number) }
    expectTooLarge("\\.count") { _ = try query.sum(\.count) }
    expectTooLarge("\\.credit") { _ = try query.sum(\.credit) }
    expectTooLarge("\\.wide") { _ = try query.sum(\.wide) }
    expectTooLarge("\\.most") { _ = try query.sum(\.most) }
  }

  /// A number of two parts.
  private struct Money: Numeric, Codable, Comparable {
    var units: Int
    var cents: Int

    init(_ units: Int, _ cents: Int) { (self.units, self.cents) = (units, cents) }
    init(integerLiteral value: Int) { self.init(value, 0) }
    init?(exactly source: some BinaryInteger) {
      guard let units = Int(exactly: source) else { return nil }
      self.init(units, 0)
    }
    var magnitude: Money { Money(abs(units), abs(cents)) }
    static func < (left: Money, right: Money) -> Bool {
      (left.units, left.cents) < (right.units, right.cents)
    }
    static func + (left: Money, right: Money) -> Money {
      Money(left.units + right.units, left.cents + right.cents)
    }
    static func - (left: Money, right: Money) -> Money {
      Money(left.units - right.units, left.cents - right.cents)
    }
    static func * (left: Money, right: Money) -> Money { Money(left.units * right.units, 0) }
    static func *= (left: inout Money, right: Money) { left = left * right }
  }

  private struct Order: Codable, Identifiable {
    var id: Int
    var price: Money
    var tip: Money?
  }

  /// What is not stored as one number has no mean, which is no reason to say that there is none of it.
  @Test(arguments: Backend.engines)
  func meansOfWhatIsNoSingleNumber(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let query = garage.query(Order.self)
    #expect(try query.average(\.price) == nil)
    try garage.parkAll((0..<3).map { Order(id: $0, price: Money($0, 5), tip: nil) })
    #expect(try query.sum(\.price) == Money(3, 15))
    #expect(try query.where(\.id < 0).average(\.price) == nil)
    #expect(try query.average(\.tip) == nil)
    let error = #expect(throws: GarageError.self) { try query.average(\.price) }
    #expect(error?.description.contains("\\.price") == true)
    try garage.park(Order(id: 3, price: 0, tip: 1))
    #expect(throws: GarageError.self) { try query.average(\.tip) }
  }

  @Test(arguments: Backend.allCases)
  func changesWhatIsFound(_ backend: Backend) throws {
    let population = try Population(backend, 600, 6)
    let (all, garage) = (population.all, population.garage)
    let query = garage.query(Specimen.self).where(\.isDone == true)
    let expected = all.filter(\.isDone)
    #expect(try query.updateAll { $0.age = 5 } == expected.count)
    #expect(try garage.query(Specimen.self).where(\.age == 5).count() == expected.count)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try query.updateAll {
        $0.age = 6
        if $0.id > 500 { throw Failure() }
      }
    }
    #expect(try garage.query(Specimen.self).where(\.age == 6).isEmpty())
    #expect(throws: GarageError.self) { try query.limit(1).updateAll { $0.id += 10_000 } }
    #expect(try garage.count(Specimen.self) == all.count)
    #expect(try query.deleteAll() == expected.count)
    #expect(try garage.retrieveAll(Specimen.self).map(\.id) == all.filter { !$0.isDone }.map(\.id))
    let error = #expect(throws: GarageError.self) {
      try garage.read { try $0.query(Specimen.self).deleteAll() }
    }
    #expect("\(error as Any)".contains("cannot change them, because a GarageReader made it"))
  }

  @Test(arguments: Backend.allCases)
  func insideTransactionsAndOverUnsavedChanges(_ backend: Backend) throws {
    var population = try Population(backend, 50, 7)
    let garage = population.garage
    let more = (50..<60).map { Specimen($0, &population.random) }
    struct Done: Error {}
    #expect(throws: Done.self) {
      try garage.write { writer in
        let query = writer.query(Specimen.self).where(\.id >= 50)
        try writer.parkAll(more)
        #expect(try query.count() == 10)
        var seen: [Int] = []
        try query.forEach { specimen in
          seen.append(specimen.id)
          try writer.delete(specimen)
        }
        #expect(seen == Array(50..<60))
        #expect(try query.isEmpty())
        #expect(try garage.query(Specimen.self).where(\.id >= 50).isEmpty())
        throw Done()
      }
    }
    try garage.withAutosaveDisabled { try garage.parkAll(more) }
    #expect(
      try garage.query(Specimen.self).where(\.id >= 50).sorted(by: \.id, .descending).values(\.id).first == 59
    )
    #expect(try garage.query(Specimen.self).where(\.id < 2 || \.id > 57).values(\.id) == [0, 1, 58, 59])
    let kept = try garage.read { $0.query(Specimen.self) }
    #expect(throws: GarageError.transactionEnded) { try kept.count() }
  }

  @Test(arguments: Backend.allCases)
  func pages(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var population = try Population(backend, 97, seed)
    let garage = population.garage
    let base = garage.query(Specimen.self).where(\.small < 255)
    let queries = [
      base, base.sorted(by: \.name), base.sorted(by: \.weight, .descending).sorted(by: \.nickname),
      base.sorted(by: \.price).sorted(by: \.seen, .descending), base.sorted(by: \.huge).limit(20),
    ]
    for query in queries {
      let expected = try query.values(\.id)
      var (found, cursor) = ([Int](), nil as QueryCursor?)
      repeat {
        let page = try query.page(after: cursor, size: 10)
        #expect(page.objects.count == min(10, expected.count - found.count), "\(query), seed \(seed)")
        found += page.objects.map(\.id)
        // As it comes back after a restart.
        cursor = try page.next.map {
          try JSONDecoder().decode(QueryCursor.self, from: JSONEncoder().encode($0))
        }
      } while cursor != nil && found.count < 1000
      #expect(found == expected, "\(query), seed \(seed)")
    }
    // What is changed before the cursor moves nothing behind it.
    let query = base.sorted(by: \.name)
    let expected = try query.values(\.id)
    let first = try query.page(size: 10)
    try garage.delete(Specimen.self, identifier: expected[9])
    try garage.delete(Specimen.self, identifier: expected[3])
    let second = try query.page(after: first.next, size: 10)
    #expect(second.objects.map(\.id) == Array(expected[10..<20]))
    #expect(throws: GarageError.self) { try base.page(after: first.next, size: 10) }
    #expect(throws: GarageError.self) { try base.page(size: 0) }
    _ = population.random.next()
  }

  /// A cursor may have been sent to somebody who changed it: that is an error or another page, and nothing worse.
  @Test(arguments: Backend.allCases)
  func pagesBehindChangedCursors(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var population = try Population(backend, 30, seed)
    let base = population.garage.query(Specimen.self)
    let queries = [
      base, base.sorted(by: \.id), base.sorted(by: \.name), base.sorted(by: \.weight, .descending),
      base.sorted(by: \.seen).limit(9),
    ]
    for query in queries {
      guard let cursor = try query.page(size: 5).next else { continue }
      let bytes = try [UInt8](JSONEncoder().encode(cursor))
      for _ in 0..<150 {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...2, using: &population.random) {
          let place = bytes.indices.randomElement(using: &population.random)!
          switch Int.random(in: 0..<4, using: &population.random) {
          case 0: bytes.remove(at: place)
          case 1: bytes.insert(contentsOf: "-9".utf8, at: place)
          case 2: bytes[place] = UInt8.random(in: 32..<127, using: &population.random)
          default: bytes.replaceSubrange(place..<min(place + 6, bytes.count), with: "".utf8)
          }
        }
        guard let changed = try? JSONDecoder().decode(QueryCursor.self, from: Data(bytes)) else { continue }
        let hint: Comment = "\(String(decoding: bytes, as: UTF8.self)), seed \(seed)"
        do {
          #expect(try query.page(after: changed, size: 5).objects.count <= 5, hint)
        } catch {
          #expect(error is GarageError, hint)
        }
      }
      let json = String(decoding: bytes, as: UTF8.self)
      for count in [-1, Int.min, .max, .max - 1] {
        let changed = try JSONDecoder().decode(
          QueryCursor.self,
          from: Data(json.replacingOccurrences(of: "\"count\":5", with: "\"count\":\(count)").utf8))
        #expect(changed != cursor)
        if count < 0 {
          let error = #expect(throws: GarageError.self) { try query.page(after: changed, size: 5) }
          #expect(error?.description.contains("cursor") == true)
        } else {
          #expect(try query.page(after: changed, size: 5).objects.count <= 1)
        }
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func predicates(_ backend: Backend) throws {
    let population = try Population(backend, 50, 8)
    let query = population.garage.query(Specimen.self).where(\.id < 40)
    let found = try query.where(matching: #Predicate<Specimen> { $0.isDone && $0.small > 1 }).values(\.id)
    #expect(found == population.all.filter { $0.id < 40 && $0.isDone && $0.small > 1 }.map(\.id))
  }
}

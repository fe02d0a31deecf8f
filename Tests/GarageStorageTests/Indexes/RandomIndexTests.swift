import Foundation
import Testing

@testable import GarageStorage

/// With any indexes a query finds what a plain filter over all objects finds.
@Suite(.serialized) struct RandomIndexTests {
  private struct Population {
    var random: SeededGenerator
    var all: [Int: Specimen] = [:]

    var sorted: [Specimen] { all.values.sorted { $0.id < $1.id } }

    /// Parks, replaces and deletes some.
    mutating func change(_ writer: some GarageWriting, _ count: Int) throws {
      for _ in 0..<count {
        let id = Int.random(in: 0..<150, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          if all.removeValue(forKey: id) != nil { try writer.delete(Specimen.self, identifier: id) }
        case 1:
          let some = (id..<id + 5).map { Specimen($0, &random) }
          for specimen in some { all[specimen.id] = specimen }
          try writer.parkAll(some)
        case 2:
          if var specimen = all[id] {
            specimen.age = 7
            all[id] = specimen
            try writer.park(specimen)
          }
        default:
          let specimen = Specimen(id, &random)
          all[id] = specimen
          try writer.park(specimen)
        }
      }
    }

    /// Asks random questions, and compares the answers.
    mutating func ask(_ reader: some GarageReading, _ count: Int, _ hint: String) throws {
      let sorted = sorted
      for number in 0..<count {
        let question = Question.random(like: sorted, depth: number % 4, &random)
        let expected = sorted.filter(question.holds).map(\.id)
        let query = reader.query(Specimen.self).where(question.condition)
        func hinted() -> Comment {
          "\(question.condition): \((try? query.explain())?.description ?? ""), \(hint)"
        }
        let found = try query.values(\.id)
        if found != expected { #expect(found == expected, hinted()) }
        let foundCount = try query.count()
        if foundCount != expected.count { #expect(foundCount == expected.count, hinted()) }
        switch number % 6 {
        case 0: #expect(try query.retrieveAll().map(\.id) == expected)
        case 1: #expect(try query.identifiers().count == expected.count)
        case 2: #expect(try query.first()?.id == expected.first)
        case 3: #expect(try query.limit(3).values(\.id) == Array(expected.prefix(3)))
        case 4: #expect(try pages(of: query, size: 5) == expected, hinted())
        default: break
        }
        if number % 3 == 0 { try askSorted(query, sorted.filter(question.holds), number / 3, hinted) }
      }
    }

    private mutating func askSorted(
      _ query: Query<Specimen>, _ expected: [Specimen], _ number: Int, _ hint: () -> Comment
    ) throws {
      func check<V: Comparable & Codable>(_ property: KeyPath<Specimen, V>, _ limit: Int) throws {
        let direction: SortDirection = number % 2 == 0 ? .ascending : .descending
        let ordered = expected.sorted { left, right in
          let (a, b) = (left[keyPath: property], right[keyPath: property])
          if a < b || b < a { return (a < b) == (direction == .ascending) }
          return left.id < right.id
        }
        let sorted = query.sorted(by: property, direction)
        let found = try sorted.limit(limit).values(\.id)
        if found != ordered.prefix(limit).map(\.id) {
          #expect(found == ordered.prefix(limit).map(\.id), hint())
          Issue.record("\(try sorted.limit(limit).explain())")
        }
        guard number % 8 < 2 else { return }
        #expect(try sorted.values(\.id) == ordered.map(\.id), hint())
        #expect(try pages(of: sorted, size: 7) == ordered.map(\.id), hint())
      }
      let limit = [1, 5, 20, 200][number % 4]
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try check(\.age, limit)
      case 1: try check(\.huge, limit)
      case 2: try check(\.name, limit)
      case 3: try check(\.born, limit)
      case 4: try check(\.address.zip, limit)
      case 5: try check(\.small, limit)
      case 6: try check(\.id, limit)
      default: break
      }
    }

    private func pages(of query: Query<Specimen>, size: Int) throws -> [Int] {
      var (found, cursor) = ([Int](), nil as QueryCursor?)
      repeat {
        let page = try query.page(after: cursor, size: size)
        found += page.objects.map(\.id)
        cursor = page.next
      } while cursor != nil
      return found
    }
  }

  /// Conditions in the store, in a transaction, over unsaved changes, before and after changes: a long test has over
  /// ten thousand.
  @Test(arguments: Backend.engines)
  func findsWhatAFilterFinds(_ backend: Backend) throws {
    let start = Int.random(in: 0..<6)
    for round in start..<start + (runsLongTests ? 6 : 1) {
      let seed = UInt64.random(in: 0 ... .max)
      let hint = "round \(round), seed \(seed)"
      var population = Population(random: SeededGenerator(seed: seed))
      let garage = try Place(backend).garage()
      let declared = specimenIndexes(backend, &population.random)
      // Filled afterwards, maintained from the beginning, or some of both.
      if round % 3 > 0 { try garage.make(Array(declared.prefix(round % 3 == 1 ? declared.count : 5))) }
      try population.change(garage, 60)
      try garage.make(declared)
      #expect(try garage.verifyIndexes().isSound, "\(hint)")
      try population.ask(garage, 150, hint)
      try population.change(garage, 40)
      try population.ask(garage, 80, hint)
      let before = population.all
      struct Done: Error {}
      #expect(throws: Done.self, "\(hint)") {
        try garage.write { writer in
          try population.change(writer, 30)
          try population.ask(writer, 80, hint)
          throw Done()
        }
      }
      population.all = before
      garage.isAutosaveEnabled = false
      try population.change(garage, 30)
      try population.ask(garage, 80, hint)
      try garage.save()
      garage.isAutosaveEnabled = true
      let report = try garage.verifyIndexes()
      #expect(report.isSound, "\(report), \(hint)")
      try population.ask(garage, 60, hint)
    }
  }

  /// Indexes are used, and not only right.
  @Test(arguments: Backend.allCases)
  func indexesAreUsed(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 3)
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<100).map { Specimen($0, &random) })
    try garage.make(
      [
        Index(\.age, .readable), Index(\.state, \.name, .readable), Index(each: \.tags, .readable),
        Index(\.nickname, .hashed), Index(\.price, .readable),
      ] as [Index<Specimen>])
    let query = garage.query(Specimen.self)
    func indexes(_ query: Query<Specimen>) throws -> [String] { try query.explain().indexes }
    #expect(try indexes(query.where(\.age == 18)) == ["age"])
    #expect(try indexes(query.where(\.age > 18 && \.age < 64 && \.isDone == true)) == ["age"])
    #expect(try indexes(query.where(\.state == .open && \.name == .hasPrefix("c"))) == ["state, name"])
    #expect(try indexes(query.where(\.tags == .contains("a"))) == ["tags"])
    #expect(try indexes(query.where(\.nickname == "Sam")) == ["nickname"])
    #expect(try indexes(query.where(\.nickname == .hasPrefix("S"))).isEmpty)
    #expect(try indexes(query.where(\.age == 1 || \.price == 1)) == ["age", "price"])
    #expect(try indexes(query.sorted(by: \.age, .descending).limit(20)) == ["age"])
    #expect(try indexes(query.where(\.state == .new).sorted(by: \.name).limit(3)) == ["state, name"])
    #expect(try indexes(query.where(\.isDone == true)).isEmpty)
    let plan = try query.where(\.isDone == true && \.small > 3).explain()
    #expect(plan.readsAllRecords)
    #expect(plan.description.contains("would read less with Index(\\.isDone, \\.small"), "\(plan)")
    #expect(try !query.where(\.age == 18).explain().readsAllRecords)
  }
}

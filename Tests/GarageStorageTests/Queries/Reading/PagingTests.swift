import Foundation
import Testing

@testable import GarageStorage

/// Pages are what a sorted filter has behind the place of the page before, whatever changes in between.
@Suite struct PagingTests {
  private static let open = Backend.engines.filter { !$0.isSealed }

  /// What stands on a shelf: many have the same values.
  private struct Ware: Codable, Identifiable, Equatable {
    var id: Int
    var kind: Int
    var name: String?
    var weight: Double
    var tags: [String]

    init(_ id: Int, _ random: inout SeededGenerator) {
      let long = String(repeating: "long ", count: 50)
      let names = [nil, "", "a", "b", "b ", "c", long, long + "a", long + "b", long + long + "a"]
      self.id = id
      kind = Int.random(in: 0..<4, using: &random)
      name = names.randomElement(using: &random) ?? nil
      weight = [-1.5, -0.0, 0, 1, 1 / 3, 2].randomElement(using: &random) ?? 0
      tags = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }
    }

    static let names: (short: String, long: String) = ("b", String(repeating: "long ", count: 50) + "a")
  }

  /// A query, and the same in plain Swift.
  private struct Listing {
    var query: Query<Ware>
    var name: String
    var holds: (Ware) -> Bool
    /// Less than 0 where the left one comes first, 0 where the identifiers decide.
    var order: (Ware, Ware) -> Int = { _, _ in 0 }

    func isBefore(_ left: Ware, _ right: Ware) -> Bool {
      let order = order(left, right)
      return order == 0 ? left.id < right.id : order < 0
    }

    func sorted<V: Comparable & Codable>(
      _ name: String, by property: KeyPath<Ware, V>, _ direction: SortDirection
    ) -> Listing {
      var listing = self
      listing.query = query.sorted(by: property, direction)
      listing.add(name, direction) { left, right in
        let (a, b) = (left[keyPath: property], right[keyPath: property])
        return a < b ? -1 : b < a ? 1 : 0
      }
      return listing
    }

    func sortedByName(_ direction: SortDirection) -> Listing {
      var listing = self
      listing.query = query.sorted(by: \.name, direction)
      listing.add("name", direction) { left, right in
        switch (left.name, right.name) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let a?, let b?): a < b ? -1 : b < a ? 1 : 0
        }
      }
      return listing
    }

    private mutating func add(
      _ name: String, _ direction: SortDirection, _ next: @escaping (Ware, Ware) -> Int
    ) {
      let first = order
      order = { left, right in
        let order = first(left, right)
        if order != 0 { return order }
        return direction == .ascending ? next(left, right) : -next(left, right)
      }
      self.name += " by \(name), \(direction)"
    }
  }

  private func unsorted(_ query: Query<Ware>) -> [Listing] {
    let (short, long) = Ware.names
    func listing(
      _ name: String, _ condition: Condition<Ware>, _ holds: @escaping (Ware) -> Bool
    ) -> Listing {
      Listing(query: query.where(condition), name: name, holds: holds)
    }
    return [
      Listing(query: query, name: "all", holds: { _ in true }),
      listing("of a kind", \.kind == 1) { $0.kind == 1 },
      listing("of two kinds", \.kind == .oneOf([0, 2])) { $0.kind == 0 || $0.kind == 2 },
      listing("of a kind or a weight", \.kind == 1 || \.weight == 0) { $0.kind == 1 || $0.weight == 0 },
      listing("of a kind and a weight", \.kind == .oneOf([1, 3]) && \.weight == .oneOf([0, 1])) {
        [1, 3].contains($0.kind) && [0, 1].contains($0.weight)
      },
      listing("of a kind, heavy", \.kind == 1 && \.weight > 0) { $0.kind == 1 && $0.weight > 0 },
      listing("of a kind and a name", \.kind == 1 && \.name == short) { $0.kind == 1 && $0.name == short },
      listing("kinds behind one", \.kind >= 1) { $0.kind >= 1 },
      listing("heavy", \.weight >= 1) { $0.weight >= 1 },
      listing("of a long name", \.name == long) { $0.name == long },
      listing("of no name", \.name == nil) { $0.name == nil },
      listing("with a tag", \.tags == .contains("a")) { $0.tags.contains("a") },
      listing("with one tag or another", \.tags == .contains("a") || \.tags == .contains("b")) {
        $0.tags.contains("a") || $0.tags.contains("b")
      },
    ]
  }

  private func listings(_ query: Query<Ware>) -> [Listing] {
    let unsorted = unsorted(query)
    return unsorted
      + [SortDirection.ascending, .descending].flatMap { direction in
        unsorted.flatMap { listing in
          [
            listing.sorted("kind", by: \.kind, direction), listing.sortedByName(direction),
            listing.sorted("kind", by: \.kind, direction).sortedByName(direction),
            listing.sorted("weight", by: \.weight, direction), listing.sorted("id", by: \.id, direction),
          ]
        }
      }
  }

  private static let indexes: [Index<Ware>] = [
    Index(\.kind), Index(\.name), Index(\.weight), Index(\.kind, \.name), Index(\.kind, \.weight),
    Index(\.weight, \.kind, \.name), Index(\.kind, \.id), Index(each: \.tags),
    Index("kind, hashed", \.kind, .hashed),
  ]

  /// With all indexes, with some, and with none.
  @Test(arguments: open)
  func areSlices(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let some = PagingTests.indexes.filter { _ in Bool.random(using: &random) }
    for indexes in [PagingTests.indexes, some, []] {
      let garage = try Place(backend).garage()
      try garage.make(indexes)
      var wares = (0..<60).map { Ware($0, &random) }
      try garage.parkAll(wares)
      for listing in listings(garage.query(Ware.self)) {
        let size = [1, 4, 7, 30].randomElement(using: &random) ?? 1
        var (cursor, place) = (nil as QueryCursor?, nil as Ware?)
        repeat {
          let found = wares.filter(listing.holds).sorted(by: listing.isBefore)
          let expected = found.filter { ware in place.map { listing.isBefore($0, ware) } ?? true }
          let page = try listing.query.page(after: cursor, size: size)
          let hint: Comment =
            "\(listing.name), pages of \(size), \(indexes.count) indexes, seed \(seed)"
          if page.objects != Array(expected.prefix(size)) {
            #expect(page.objects.map(\.id) == expected.prefix(size).map(\.id), hint)
            Issue.record("\(try listing.query.limit(size).explain())")
            return
          }
          place = page.objects.last
          // As somebody has it who kept it.
          cursor = try page.next.map {
            try JSONDecoder().decode(QueryCursor.self, from: JSONEncoder().encode($0))
          }
          if size > 1, Int.random(in: 0..<4, using: &random) == 0 {
            try change(&wares, garage, &random)
          }
        } while cursor != nil
      }
    }
  }

  /// One goes, which may be the last of the page before, one comes, and one gets other values.
  private func change(_ wares: inout [Ware], _ garage: Garage, _ random: inout SeededGenerator) throws {
    let gone = wares.remove(at: Int.random(in: wares.indices, using: &random))
    try garage.delete(Ware.self, identifier: gone.id)
    let new = Ware(Int.random(in: -1000..<1000, using: &random), &random)
    wares.removeAll { $0.id == new.id }
    wares.append(new)
    let changed = Int.random(in: wares.indices, using: &random)
    wares[changed] = Ware(wares[changed].id, &random)
    try garage.parkAll([new, wares[changed]])
  }

  /// Inside a transaction that changes, and over what is not saved, entries are not all that there is.
  @Test(arguments: open)
  func ofUnsavedChanges(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    try garage.make(PagingTests.indexes)
    var wares = (0..<60).map { Ware($0, &random) }
    try garage.parkAll(wares)
    garage.isAutosaveEnabled = false
    func check(_ reader: some GarageReading) throws {
      for listing in listings(reader.query(Ware.self)) {
        let expected = wares.filter(listing.holds).sorted(by: listing.isBefore)
        let found = try pages(of: listing.query, size: 9)
        #expect(found.map(\.id) == expected.map(\.id), "\(listing.name), seed \(seed)")
      }
    }
    for _ in 0..<10 { try change(&wares, garage, &random) }
    try check(garage)
    try garage.save()
    garage.isAutosaveEnabled = true
    try garage.write { writer in
      wares[0].kind = 3
      try writer.park(wares[0])
      try check(writer)
    }
  }

  /// In a sealed store entries have hashes of values, and records may have hashes of identifiers.
  @Test(arguments: Backend.engines)
  func ofHashedValues(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Place(backend).garage()
    try garage.make([Index(\.kind, .hashed), Index("name", \.name, .hashed)] as [Index<Ware>])
    try garage.parkAll((0..<80).map { Ware($0, &random) })
    let query = garage.query(Ware.self)
    for query in [
      query.where(\.kind == 1), query.where(\.kind == .oneOf([1, 2])), query.where(\.name == Ware.names.long),
      query.where(\.kind == 1 || \.name == "b"), query.where(\.name == nil),
    ] {
      let all = try query.retrieveAll()
      for size in [1, 5, 200] {
        let found = try pages(of: query, size: size)
        #expect(found == all, "\(query), pages of \(size), seed \(seed)")
      }
    }
  }

  /// A cursor that a page of a former version ended with.
  @Test(arguments: Backend.engines)
  func afterAnOldCursor(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 1)
    let garage = try Place(backend).garage()
    try garage.make([Index(\.kind, .readable), Index(\.kind, \.weight, .readable)] as [Index<Ware>])
    try garage.parkAll(
      (0..<20).map { id in
        var ware = Ware(id, &random)
        (ware.kind, ware.weight) = (1, Double(id / 5))
        return ware
      })
    let query = garage.query(Ware.self).where(\.kind == 1).sorted(by: \.weight)
    let first = try query.page(size: 8)
    let identifier = try #require(first.next).identifier
    let text = """
      {"order":["\\\\.weight"],"values":[["double","\((1.0).bitPattern)"]],"identifier":\(identifier),"count":8}
      """
    let cursor = try JSONDecoder().decode(QueryCursor.self, from: Data(text.utf8))
    let expected = try query.retrieveAll()
    #expect(try first.objects + query.page(after: cursor, size: 12).objects == expected)
  }

  private func pages(of query: Query<Ware>, size: Int) throws -> [Ware] {
    var (found, cursor) = ([Ware](), nil as QueryCursor?)
    repeat {
      let page = try query.page(after: cursor, size: size)
      found += page.objects
      cursor = page.next
    } while cursor != nil
    return found
  }
}

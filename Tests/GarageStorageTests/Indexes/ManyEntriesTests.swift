import Foundation
import GarageDriver
import Testing

@testable import GarageStorage

/// Objects that are parked together have the same entries in all indexes as those that are parked one after another.
@Suite struct ManyEntriesTests {
  struct Guest: Codable, Identifiable, Equatable, Indexed {
    var id: String
    /// Few values, and long beginnings in common.
    var room: String
    var floor: Int
    /// No two alike.
    var ticket: String
    var weight: Double?
    var notes: [String]
    var friends: [Reference<Guest>]
    /// Kept as a reference of another kind.
    var hub: Hub
    var hubs: [Reference<Hub>]

    static var indexes: [Index<Guest>] {
      [
        Index(\.room), Index(\.floor), Index(\.ticket, .unique), Index(\.room, \.floor), Index(\.weight),
        Index(each: \.notes),
      ]
    }

    init(_ number: Int, _ random: inout SeededGenerator) {
      func identifier() -> String { "guest \(Int.random(in: 0..<3_000, using: &random))" }
      id = "guest \(number)"
      let beginning = ["", "\0", "a", "a\0", "house by the sea, ", String(repeating: "long ", count: 60)]
      room = beginning.randomElement(using: &random)! + "\(Int.random(in: 0..<3, using: &random))"
      floor = Int.random(in: -2...300, using: &random)
      ticket =
        "a ticket with a long beginning, \(number % 10)\(UInt64.random(in: 0 ... .max, using: &random))"
      weight = Bool.random(using: &random) ? nil : Double.random(in: -1e9...1e9, using: &random)
      notes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        "\(Int.random(in: 0..<50, using: &random))"
      }
      friends = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        Reference(Guest.self, identifier: identifier())
      }
      hub = Hub(id: "hub \(Int.random(in: 0..<9, using: &random))")
      // Some refer to it in two ways.
      hubs = (0..<Int.random(in: 0...12, using: &random)).map { Reference(Hub.self, identifier: "hub \($0)") }
    }
  }

  private func entries(_ garage: Garage) throws -> [StorageKey: [UInt8]] {
    var entries: [StorageKey: [UInt8]] = [:]
    try garage.withReadAccess { access in
      try access.transaction.scan(KeyLayout.allEntries, .forward) { key, value in
        entries[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
    }
    return entries
  }

  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func haveTheSameEntries(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var guests = (0..<(runsLongTests ? 1_100 : 250)).map { Guest($0, &random) }
    var parked: [String: Guest] = [:]
    let (place, other) = (try Place(backend), try Place(.memory))
    let together = try backend.relations(place, isIndexed: true)
    let oneByOne = try Backend.memory.relations(other, isIndexed: true)
    // All, and all once more; then so many of them that most or few of what stands between is met, and some that are new.
    for (pass, share) in [1, 1, 0.4, 0.02, 0.9].enumerated() {
      let chosen = guests.filter { _ in Double.random(in: 0..<1, using: &random) < share }
      try together.parkAll(chosen)
      try oneByOne.write { writer in for guest in chosen { try writer.park(guest) } }
      #expect(try entries(together) == entries(oneByOne), "pass \(pass), seed \(seed)")
      #expect(try together.verifyIndexes().isSound, "pass \(pass), seed \(seed)")
      let byRoom = try together.query(Guest.self).sorted(by: \.floor).retrieveAll()
      for guest in chosen { parked[guest.id] = guest }
      let expected = parked.values.sorted { $0.id < $1.id }.stableSorted { $0.floor < $1.floor }
      #expect(byRoom == expected, "pass \(pass), seed \(seed)")
      // Then half of them change.
      for index in guests.indices where Bool.random(using: &random) { guests[index] = Guest(index, &random) }
      guests += (0..<50).map { Guest(guests.count + $0, &random) }
    }
  }

  /// Uniqueness is told by neighbours, and drivers put ascending keys faster.
  ///
  /// What is gathered in the order of the records' keys is sorted by less than whole keys, and in no other order; what is
  /// gathered later is sorted into it.
  @Test(arguments: runsLongTests ? [2, 40, 300, 3_000, 9_000] : [2, 40, 300, 3_000], [true, false])
  func areSorted(count: Int, isGatheredInOrder: Bool) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Backend.memory.relations(Place(.memory), isIndexed: true)
    let guests = (0..<count).map { Guest($0, &random) }
    try garage.parkAll(guests)
    try garage.withReadAccess { access in
      let catalog = try #require(try garage.indexing.catalog(in: access.transaction))
      let batch = IndexBatch(catalog, garage.indexing.keys, garage.indexing.texts)
      let records = KeyLayout.records(tag: try RecordTypeFacts.of(Guest.self).tag)
      for digit in UInt8(0)..<(isGatheredInOrder ? 1 : 7) {
        try access.transaction.scan(records, .forward) { key, record in
          let last = [UInt8](copying: key).last.unsafelyUnwrapped
          guard isGatheredInOrder || last % 7 == digit else { return .continue }
          try batch.fill(key, record, Array(batch.parts.indices), in: access.transaction)
          return .continue
        }
        // More may be gathered behind what was sorted.
        if digit == 3 { try batch.sort() }
      }
      if count > 7 { #expect(batch.isGatheredInOrder == isGatheredInOrder) }
      try batch.sort()
      for part in batch.parts {
        #expect(part.added.count >= count || part.isOfMany)
        let keys = part.added.map { batch.withBytes($0.start, $0.keyCount) { StorageKey($0) } }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "\(part.item.name), seed \(seed)")
      }
    }
  }
}

extension Array {
  fileprivate func stableSorted(by isBefore: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted { left, right in
      if isBefore(left.element, right.element) { return true }
      if isBefore(right.element, left.element) { return false }
      return left.offset < right.offset
    }.map(\.element)
  }
}

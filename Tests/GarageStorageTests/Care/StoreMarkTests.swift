import Foundation
import GarageDriver
import GarageStorage
import Testing

/// What is another in a store than before is found out by its marks: all of it, and nothing else.
@Suite struct StoreMarkTests {
  @Test(arguments: Backend.allCases, [false, true])
  func differencesAreWhatWasChanged(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let garage = try Garage(Place(backend).open(), hidesIdentifiers: hidesIdentifiers)
    let name = String(reflecting: Counter.self)
    var marks = StoreMarks()
    #expect(try garage.differences(from: &marks, limit: 10).isEmpty)
    var present: [Int: Int] = [:]
    for round in 0..<12 {
      var after = present
      try garage.write { writer in
        for _ in 0..<Int.random(in: 0...20, using: &random) {
          let id = Int.random(in: 0..<40, using: &random)
          if after[id] != nil && Bool.random(using: &random) {
            try writer.delete(Counter.self, identifier: id)
            after[id] = nil
          } else {
            // Never the same again, so that it is another one though it was parked in the same millisecond.
            after[id] = (after[id] ?? 0) + 1 + round * 100
            try writer.park(Counter(id: id, value: after[id]!))
          }
        }
        if round % 3 == 1 { try writer.set(CareKeys.number, value: round) }
        if round % 3 == 2 { try writer.remove(CareKeys.number) }
      }
      let found = try garage.differences(from: &marks, limit: 1000)
      func ids(_ kind: StoreDifferences.Kind) -> Set<String> {
        Set(found.entries.filter { $0.kind == kind && $0.type == name }.map(\.name))
      }
      let what = "round \(round), seed \(seed)"
      let added = Set(after.keys.filter { present[$0] == nil }.map(String.init))
      let changed = Set(
        after.filter { present[$0.key] != nil && present[$0.key] != $0.value }.map { "\($0.key)" })
      let removed = Set(present.keys.filter { after[$0] == nil })
      #expect(ids(.added) == added && ids(.changed) == changed, "\(what)")
      #expect(found.objectCounts[.removed, default: 0] == removed.count, "\(what)")
      // Of what is gone from a garage that hides identifiers nobody knows them.
      if hidesIdentifiers {
        #expect(ids(.removed).allSatisfy { $0.hasPrefix("hidden as ") }, "\(what)")
      } else {
        #expect(ids(.removed) == Set(removed.map(String.init)), "\(what)")
      }
      let keyKind: [StoreDifferences.Kind: Int] =
        round % 3 == 1 ? [.added: 1] : round % 3 == 2 ? [.removed: 1] : [:]
      #expect(found.keyCounts == keyKind, "\(what)")
      #expect(found.entries.filter { $0.type == nil }.allSatisfy { $0.name == "care:number" }, "\(what)")
      present = after
    }
    #expect(try garage.differences(from: &marks, limit: 10).isEmpty)
  }

  /// Fewer are listed than there are, and all are counted.
  @Test(arguments: Backend.engines)
  func theListHasALimit(_ backend: Backend) throws {
    let store = try CareStore(backend)
    var marks = StoreMarks()
    let all = try store.garage.differences(from: &marks, limit: 3)
    #expect(all.entries.count == 3)
    #expect(all.objectCounts[.added] == (try store.garage.storedTypes().reduce(0) { $0 + $1.objectCount }))
    try store.garage.delete(CareLeaf.self, identifier: String(repeating: "long ", count: 100))
    let gone = try store.garage.differences(from: &marks, limit: 3)
    // Of a long identifier a part is known.
    #expect(gone.entries.count == 1 && gone.entries[0].name.hasPrefix("long long"), "\(gone)")
  }

  @Test(arguments: Backend.engines)
  func othersAreHeardWhereTheDriverTells(_ backend: Backend) throws {
    let garage = try Garage(Place(backend).open())
    // What is in memory has no other processes.
    #expect(garage.hearsOtherProcesses == (backend != .memory && !backend.isPostgres))
  }
}

import GarageDriver
import Testing

@testable import GarageStorage

/// How storages name the states that their transactions see.
@Suite struct StateNameTests {
  private func name(_ storage: any StorageDriver) throws -> UInt64 {
    let naming = try #require(storage as? any StateNaming)
    let name: UInt64? = try storage.read { naming.stateName(of: $0) }
    return try #require(name)
  }

  private func put(_ value: [UInt8], _ keys: [UInt8], _ storage: any StorageDriver) throws {
    try storage.write { transaction in
      for key in keys { try transaction.put(value, for: StorageKey([key])) }
      return .commit(())
    }
  }

  /// Each commit gives the state a name that none had before, whoever made it.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func eachCommitHasAnother(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.open(), try place.open())
    var names: Set<UInt64> = [try name(a)]
    for round in UInt8(1)..<20 {
      // One small value, and several: storages may have a way of their own for the one.
      try put([round], round % 3 == 0 ? [1, 2, 3] : [1], round % 2 == 0 ? a : b)
      #expect(names.insert(try name(a)).inserted, "\(round)")
    }
    try a.write { transaction in
      try transaction.remove(StorageKey([1]))
      return .commit(())
    }
    #expect(names.insert(try name(a)).inserted)
  }

  /// Nothing that is rolled back has a name.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func writersHaveNone(_ backend: Backend) throws {
    let storage = try Place(backend).open()
    let naming = try #require(storage as? any StateNaming)
    let before = try name(storage)
    for _ in 0..<2 {
      let named: UInt64? = try storage.write { transaction in
        try transaction.put([1], for: StorageKey([1]))
        return .rollBack(naming.stateName(of: transaction))
      }
      #expect(named == nil)
    }
    try put([2], [1], storage)
    let after = try name(storage)
    #expect(after != before)
  }

  /// A reader's state keeps its name while others commit.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func readersKeepTheirs(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.open(), try place.open())
    let naming = try #require(a as? any StateNaming)
    try a.read { transaction in
      let first = naming.stateName(of: transaction)
      _ = try transaction.value(for: StorageKey([1]))
      try put([1], [1], b)
      #expect(naming.stateName(of: transaction) == first)
      let now = try name(a)
      #expect(now != first)
      #expect(try transaction.value(for: StorageKey([1])) == nil)
    }
  }

  /// What has ended has no name, and what is another store's has not that of this one.
  @Test(arguments: [Backend.memory, .lmdb])
  func othersAreToldApart(_ backend: Backend) throws {
    let (a, b) = (try Place(backend).open(), try Place(backend).open())
    let naming = try #require(a as? any StateNaming)
    let named = try name(a)
    try b.read { transaction in
      let other = naming.stateName(of: transaction)
      #expect(other != named)
    }
    var kept: (any ReadTransaction)?
    try a.read { kept = $0 }
    let ended = try #require(kept)
    #expect(naming.stateName(of: ended) == nil)
  }
}

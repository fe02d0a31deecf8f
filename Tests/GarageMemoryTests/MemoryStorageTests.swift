import GarageDriver
import GarageMemory
import Testing

/// What a storage in memory does beyond the contract of all drivers.
struct MemoryStorageTests {
  private let key = StorageKey([1])

  private func put(_ value: [UInt8], _ storage: MemoryStorage) throws {
    try storage.write { transaction in
      try transaction.put(value, for: key)
      return .commit(())
    }
  }

  private func value(_ storage: MemoryStorage) throws -> [UInt8]? {
    try storage.read { try $0.value(for: key) }
  }

  private func kind(_ body: () throws -> Void) -> StorageError.Kind? {
    do { try body() } catch { return (error as? StorageError)?.kind }
    return nil
  }

  @Test func storesAreApart() throws {
    let first = MemoryStorage(), second = MemoryStorage()
    try put([1], first)
    #expect(try value(first) == [1])
    #expect(try value(second) == nil)
  }

  @Test func aClosedStoreOpensAgain() throws {
    let first = MemoryStorage()
    try put([1], first)
    try first.close()
    #expect(kind { try put([2], first) } == .closed)
    #expect(kind { _ = try value(first) } == .closed)

    let second = MemoryStorage(sharing: first)
    #expect(try value(second) == [1])
    try put([2], second)
    let third = MemoryStorage(sharing: second)
    try second.close()
    #expect(try value(third) == [2])
  }

  @Test func aNamedStoreLivesAsLongAsOneOfItsValues() throws {
    let name = "aNamedStoreLivesAsLongAsOneOfItsValues"
    var first: MemoryStorage? = MemoryStorage(named: name)
    try put([1], #require(first))
    var second: MemoryStorage? = MemoryStorage(named: name)
    #expect(try value(#require(second)) == [1])
    #expect(try value(MemoryStorage(named: name + "2")) == nil)

    try first?.close()
    try second?.close()
    second = nil
    #expect(try value(MemoryStorage(named: name)) == [1])
    first = nil
    #expect(try value(MemoryStorage(named: name)) == nil)
  }

  @Test func valuesOnOneStoreHaveOneWriter() throws {
    let first = MemoryStorage()
    let second = MemoryStorage(sharing: first)
    try first.write { transaction in
      try transaction.put([1], for: key)
      #expect(kind { try put([2], second) } == .nestedWrite)
      // A read through either sees the last commit.
      #expect(try value(first) == nil)
      #expect(try value(second) == nil)
      return .commit(())
    }
    #expect(try value(second) == [1])
  }

  @Test func closingOneValueLeavesTheOthersTransactionsAlone() throws {
    let first = MemoryStorage()
    let second = MemoryStorage(sharing: first)
    try first.write { transaction in
      try transaction.put([1], for: key)
      try second.close()
      return .commit(())
    }
    #expect(try value(first) == [1])
  }

  @Test func anEscapedTransactionHoldsNoMemory() throws {
    let storage = MemoryStorage()
    try put([UInt8](repeating: 1, count: 100_000), storage)
    var escaped: (any ReadTransaction)?
    try storage.read { escaped = $0 }
    #expect(kind { _ = try escaped?.value(for: key) } == .transactionClosed)
    #expect(kind { try escaped?.scan(.all, .forward) { _, _ in .continue } } == .transactionClosed)
  }

  @Test func aReaderKeepsItsStateWhileManyWritesPass() throws {
    let storage = MemoryStorage()
    for number in 0..<100 as Range<UInt8> {
      try storage.write { transaction in
        try transaction.put([number], for: StorageKey([number, 0]))
        return .commit(())
      }
    }
    try storage.read { reader in
      for round in 0..<50 as Range<UInt8> {
        try storage.write { transaction in
          try transaction.removeAll(in: StorageKeyRange(from: [round]))
          return .commit(())
        }
      }
      var count: UInt8 = 0
      try reader.scan(.all, .forward) { _, value in
        #expect([UInt8](copying: value) == [count])
        count += 1
        return .continue
      }
      #expect(count == 100)
    }
    #expect(try storage.read { try $0.value(for: StorageKey([0, 0])) } == nil)
  }
}

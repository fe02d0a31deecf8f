import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// A record that does not open is told to who comes to it, and not to who has found enough before.
@Suite struct DamageBeyondLimitTests {
  private struct Pebble: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Pebble>] { [Index(\.level, .readable), Index(\.rank, .readable)] }
    var id: Int
    var level: Int
    var rank: Int
    /// In no index.
    var text: String

    init(_ id: Int, text: String) {
      (self.id, level, rank, self.text) = (id, id / 20, id, text + String(repeating: " ", count: 200))
    }
  }

  /// Asked for by this test alone.
  private struct Shard: Codable, Identifiable {
    var id: Int
    var rank: Int
  }

  /// Forty pebbles, of which one is found and the seal of one a little behind it is damaged.
  private func damaged(isFar: Bool) throws -> Garage {
    let memory = MemoryStorage()
    let sealed = try SealedStorage(memory, sealer: InsecureTestSealer(key: 7))
    let garage = try isFar ? Garage(FarSealedStorage(base: sealed)) : Garage(sealed)
    try garage.parkAll((0..<40).map { Pebble($0, text: $0 == 1 ? "found" : "other") })
    try damage(memory) { try garage.park(Pebble(3, text: "changed")) }
    return garage
  }

  /// Damages the largest entry that changes.
  private func damage(_ memory: MemoryStorage, changing change: () throws -> Void) throws {
    let before = try contents(memory)
    try change()
    let after = try contents(memory)
    let changed = after.filter { before[$0.key] != $0.value }
    let key = try #require(changed.max { $0.value.count < $1.value.count }?.key)
    try memory.write { transaction in
      var value = try #require(try transaction.value(for: key))
      value[value.count - 1] ^= 1
      try transaction.put(value, for: key)
      return .commit(())
    }
  }

  private func contents(_ memory: MemoryStorage) throws -> [StorageKey: [UInt8]] {
    try memory.read { transaction in
      var contents: [StorageKey: [UInt8]] = [:]
      try transaction.scan(.all, .forward) { key, value in
        contents[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
      return contents
    }
  }

  /// They are asked for many at a time, of which the first are enough.
  @Test(arguments: [false, true])
  func isToldInItsTurn(isFar: Bool) throws {
    let garage = try damaged(isFar: isFar)
    let named = garage.query(Pebble.self).where(\.text >= "found").where(\.text < "g")
    let found = named.where(\.level == .oneOf([0, 1]))
    #expect(try found.limit(1).retrieveAll().map(\.id) == [1])
    #expect(try found.first()?.id == 1)
    #expect(try found.limit(1).count() == 1)
    #expect(try !found.isEmpty())
    #expect(try found.limit(1).values(\.rank) == [1])
    #expect(try found.page(size: 1).objects.map(\.id) == [1])
    #expect(try named.sorted(by: \.rank).limit(1).retrieveAll().map(\.id) == [1])
    #expect(throws: GarageError.self) { try found.limit(2).retrieveAll() }
    #expect(throws: GarageError.self) { try found.limit(2).count() }
    #expect(throws: GarageError.self) { try found.count() }
    #expect(throws: GarageError.self) { try found.identifiers() }
    #expect(throws: GarageError.self) { try named.sorted(by: \.rank).limit(2).retrieveAll() }
  }

  /// Some objects of a type are read when it is first asked for; those that a query does not come to forbid no commit.
  @Test func aSampleForbidsNoCommit() throws {
    let memory = MemoryStorage()
    let garage = try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 7)))
    try garage.parkAll((0..<40).map { Shard(id: $0, rank: $0) })
    try damage(memory) { try garage.park(Shard(id: 3, rank: 1000)) }
    try garage.write { writer in
      #expect(try writer.query(Shard.self).where(\.rank >= 1).limit(1).retrieveAll().map(\.id) == [1])
      try writer.park(Pebble(1, text: "new"))
    }
    #expect(try garage.contains(Pebble.self, identifier: 1))
    // A query that comes to it does.
    #expect(throws: GarageError.self) {
      try garage.write { writer in
        try writer.park(Pebble(2, text: "new"))
        _ = try? writer.query(Shard.self).where(\.rank >= 1).retrieveAll()
      }
    }
    #expect(try garage.count(Pebble.self) == 1)
  }

  /// What stands before it was handed on.
  @Test(arguments: [false, true])
  func comesBehindThoseBefore(isFar: Bool) throws {
    let garage = try damaged(isFar: isFar)
    var seen: [Int] = []
    #expect(throws: GarageError.self) {
      try garage.query(Pebble.self).where(\.level == 0).forEach { seen.append($0.id) }
    }
    #expect(seen == [0, 1, 2])
  }
}

/// As if there were a network in between.
private struct FarSealedStorage: StorageDriver {
  let base: SealedStorage
  var info: StorageInfo {
    var info = base.info
    info.roundTripsAreExpensive = true
    return info
  }
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }
}

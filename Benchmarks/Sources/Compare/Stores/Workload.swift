import CRawStores
import Foundation
import GarageDriver
import GarageMemory
import GarageStorage

/// What every store is filled with and asked for.
final class Workload {
  /// Parked at once, in the order of their identifiers.
  let people: [Person]
  /// Parked one by one, each in a transaction of its own, between the others.
  let additional: [Person]
  /// The same, in random order.
  let shuffled: [Person]
  let shuffledOrder: [UInt32]
  /// The order of `people`, for an engine that would append without it.
  let sortedOrder: [UInt32]
  /// Which of `people` are retrieved, in random order.
  let wanted: [UInt32]
  /// Which of `people` are deleted, in random order.
  let unwanted: [UInt32]
  /// The same as the garage keeps them.
  let entries: Entries
  let additionalEntries: Entries
  /// The same people, parked at a later time: SQLite does not write what is there already.
  let laterEntries: Entries

  let wantedPeople: [Person]
  let wantedIDs: [String]
  let unwantedIDs: [String]

  init(count: Int, additional: Int, wanted: Int, unwanted: Int) throws {
    people = Person.make(count, seed: 1)
    self.additional = Person.make(additional, seed: 2)
    var random = SplitMix(state: 3)
    let order = Array(0..<UInt32(count)).shuffled(using: &random)
    shuffledOrder = order.reversed()
    sortedOrder = Array(0..<UInt32(count))
    shuffled = shuffledOrder.map { [people] in people[Int($0)] }
    self.wanted = Array(order.prefix(wanted))
    self.unwanted = Array(order.suffix(unwanted))
    entries = try Entries(people)
    additionalEntries = try Entries(self.additional)
    laterEntries = try Entries(people)
    wantedPeople = self.wanted.map { [people] in people[Int($0)] }
    wantedIDs = wantedPeople.map(\.id)
    unwantedIDs = self.unwanted.map { [people] in people[Int($0)].id }
  }
}

/// Keys and values of records, for those who know bytes only.
final class Entries {
  private var keys: [UInt8] = []
  private var keyStarts: [UInt32] = [0]
  private var values: [UInt8] = []
  private var valueStarts: [UInt32] = [0]

  var count: Int { keyStarts.count - 1 }
  var byteCount: Int { keys.count + values.count }

  init() {}

  /// Some of these entries, by position.
  func subset(_ indices: [Int]) -> Entries {
    let subset = Entries()
    for index in indices { subset.append(self, index) }
    return subset
  }

  /// Appends one.
  func append(key: [UInt8], value: [UInt8]) {
    keys += key
    values += value
    keyStarts.append(UInt32(keys.count))
    valueStarts.append(UInt32(values.count))
  }

  /// Appends those of `other`.
  func append(_ other: Entries) {
    for index in 0..<other.count { append(other, index) }
  }

  private func append(_ other: Entries, _ index: Int) {
    keys += other.keys[Int(other.keyStarts[index])..<Int(other.keyStarts[index + 1])]
    values += other.values[Int(other.valueStarts[index])..<Int(other.valueStarts[index + 1])]
    keyStarts.append(UInt32(keys.count))
    valueStarts.append(UInt32(values.count))
  }

  /// The records of objects that are sorted by identifier: entry `i` is that of object `i`.
  convenience init<T: Codable & Identifiable>(_ objects: [T]) throws where T.ID: Codable {
    try self.init(mostAlikeOf: objects, by: 9)
    try WrongResult.unless(count == objects.count, "\(count) records of \(objects.count) objects")
  }

  /// The entries of the indexes of objects that have at least as many of them as records.
  convenience init<T: Codable & Identifiable>(ofIndexesOf objects: [T], referrers: ReferrerOption = .asStored) throws
  where T.ID: Codable {
    try self.init(mostAlikeOf: objects, by: 1, referrers: referrers)
    try WrongResult.unless(count >= objects.count, "\(count) entries of \(objects.count) objects")
  }

  private init<T: Codable & Identifiable>(
    mostAlikeOf objects: [T], by byteCount: Int, referrers: ReferrerOption = .asStored
  ) throws where T.ID: Codable {
    let storage = MemoryStorage()
    let garage = try Garage(storage, referrers: referrers)
    try garage.parkAll(objects)
    let prefix = try GarageKeys.commonPrefix(of: byteCount, in: storage)
    try storage.read { transaction in
      try transaction.scan(.prefix(prefix), .forward) { key, value in
        keys.append(contentsOf: [UInt8](copying: key))
        values.append(contentsOf: [UInt8](copying: value))
        keyStarts.append(UInt32(keys.count))
        valueStarts.append(UInt32(values.count))
        return .continue
      }
    }
  }

  /// Lends the entries to C.
  func withRaw<R>(_ body: (raw_entries) throws -> R) rethrows -> R {
    try keys.withUnsafeBufferPointer { keys in
      try keyStarts.withUnsafeBufferPointer { keyStarts in
        try values.withUnsafeBufferPointer { values in
          try valueStarts.withUnsafeBufferPointer { valueStarts in
            try body(
              raw_entries(
                keys: keys.baseAddress!, key_starts: keyStarts.baseAddress!, values: values.baseAddress!,
                value_starts: valueStarts.baseAddress!, count: count))
          }
        }
      }
    }
  }
}

/// Where a garage keeps its records and entries, found out by looking.
private enum GarageKeys {
  /// What the most keys begin with: of one byte that which says what they are for; of nine also the digest of eight that comes before
  /// the identifiers of one type's objects.
  static func commonPrefix(of byteCount: Int, in storage: MemoryStorage) throws -> [UInt8] {
    var counts: [[UInt8]: Int] = [:]
    try storage.read { transaction in
      try transaction.scan(.all, .forward) { key, _ in
        counts[Array([UInt8](copying: key).prefix(byteCount)), default: 0] += 1
        return .continue
      }
    }
    // Of as many records and entries the latter, which stand behind them.
    guard let found = counts.max(by: { ($0.value, $0.key[0]) < ($1.value, $1.key[0]) }) else { throw WrongResult("the garage keeps nothing") }
    return found.key
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Many objects for tasks, a page at a time.
@Suite struct ObjectPageTests {
  /// How many objects were decoded, and are there.
  private final class Census: Sendable {
    static let key = CodingUserInfoKey(rawValue: "census")!
    private struct State {
      var count = 0
      var decodedCount = 0
      var largestCount = 0
    }
    private let state = Mutex(State())

    func noteBirth() {
      state.withLock { state in
        state.count += 1
        state.decodedCount += 1
        state.largestCount = max(state.largestCount, state.count)
      }
    }
    func noteDeath() { state.withLock { $0.count -= 1 } }

    var decodedCount: Int { state.withLock { $0.decodedCount } }
    var largestCount: Int { state.withLock { $0.largestCount } }
  }

  private final class Resident: Codable, Identifiable {
    var id: Int
    var floor: Int
    private var census: Census?

    init(_ id: Int, floor: Int) {
      self.id = id
      self.floor = floor
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      id = try container.decode(Int.self, forKey: .id)
      floor = try container.decode(Int.self, forKey: .floor)
      census = decoder.userInfo[Census.key] as? Census
      census?.noteBirth()
    }

    deinit { census?.noteDeath() }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(id, forKey: .id)
      try container.encode(floor, forKey: .floor)
    }

    private enum Keys: String, CodingKey { case id, floor }
  }

  private struct Enough: Error {}

  /// What is found of so many is not held, and not read before somebody asks for it.
  @Test(arguments: Backend.engines) func queriesVisitInBoundedMemory(_ backend: Backend) async throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let count = 3_000
    try await garage.parkAll((0..<count).map { Resident($0, floor: $0 * 7 % 10) })
    try await garage.close()
    let census = Census()
    garage = try place.garage(userInfo: [Census.key: census])
    let query = garage.query(Resident.self)
    let queries = [
      query, query.where(\.floor > 1), query.sorted(by: \.floor, .descending),
      query.where(\.floor < 9).sorted(by: \.floor).limit(2_500),
    ]
    for query in queries {
      var ids: [Int] = []
      try await query.forEach { ids.append($0.id) }
      #expect(try await ids == query.values(\.id))
      #expect(ids.count > 2_000)
    }
    let largest = census.largestCount
    #expect(largest < 1_000)
    for query in queries {
      let before = census.decodedCount
      await #expect(throws: Enough.self) { try await query.forEach { _ in throw Enough() } }
      let decoded = census.decodedCount - before
      #expect(decoded < 1_000)
    }
  }

  /// Each object is as it is when its page is read; what is gone by then is not visited.
  @Test(arguments: Backend.engines) func changesInBetween(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<500).map { Counter(id: $0, value: $0 % 3) })
    let query = garage.query(Counter.self).where(\.value != 1).sorted(by: \.value).limit(300)
    let expected = try await query.retrieveAll().map(\.id)
    var (ids, lastValue) = ([Int](), 0)
    try await query.forEach { counter in
      if ids.isEmpty {
        try garage.delete(Counter.self, identifier: expected[290])
        try garage.parkAll([Counter(id: expected[299], value: 1), Counter(id: 1_000)])
      }
      ids.append(counter.id)
      lastValue = counter.value
    }
    #expect(ids == expected.filter { $0 != expected[290] })
    #expect(lastValue == 1)
  }

  /// A read that fails once passes over no objects: who asks again gets them.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func askingAgainAfterAnErrorMissesNothing(_ backend: Backend) async throws {
    let storage = FailingReads(try Place(backend).open())
    let garage = try Garage(storage)
    let count = 650
    try await garage.parkAll((0..<count).map { Counter(id: $0) })
    // The first reads the keys, and each of the others a page.
    for failing in 0..<4 {
      var (ids, errorCount) = ([Int](), 0)
      var objects = garage.objects(Counter.self).makeAsyncIterator()
      storage.failNext(after: failing)
      while true {
        do {
          guard let counter = try await objects.next() else { break }
          ids.append(counter.id)
        } catch let error as GarageError {
          #expect(error.isRetryable)
          errorCount += 1
        }
      }
      #expect(ids == Array(0..<count))
      #expect(errorCount == 1)
    }
  }
}

/// Lets one read fail that may be made again.
private final class FailingReads: StorageDriver {
  private let base: any StorageDriver
  /// How many reads go well before; nil where none is to fail.
  private let rest = Mutex<Int?>(nil)
  var info: StorageInfo { base.info }

  init(_ base: any StorageDriver) { self.base = base }

  func failNext(after count: Int) { rest.withLock { $0 = count } }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    let fails = rest.withLock { rest in
      guard let count = rest else { return false }
      rest = count == 0 ? nil : count - 1
      return count == 0
    }
    if fails {
      throw StorageError(
        .disconnected, during: .read, driver: info.name, isRetryable: true, message: "Nobody answers.")
    }
    return try base.read(body)
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }

  func close() throws { try base.close() }
}

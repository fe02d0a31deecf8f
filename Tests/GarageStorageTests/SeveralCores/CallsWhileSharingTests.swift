import Foundation
import GarageStorage
import Synchronization
import Testing

/// Users' code that calls the garage while many objects are coded: whichever thread it runs on, it is served or told no as it
/// would be on the caller's.
@Suite struct CallsWhileSharingTests {
  /// Runs a closure of the test's while one of its objects is coded.
  private struct Row: Codable, Identifiable, Sendable {
    static let key = CodingUserInfoKey(rawValue: "action")!

    var id: Int
    var text = String(repeating: "t", count: 100)

    init(id: Int) { self.id = id }

    enum CodingKeys: String, CodingKey { case id, text }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      text = try container.decode(String.self, forKey: .text)
      try (decoder.userInfo[Row.key] as? Calls)?.call(id)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(text, forKey: .text)
      try (encoder.userInfo[Row.key] as? Calls)?.call(id)
    }
  }

  /// What each hundredth object does, and how often it was refused.
  private final class Calls: Sendable {
    private let action = Mutex<(@Sendable () throws -> Void)?>(nil)
    let count = Atomic<Int>(0)
    let refusalCount = Atomic<Int>(0)

    func set(_ action: (@Sendable () throws -> Void)?) {
      self.action.withLock { $0 = action }
      count.store(0, ordering: .relaxed)
      refusalCount.store(0, ordering: .relaxed)
    }

    func call(_ id: Int) throws {
      guard id % 100 == 99, let action = action.withLock({ $0 }) else { return }
      count.add(1, ordering: .relaxed)
      do { try action() } catch GarageError.nestedWrite {
        refusalCount.add(1, ordering: .relaxed)
      } catch GarageError.storage(let error) where error.kind == .closeInsideTransaction {
        refusalCount.add(1, ordering: .relaxed)
      }
    }

    /// All that were made, and those that were refused.
    var counts: [Int] { [count.load(ordering: .relaxed), refusalCount.load(ordering: .relaxed)] }
  }

  private static let rows = (0..<3_000).map { Row(id: $0) }

  private func filledGarage(_ backend: Backend, _ calls: Calls) throws -> Garage {
    let garage = try Place(backend).garage(userInfo: [Row.key: calls])
    try garage.parkAll(CallsWhileSharingTests.rows)
    return garage
  }

  @Test(arguments: Backend.engines) func insideOfAWriteTheyAreToldNo(_ backend: Backend) throws {
    let calls = Calls()
    let garage = try filledGarage(backend, calls)
    calls.set { try garage.set(.launchCount, value: 1) }
    try garage.write { _ in
      let found = try garage.retrieveAll(Row.self)
      #expect(found.count == 3_000)
    }
    #expect(calls.counts == [30, 30])
    calls.set { try garage.set(.launchCount, value: 1) }
    try garage.write { _ in
      #expect(throws: GarageError.nestedWrite) { try garage.parkAll(CallsWhileSharingTests.rows) }
    }
    #expect(calls.counts == [30, 30])
    calls.set(nil)
    #expect(try !garage.contains(.launchCount))
  }

  @Test(arguments: Backend.engines) func insideOfAReadTheyAreServed(_ backend: Backend) throws {
    let calls = Calls()
    let garage = try filledGarage(backend, calls)
    calls.set { try garage.update(.launchCount) { $0 += 1 } }
    try garage.read { _ in
      let found = try garage.retrieveAll(Row.self)
      #expect(found.count == 3_000)
    }
    #expect(try garage.retrieveAll(Row.self).count == 3_000)
    #expect(calls.counts == [60, 0])
    #expect(try garage.get(.launchCount) == 60)
    calls.set(nil)
  }

  /// The call that decodes would be waited for.
  @Test(arguments: Backend.engines) func closingIsToldNo(_ backend: Backend) throws {
    let calls = Calls()
    let garage = try filledGarage(backend, calls)
    calls.set { try garage.close() }
    #expect(try garage.retrieveAll(Row.self).count == 3_000)
    #expect(calls.counts == [30, 30])
    calls.set(nil)
    #expect(try garage.count(Row.self) == 3_000)
  }
}

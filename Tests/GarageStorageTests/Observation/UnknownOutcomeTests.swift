import Foundation
import GarageStorage
import Synchronization
import Testing

/// Where nobody knows whether a commit was made, listeners look, for it may have been.
@Suite struct UnknownOutcomeTests {
  private let slow: SlowStorage
  private let garage: Garage

  init() throws {
    slow = SlowStorage(try Place(.memory).open(), isDurable: true)
    garage = try Garage(slow)
  }

  /// The change that `change` makes is heard of, though it throws.
  private func expectHeard(_ change: () async throws -> Void) async throws {
    var values = garage.values(of: garage.query(Counter.self)).makeAsyncIterator()
    #expect(try await values.next() == [])
    slow.lostAnswerCount.store(1, ordering: .relaxed)
    let error = await #expect(throws: GarageError.self) { try await change() }
    guard case .storage(let error)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error.kind == .outcomeUnknown)
    #expect(try await values.next()?.map(\.id) == [1])
  }

  @Test func ofATask() async throws { try await expectHeard { try await garage.park(Counter(id: 1)) } }

  @Test func ofAThread() async throws { try await expectHeard { try parkOne() } }

  @Test func ofAWrite() async throws {
    try await expectHeard { try await garage.write { try $0.park(Counter(id: 1)) } }
  }

  @Test func ofSaving() async throws { try await expectHeard { try saveOne() } }

  private func parkOne() throws { try garage.park(Counter(id: 1)) }

  /// Through another garage, since those of one's own are heard of before they are saved.
  private func saveOne() throws {
    let other = try Garage(slow)
    try other.withAutosaveDisabled { try other.park(Counter(id: 1)) }
    try other.save()
  }
}

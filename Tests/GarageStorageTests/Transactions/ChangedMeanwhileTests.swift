import Dispatch
import Foundation
import GarageStorage
import Synchronization
import Testing

/// What somebody else does while changes are being saved, or about to be.
@Suite struct ChangedMeanwhileTests {
  /// Runs `body` on a thread of its own, and waits for it.
  private func onOtherThread(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try body() } catch { Issue.record(error) }
      done.signal()
    }
    done.wait()
  }

  /// The changes that come after those that were discarded are none of what was saved. In memory, where there is no queue of
  /// commits that lets nobody in meanwhile.
  @Test func whatComesAfterDiscardingInAnotherGarageStays() throws {
    let slow = SlowStorage(try Place(.memory).open())
    let (garage, other) = (try Garage(slow), try Garage(slow))
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 1))
    slow.didCommit.withLock {
      $0 = {
        // The other garage's write may begin, since the commit is done; the one that saves does not know yet.
        onOtherThread { try other.write { _ in garage.discardUnsavedChanges() } }
        onOtherThread { try garage.park(Counter(id: 2)) }
      }
    }
    try garage.save()
    #expect(garage.hasUnsavedChanges)
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [1, 2])
    try garage.save()
    #expect(try other.retrieveAll(Counter.self).map(\.id) == [1, 2])
  }

  private enum SwitchingSpace: Namespace {
    static let id = "switching"
    @TaskLocal static var switched: Switched?
    static func preCommitHook() { switched?.garage.isAutosaveEnabled = false }
    static func postCommitHook() { switched?.postCount.add(1, ordering: .relaxed) }
  }

  private final class Switched: Sendable {
    let garage: Garage
    let postCount = Atomic<Int>(0)
    init(_ garage: Garage) { self.garage = garage }
  }

  /// Hooks that ran before a commit are those of a commit.
  @Test(arguments: Backend.engines)
  func aHookThatSwitchesAutosaveOffComesTooLate(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let key = Key<SwitchingSpace, Int>(id: "value", defaultValue: 0)
    let switched = Switched(garage)
    try await SwitchingSpace.$switched.withValue(switched) { try await garage.set(key, value: 3) }
    #expect(!garage.isAutosaveEnabled && !garage.hasUnsavedChanges)
    #expect(switched.postCount.load(ordering: .relaxed) == 1)
    garage.isAutosaveEnabled = true
    #expect(try await place.reopened(garage).get(key) == 3)
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Testing

#if os(Linux)
  /// A child that was forked has none of the parent's threads: whatever these were doing, it is told so, and waits for none.
  @Suite struct ForkedChildTests {
    @Test(arguments: Backend.durable.filter { !$0.isPostgres })
    func aWriteDoesNotWaitForAThreadOfTheParent(_ backend: Backend) throws {
      let place = try Place(backend)
      let garage = try place.garage()
      try garage.park(Counter(id: 1))
      let begun = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = try? garage.write { writer in
          begun.signal()
          mayEnd.wait()
          try writer.park(Counter(id: 2))
        }
        begun.signal()
        ended.signal()
      }
      begun.wait()
      // Where the child inherits a lock that another thread of the tests held, it is tried again.
      var outcome: Int32?
      for _ in 0..<5 where outcome == nil {
        outcome = ForkedChildTests.outcome { ForkedChildTests.isRefused(garage) }
      }
      mayEnd.signal()
      ended.wait()
      #expect(outcome == 0)
      let parked = try garage.retrieve(Counter.self, identifier: 2)
      #expect(parked != nil)
      try garage.close()
    }

    private static func isRefused(_ garage: Garage) -> Bool {
      do {
        try garage.park(Counter(id: 3))
        return false
      } catch {
        guard case GarageError.storage(let error) = error else { return false }
        return error.kind == .usedAfterFork
      }
    }

    /// How a child ended that runs `body` and nothing else: zero where that is true; nil where it does not end.
    private static func outcome(_ body: () -> Bool) -> Int32? {
      let child = forkProcess()
      if child == 0 { exitProcess(body() ? 0 : 1) }
      var status: Int32 = -1
      for _ in 0..<500 where waitpid(child, &status, WNOHANG) == 0 { usleep(10_000) }
      if status != -1 { return status }
      kill(child, SIGKILL)
      waitpid(child, &status, 0)
      return nil
    }
  }

  // Swift hides `fork`, which is right everywhere but here.
  @_silgen_name("fork") private func forkProcess() -> Int32
  @_silgen_name("_exit") private func exitProcess(_ code: Int32) -> Never
#endif

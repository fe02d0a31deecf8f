import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// A storage that is nearly always being written to, and then cannot tell whether others have committed.
@Suite struct BusySignalTests {
  /// Cannot tell for a while, and then tells of a commit.
  private final class BusyStorage: StorageDriver, ChangeSignaling {
    private let base = MemoryStorage()
    let info: StorageInfo
    private let askCount = Atomic<Int>(0)

    init() {
      var info = base.info
      info.isSharedAcrossProcesses = true
      self.info = info
    }

    var changeOrigin: ObjectIdentifier? { nil }

    func foreignChangeMark() throws -> UInt64? {
      let count = askCount.add(1, ordering: .relaxed).newValue
      if count == 1 { return 1 }
      return count < 100 ? nil : 2
    }

    func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }

    func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
      try base.write(body)
    }

    func close() throws { try base.close() }
  }

  /// It is asked again soon: at ten times a second this would take ten seconds.
  @Test func othersAreHeardNevertheless() async throws {
    let garage = try Garage(BusyStorage())
    let start = ContinuousClock.now
    var changes = garage.changes().makeAsyncIterator()
    let news = try #require(await changes.next())
    let passed = ContinuousClock.now - start
    #expect(news.sources == [.anotherProcess] && news.mayBeAnything)
    #expect(passed < .seconds(5))
  }
}

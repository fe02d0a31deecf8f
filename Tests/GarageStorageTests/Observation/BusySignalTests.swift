import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// A storage that is nearly always being written to, and then cannot tell whether others have committed.
@Suite struct BusySignalTests {
  /// Says of no, or of many questions at first, that it cannot tell. Then others have committed.
  private final class SharedStorage: StorageDriver, ChangeSignaling {
    private let base = MemoryStorage()
    let info: StorageInfo
    private let busyCount: Int
    private let whenHeard: @Sendable () -> Void
    let askCount = Atomic<Int>(0)

    init(busyCount: Int = 0, whenHeard: @escaping @Sendable () -> Void = {}) {
      self.busyCount = busyCount
      self.whenHeard = whenHeard
      var info = base.info
      info.isSharedAcrossProcesses = true
      self.info = info
    }

    var changeOrigin: ObjectIdentifier? { nil }

    func foreignChangeMark() throws -> UInt64? {
      let count = askCount.add(1, ordering: .relaxed).newValue
      if busyCount == 0 || count == 1 { return 1 }
      if count < busyCount { return nil }
      if count == busyCount { whenHeard() }
      return 2
    }

    func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }

    func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
      try base.write(body)
    }

    func close() throws { try base.close() }
  }

  /// It is asked again soon: much more often than another one, which can tell.
  @Test func othersAreHeardNevertheless() async throws {
    let calm = SharedStorage()
    let calmGarage = try Garage(calm)
    let listening = Task { for await _ in calmGarage.changes() {} }
    #expect(try await comesTrue { calm.askCount.load(ordering: .relaxed) > 0 })
    let before = calm.askCount.load(ordering: .relaxed)
    let asked = Atomic<Int>(0)
    let garage = try Garage(
      SharedStorage(busyCount: 200) {
        asked.store(calm.askCount.load(ordering: .relaxed), ordering: .relaxed)
      })
    var changes = garage.changes().makeAsyncIterator()
    let news = try #require(await changes.next())
    #expect(news.sources == [.anotherProcess] && news.mayBeAnything)
    let askedMeanwhile = asked.load(ordering: .relaxed) - before
    #expect(askedMeanwhile < 100, "200 questions of one, \(askedMeanwhile) of the other")
    listening.cancel()
  }
}

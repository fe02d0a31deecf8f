import Foundation
import GarageStorage
import Synchronization
import Testing

/// However many write, and however slow a watcher is, it ends with what the store holds, and holds no more than that.
@Suite struct WatcherTests {
  private static let key = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)

  /// Sixteen threads here and four other processes add to one key.
  @Test(arguments: [Backend.sqlite, .lmdb]) func theLastStateOfAllProcessesArrives(_ backend: Backend)
    async throws
  {
    let place = try Place(backend)
    let garage = try place.garage()
    let rounds = runsLongTests ? 2_000 : 60
    let children = try (0..<4).map { _ in
      try Child("count-key", backend.rawValue, place.storePath.path, "\(rounds)")
    }
    for child in children { _ = try child.firstLine() }
    let total = 4 * rounds + 16 * rounds / 4
    let watchers = (0..<4).map { watcher in
      Task {
        for try await count in garage.values(of: WatcherTests.key) {
          if watcher > 0 { try await Task.sleep(for: .milliseconds(watcher * 7)) }
          if count == total { return true }
        }
        return false
      }
    }
    for child in children { try child.send("go") }
    try await onThreads(16) { _ in
      for _ in 0..<(rounds / 4) {
        while true {
          do {
            try garage.update(WatcherTests.key) { $0 += 1 }
            break
          } catch let error as GarageError where error.isRetryable {}
        }
      }
    }
    for child in children { try child.wait() }
    #expect(try await garage.get(WatcherTests.key) == total)
    for watcher in watchers { #expect(try await watcher.value) }
  }

  /// What a watcher missed is merged: of many objects it holds no list.
  @Test(arguments: Backend.engines) func oneThatNeverReadsHoldsNoList(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    var changes = garage.changes().makeAsyncIterator()
    for round in 0..<6 {
      try await garage.parkAll((0..<1_000).map { Counter(id: round * 1_000 + $0, value: round) })
      for id in 0..<10 { try await garage.park(Counter(id: id, value: -round)) }
    }
    var news = try #require(await changes.next())
    #expect(news.parked(Counter.self) == nil && news.concern(Counter.self))
    // It begins anew.
    try await garage.park(Counter(id: 3, value: 3))
    news = try #require(await changes.next())
    #expect(news.parked(Counter.self) == [try garage.identifier(for: Counter(id: 3))])
  }
}

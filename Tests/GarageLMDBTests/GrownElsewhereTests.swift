import CLMDB
import Dispatch
import Foundation
import GarageDriver
import Synchronization
import Testing

@testable import GarageLMDB

/// What looks at a store beside its transactions, when another process has made it larger than this one's map.
@Suite(.serialized) struct GrownElsewhereTests {
  private static let small = LMDBStorage.Options(mapByteCount: 1 << 20)

  /// It is mapped anew first, as for a read.
  @Test func theFreeListIsFound() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: Self.small)
      try storage.put([1], "k")
      for name in ["first", "second"] {
        await #expect(processExitsWith: .success) { [path = folder.path as String, name = name as String] in
          try growStore(at: path, name)
        }
        #expect(try #require(try storage.freeByteCount()) >= 0)
      }
      #expect(try storage.get("second")?.count == 8 << 20)
      try storage.close()
    }
  }

  /// Behind the map stands memory of somebody else's.
  @Test func noMoreThanTheMapIsForgotten() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: Self.small)
      try storage.put([1], "k")
      let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let counts = Mutex<(file: Int, forgotten: Int?)>((0, nil))
      let reader = startThread {
        try? storage.read { transaction in
          isReading.signal()
          mayEnd.wait()
          guard let transaction = transaction as? LMDBReadTransaction else { return }
          let forgotten = transaction.forgettableByteCount
          transaction.forgetPages()
          counts.withLock { $0 = ((try? fileByteCount(folder)) ?? 0, forgotten) }
        }
      }
      await isReading.waitOffThread()
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "grown")
      }
      mayEnd.signal()
      reader.wait()
      let (file, forgotten) = counts.withLock { $0 }
      #expect(file > 8 << 20)
      #expect(forgotten == 1 << 20)
      try storage.close()
    }
  }

  /// Marks and sizes stand in the map, which another thread replaces.
  @Test(arguments: 0..<4)
  func looksWhileItIsMappedAnew(_ round: Int) async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: Self.small)
      try storage.put([1], "k")
      let isOver = Atomic<Bool>(false)
      let looking = (0..<3).map { _ in
        startThread {
          while !isOver.load(ordering: .relaxed) {
            _ = try? storage.foreignChangeMark()
            _ = try? storage.freeByteCount()
          }
        }
      }
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "grown")
      }
      #expect(try storage.get("grown")?.count == 8 << 20)
      isOver.store(true, ordering: .relaxed)
      for thread in looking { thread.wait() }
      #expect(try #require(try storage.foreignChangeMark()) >= 1)
      try storage.close()
    }
  }
}

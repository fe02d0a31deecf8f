import Foundation
import GarageDriver
import GarageLMDB
import Synchronization
import Testing

/// A commit of LMDB writes a page that tells of its state, waits for the disk, and only then is committed.
struct UncommittedStateTests {
  /// Whoever heard of it that early would read the state before, and never be told of the new one.
  @Test func aCommitThatWaitsForTheDiskIsNoChangeYet() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      let mark = try storage.foreignChangeMark()
      let name = try storage.read { storage.stateName(of: $0) }
      try writePageOfNextState(in: folder)
      #expect(try storage.foreignChangeMark() == mark)
      #expect(try storage.read { storage.stateName(of: $0) } == name)
      #expect(try storage.get("k") == [1])
      // The writer died, and the next one takes its number.
      try storage.put([2], "k")
      #expect(try storage.foreignChangeMark() == mark)
      #expect(try storage.get("k") == [2])
      #expect(try storage.read { storage.stateName(of: $0) } == name.map { $0 + 1 })
      try storage.close()
    }
  }

  /// Readers that have all slots find out without one.
  @Test(arguments: [1, 2]) func aCommitThatWaitsForTheDiskTakesNoReadersSlot(_ count: Int) throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(maximumReaderCount: count))
      try storage.put([1], "k")
      func read(_ depth: Int) throws {
        try storage.read { transaction in
          #expect(try transaction.value(for: StorageKey("k")) == [1])
          if depth < count { try read(depth + 1) }
        }
      }
      try read(1)
      try writePageOfNextState(in: folder)
      try read(1)
      try storage.put([1], "k")
      try read(1)
      try storage.close()
    }
  }

  /// Nor does who asks for the mark, and a table that is full of readers which wait for their next use hides no change.
  @Test(arguments: [1, 2, 4]) func marksTakeNoReadersSlot(_ count: Int) async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(maximumReaderCount: count))
      try storage.put([1], "k")
      func read(_ depth: Int) throws {
        try storage.read { transaction in
          #expect(try transaction.value(for: StorageKey("k")) == [1])
          if depth < count { try read(depth + 1) }
        }
      }
      #expect(try storage.foreignChangeMark() != nil)
      try read(1)
      let mark = try #require(try storage.foreignChangeMark())
      // Without a reader's slot, of which none is left.
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let other = try ForeignEnvironment(at: URL(filePath: path))
        try other.write { try ForeignEnvironment.put($0, $1, [7], [7]) }
        other.close()
      }
      #expect(try storage.foreignChangeMark() == mark + 1)
      try read(1)
      try storage.close()
    }
  }

  /// The first question comes after another process made the store larger than it is mapped here.
  @Test func aCommitThatWaitsForTheDiskIsNoChangeOfAGrownStore() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 1 << 20))
      try storage.put([1], "k")
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "grown")
      }
      try writePageOfNextState(in: folder)
      let mark = try storage.foreignChangeMark()
      #expect(try storage.get("grown")?.count == 8 << 20)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let storage = try LMDBStorage(at: URL(filePath: path))
        try storage.put([2], "k")
        try storage.close()
      }
      #expect(try storage.foreignChangeMark() != mark)
      #expect(try storage.get("k") == [2])
      try storage.close()
    }
  }

  /// The page that a commit writes before it is committed; it tells of the content that the store has already.
  private func writePageOfNextState(in folder: URL) throws {
    let file = try FileHandle(forUpdating: folder.appending(path: "data.mdb"))
    defer { try? file.close() }
    var pages: [Data] = []
    for place in [0, Self.pageByteCount] {
      try file.seek(toOffset: UInt64(place))
      pages.append(try #require(try file.read(upToCount: Self.pageByteCount)))
    }
    let numbers = pages.map { page in
      page.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Self.numberOffset, as: UInt64.self) }
    }
    let next = max(numbers[0], numbers[1]) + 1
    var page = pages[numbers[0] > numbers[1] ? 0 : 1]
    withUnsafeBytes(of: next & 1) { page.replaceSubrange(0..<8, with: $0) }
    withUnsafeBytes(of: next) { page.replaceSubrange(Self.numberOffset..<Self.numberOffset + 8, with: $0) }
    try file.seek(toOffset: (next & 1) * UInt64(Self.pageByteCount))
    try file.write(contentsOf: page)
  }

  private static let pageByteCount = Int(getpagesize())
  /// Where a page that tells of a state has the state's number, on 64-bit systems.
  private static let numberOffset = 144

  /// More readers than processors, so that some are interrupted while they begin. Some thousand commits are enough to see one
  /// where LMDB is trusted.
  @Test func noReaderSeesACommitBeforeItIsDone() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put(bytes(of: 0), "k")
      let first = try #require(try storage.read { storage.stateName(of: $0) })
      let (isOver, wrong) = (Flag(), FirstText())
      let readers = (0..<8).map { _ in
        startThread {
          do {
            while !isOver.isSet {
              let (value, name) = try storage.read { transaction in
                (try transaction.value(for: StorageKey("k")), storage.stateName(of: transaction) ?? 0)
              }
              if value == bytes(of: Int(name) - Int(first)) { continue }
              wrong.set("\(value ?? []) was read in state \(name); 0 was put in state \(first)")
              isOver.set()
            }
          } catch {
            wrong.set("\(error)")
            isOver.set()
          }
        }
      }
      let isLong = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"
      for number in 1...(isLong ? 30_000 : 1_000) where !isOver.isSet {
        try storage.put(bytes(of: number), "k")
      }
      isOver.set()
      for reader in readers { await reader.finished.waitOffThread() }
      #expect(wrong.text == nil)
      try storage.close()
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }

  private final class FirstText: Sendable {
    private let value = Mutex<String?>(nil)
    var text: String? { value.withLock { $0 } }
    func set(_ text: String) { value.withLock { $0 = $0 ?? text } }
  }
}

private func bytes(of number: Int) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

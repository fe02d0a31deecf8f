import Foundation
import GarageDriver
import Synchronization

/// Stands in for a slow disk: each transaction takes its time, and it notes where it was made to wait.
final class SlowStorage: StorageDriver {
  private let base: any StorageDriver
  let info: StorageInfo
  /// How long each read and each commit takes.
  private let pause: Atomic<UInt32>
  /// Transactions that were begun inside a task, or on the main thread.
  let readsInTasks = Atomic<Int>(0)
  let writesInTasks = Atomic<Int>(0)
  /// Transactions that committed.
  let commitCount = Atomic<Int>(0)
  /// Throws from puts under keys that contain these bytes.
  let badKey = Mutex<[UInt8]?>(nil)
  /// Runs once, before a commit.
  let willCommit = Mutex<(@Sendable () -> Void)?>(nil)
  /// Runs once, after a commit, when others may write again.
  let didCommit = Mutex<(@Sendable () -> Void)?>(nil)
  /// Throws from so many commits.
  let badCommitCount = Atomic<Int>(0)
  /// So many commits succeed, and their callers are not told.
  let lostAnswerCount = Atomic<Int>(0)

  struct Bad: Error {}

  init(_ base: any StorageDriver, milliseconds: UInt32 = 0, isDurable: Bool? = nil) {
    self.base = base
    var info = base.info
    if let isDurable { info.isDurable = isDurable }
    self.info = info
    pause = Atomic(milliseconds)
  }

  func setPause(milliseconds: UInt32) { pause.store(milliseconds, ordering: .relaxed) }

  private func sleep() {
    let milliseconds = pause.load(ordering: .relaxed)
    if milliseconds > 0 { usleep(milliseconds * 1000) }
  }

  /// Whether somebody else than this call waits for it.
  private var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } || Thread.isMainThread }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    if isInTask { readsInTasks.add(1, ordering: .relaxed) }
    return try base.read { transaction in
      sleep()
      return try body(transaction)
    }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if isInTask { writesInTasks.add(1, ordering: .relaxed) }
    var isCommitted = false
    let result = try base.write { transaction in
      let outcome = try body(SlowTransaction(transaction, badKey.withLock { $0 }))
      if case .commit = outcome {
        willCommit.withLock { $0.take() }?()
        sleep()
        if badCommitCount.load(ordering: .relaxed) > 0 {
          badCommitCount.subtract(1, ordering: .relaxed)
          throw StorageError(.io, during: .commit, driver: info.name, message: "The disk failed.")
        }
        commitCount.add(1, ordering: .relaxed)
        isCommitted = true
      }
      return outcome
    }
    if !isCommitted { return result }
    didCommit.withLock { $0.take() }?()
    if lostAnswerCount.load(ordering: .relaxed) > 0 {
      lostAnswerCount.subtract(1, ordering: .relaxed)
      throw StorageError(.outcomeUnknown, during: .commit, driver: info.name, message: "The answer was lost.")
    }
    return result
  }

  func close() throws { try base.close() }
}

/// Fails where it is told to.
private final class SlowTransaction: WriteTransaction {
  private let base: any WriteTransaction
  private let badKey: [UInt8]?

  init(_ base: any WriteTransaction, _ badKey: [UInt8]?) {
    self.base = base
    self.badKey = badKey
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    if let badKey, [UInt8](copying: key).suffix(badKey.count) == badKey[...] { throw SlowStorage.Bad() }
    try base.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws { try base.remove(key) }

  func removeAll(in range: StorageKeyRange) throws { try base.removeAll(in: range) }
}

import Foundation
import GarageDriver
import Synchronization

/// Holds reads in place, all of them or one in its middle, until it is told to let go.
final class HoldingStorage: StorageDriver {
  private let base: any StorageDriver
  let info: StorageInfo
  /// How many keys reads have visited, or asked for the value of.
  private let steps = Atomic<Int>(0)
  /// The step that is held.
  private let heldStep = Atomic<Int>(Int.max)
  private let isStepHeld = Atomic<Bool>(false)
  private let areReadsHeld = Atomic<Bool>(false)

  init(_ base: any StorageDriver) {
    self.base = base
    info = base.info
  }

  /// How many steps reads have made since ``hold(atStep:)``.
  var stepCount: Int { steps.load(ordering: .relaxed) }

  /// Whether a read has come to the step, and waits there.
  var isHeld: Bool { isStepHeld.load(ordering: .acquiring) }

  /// Counts steps anew, and holds the read that makes this one; none without a number.
  func hold(atStep step: Int = .max) {
    steps.store(0, ordering: .relaxed)
    heldStep.store(step, ordering: .relaxed)
  }

  /// Holds all reads before they begin.
  func holdReads() { areReadsHeld.store(true, ordering: .releasing) }

  func letGo() {
    heldStep.store(Int.max, ordering: .relaxed)
    isStepHeld.store(false, ordering: .releasing)
    areReadsHeld.store(false, ordering: .releasing)
  }

  fileprivate func step() {
    let step = steps.add(1, ordering: .relaxed).newValue
    if step != heldStep.load(ordering: .relaxed) { return }
    isStepHeld.store(true, ordering: .releasing)
    while isStepHeld.load(ordering: .acquiring) { usleep(500) }
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    while areReadsHeld.load(ordering: .acquiring) { usleep(500) }
    return try base.read { try body(HoldingTransaction($0, self)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }

  func close() throws { try base.close() }
}

private final class HoldingTransaction: ReadTransaction {
  private let base: any ReadTransaction
  private let storage: HoldingStorage

  init(_ base: any ReadTransaction, _ storage: HoldingStorage) {
    self.base = base
    self.storage = storage
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    storage.step()
    return try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction) { key, value in
      storage.step()
      return try visit(key, value)
    }
  }
}

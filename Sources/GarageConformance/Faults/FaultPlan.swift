public import GarageDriver
internal import Synchronization

/// Says which operations of a ``FaultyStorage`` fail, and counts the operations.
public final class FaultPlan: Sendable {
  private struct State {
    var counts: [StorageError.Operation: Int] = [:]
    var faults: [StorageError.Operation: [Int: StorageError.Kind]] = [:]
  }
  private let state = Mutex(State())

  /// A plan in which nothing fails until ``fail(_:after:with:)`` is called.
  public init() {}

  /// Lets the operation fail that comes after `count` others of its sort, counted from the plan's beginning or its last
  /// ``reset()``. A ``StorageError/Kind/conflict`` is retryable, as every engine's is.
  public func fail(
    _ operation: StorageError.Operation, after count: Int, with kind: StorageError.Kind = .io
  ) {
    state.withLock { $0.faults[operation, default: [:]][count] = kind }
  }

  /// How many operations of this sort were begun, including failed ones.
  public func count(of operation: StorageError.Operation) -> Int {
    state.withLock { $0.counts[operation] ?? 0 }
  }

  /// Removes all faults and resets the counts.
  public func reset() { state.withLock { $0 = State() } }

  /// Counts one operation. Returns the error that the operation is to fail with; nil if it is not to fail.
  func next(_ operation: StorageError.Operation, driver: String) -> StorageError? {
    let (number, kind) = state.withLock { state in
      let number = state.counts[operation] ?? 0
      state.counts[operation] = number + 1
      return (number, state.faults[operation]?[number])
    }
    guard let kind else { return nil }
    return StorageError(
      kind, during: operation, driver: driver, isRetryable: kind == .conflict,
      message: "The fault plan let \(operation.rawValue) number \(number) fail. Look there for the reason.")
  }
}

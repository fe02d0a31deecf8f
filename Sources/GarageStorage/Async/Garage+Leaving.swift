internal import GarageDriver
internal import Synchronization

// Where the reads of tasks run: in the task, on a thread of the library's, or both: the bytes are fetched on that thread, and
// users' code runs in the task.

/// Whether the task was cancelled that waits for a thread of the library's.
final class Cancellation: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// - Throws: `CancellationError`.
  func check() throws {
    if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
  }
}

extension Garage {
  /// Runs a read on a thread of the library's, including users' code that belongs to no actor.
  ///
  /// - Parameter body: has to check the ``Cancellation`` between two objects. It may run more than once.
  nonisolated(nonsending)
    func reading<R>(_ body: @escaping (ReadAccess, Cancellation) throws -> R) async throws -> sending R
  {
    try await leaving { [self] cancellation in
      try withRepeatableReadAccess { try body($0, cancellation) }
    }
  }

  /// Runs a closure that is not async on a thread of the library's.
  nonisolated(nonsending)
    func leaving<R>(_ body: @escaping (Cancellation) throws -> R) async throws -> sending R
  {
    try Task.checkCancellation()
    let cancellation = Cancellation()
    let settings = CallSettings(of: self)
    let carried = Carried(body)
    let result: Carried<R> = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        WorkerPlaces.forReads.run { [self] in
          continuation.resume(
            with: Result {
              try cancellation.check()
              return try settings.apply(to: self) { Carried(try carried.value(cancellation)) }
            })
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return result.value
  }

  /// Runs a read of one record in the task, including users' code, unless each call of the storage makes it wait.
  nonisolated(nonsending)
    func readingHere<R>(_ body: (ReadAccess) throws -> R) async throws -> R
  {
    if store.roundTripsAreExpensive { return try await readingFetched(body) }
    try Task.checkCancellation()
    return try withReadAccess(body)
  }

  /// Runs users' code in the task, on bytes that were fetched on a thread of the library's.
  nonisolated(nonsending)
    func readingFetched<R>(
      beginningWith keys: [StorageKey] = [], _ body: (ReadAccess) throws -> R
    ) async throws -> R
  {
    var wanted = FetchedTransaction.Wanted()
    wanted.keys = Set(keys)
    try Task.checkCancellation()
    try checkOpen()
    // If nothing is known yet, the body first runs only to find out what it reads. That needs no state of the storage.
    var next = keys.isEmpty ? FetchedTransaction(ofNothingIn: self) : try await fetch(wanted)
    while true {
      let fetched = next
      let result: Result<R, any Error> = Result {
        try translatingErrors { try body(ReadAccess(garage: self, transaction: fetched)) }
      }
      // Users' code may have replaced the error by another one.
      if !fetched.hasMissed { return try result.get() }
      wanted = fetched.wanted
      next = try await fetch(wanted)
    }
  }

  /// A copy of all wanted entries, from one state.
  nonisolated(nonsending)
    func fetch(_ wanted: FetchedTransaction.Wanted) async throws -> FetchedTransaction
  {
    try await reading { access, cancellation in
      try FetchedTransaction(wanted, from: access, cancellation)
    }
  }
}

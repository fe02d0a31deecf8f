internal import GarageDriver
internal import Synchronization

// Where the reads of tasks run: here, on a thread of the library's, or there as far as bytes are concerned and here as
// far as users' code is.

/// Whether the task that waits for a thread of the library's was cancelled.
final class Cancellation: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// - Throws: `CancellationError`.
  func check() throws {
    if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
  }
}

extension Garage {
  /// Runs a read on a thread of the library's, users' code that does not belong to an actor included.
  ///
  /// - Parameter body: has to ask the ``Cancellation`` between two objects. It may run again.
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

  /// Runs a read of one record, and users' code with it, here, unless the storage waits for each call.
  nonisolated(nonsending)
    func readingHere<R>(_ body: (ReadAccess) throws -> R) async throws -> R
  {
    if store.roundTripsAreExpensive { return try await readingFetched(body) }
    try Task.checkCancellation()
    return try withReadAccess(body)
  }

  /// Runs users' code here, on bytes that were fetched elsewhere.
  nonisolated(nonsending)
    func readingFetched<R>(
      beginningWith keys: [StorageKey] = [], _ body: (ReadAccess) throws -> R
    ) async throws -> R
  {
    var wanted = FetchedTransaction.Wanted()
    wanted.keys = Set(keys)
    try Task.checkCancellation()
    try checkOpen()
    // If nothing is known yet, the body is run once only to find out what it asks for. That takes no state of the storage.
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

  /// A copy of all that is wanted, from one state.
  nonisolated(nonsending)
    func fetch(_ wanted: FetchedTransaction.Wanted) async throws -> FetchedTransaction
  {
    try await reading { access, _ in try FetchedTransaction(wanted, from: access) }
  }
}

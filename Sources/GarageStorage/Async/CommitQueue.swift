internal import CGarage
internal import GarageDriver
internal import Synchronization

/// Whose turn it is to commit to a garage's storage, and the jobs that wait for their turn, in order.
///
/// Committing to a disk takes long, and the wait for it can be shared: the holder of the turn commits, together with its own
/// change, the jobs behind it that are nothing but bytes. A thread that comes to an empty queue takes its turn by one atomic
/// exchange, and gives it back by another.
///
/// Three rules:
/// - A thread that has the turn makes one transaction, with a bounded number of jobs, and hands the turn to the first
///   that waits: to its thread, or where a task waits to a thread of the library's (``WorkerThreads``).
/// - Code of users runs on the thread of the caller that it came with, or on the library's; never on another caller's.
/// - A thread that is inside any transaction goes past the queue: it may be what the thread waits for that has the turn.
final class CommitQueue: Sendable {
  private enum Turn {
    static let free = 0
    static let taken = 1
    /// Taken, and there may be jobs that wait.
    static let awaited = 2
  }

  private let turn = Atomic<Int>(Turn.free)
  /// No job waits while the turn is free.
  private let waiting = Mutex(WaitingLine<CommitJob>())
  /// Marks threads that have the turn, for drivers that mark no transactions by themselves.
  private let lifetime: StorageLifetime

  /// How much is committed together at most.
  private static let maximumJobCount = 512
  private static let maximumByteCount = 8 << 20

  /// Whether a commit waits a moment for more jobs.
  private let awaitsOthers: Bool
  /// Whether writes that are in no queue, or in another one, commit while a transaction is open.
  let othersCommitMeanwhile: Bool
  /// The last commit of several jobs or one.
  private let last = Mutex((jobCount: 0, duration: Duration.zero))

  init(_ info: StorageInfo) {
    lifetime = StorageLifetime(driver: info.name)
    awaitsOthers = info.roundTripsAreExpensive
    othersCommitMeanwhile = info.writersConflict
  }

  /// Whether the calling thread has to go past the queue.
  @inline(__always)
  static var isPassed: Bool { garage_transaction_count() > 0 }

  // MARK: - Turns of threads

  /// Takes the turn if it is free; ``end()`` has to follow then.
  @inline(__always)
  func beginIfFree() throws -> Bool {
    let isFree = turn.compareExchange(
      expected: Turn.free, desired: Turn.taken, ordering: .acquiring
    ).exchanged
    if isFree { try lifetime.beginCall() }
    return isFree
  }

  /// Waits for the turn; ``end()`` has to follow.
  func begin() throws {
    if try beginIfFree() { return }
    let job = CommitJob(ofThread: .ofWaitingThread)
    _ = try begin(job)
  }

  /// Waits until it is the job's turn, and ``end()`` has to follow, or until the job was settled by another thread.
  func begin(_ job: CommitJob) throws -> CommitJob.Wake {
    let wake = enqueue(job) ? .turn : job.wait()
    if case .turn = wake { try lifetime.beginCall() }
    return wake
  }

  /// Gives the turn to the first that waits.
  @inline(__always)
  func end() {
    lifetime.endCall()
    let isFree = turn.compareExchange(
      expected: Turn.taken, desired: Turn.free, ordering: .releasing
    ).exchanged
    if !isFree { passOn() }
  }

  @inline(never)
  private func passOn() {
    let next = waiting.withLock { jobs -> CommitJob? in
      guard let first = jobs.first else {
        turn.store(Turn.free, ordering: .releasing)
        return nil
      }
      if first.garageOfTask == nil { _ = jobs.popFirst() }
      return first
    }
    guard let next else { return }
    if let garage = next.garageOfTask { lead(garage) } else { next.giveTurn() }
  }

  /// Adds a job. If the turn is free, the job is not added: the caller has the turn, and true is returned.
  private func enqueue(_ job: CommitJob) -> Bool {
    waiting.withLock { jobs in
      if takeTurnOrAwait() { return true }
      jobs.append(job)
      return false
    }
  }

  /// Takes the turn, or notes that a job waits for it. Under the lock.
  private func takeTurnOrAwait() -> Bool {
    while true {
      let seen = turn.load(ordering: .relaxed)
      if seen == Turn.awaited { return false }
      let next = seen == Turn.free ? Turn.taken : Turn.awaited
      if turn.compareExchange(expected: seen, desired: next, ordering: .acquiringAndReleasing).exchanged {
        return seen == Turn.free
      }
    }
  }

  // MARK: - Jobs of tasks

  /// Adds the job of a task.
  func submit(_ job: CommitJob) {
    let leads = waiting.withLock { jobs in
      jobs.append(job)
      if !takeTurnOrAwait() { return false }
      turn.store(Turn.awaited, ordering: .relaxed)
      return true
    }
    if leads, let garage = job.garageOfTask { lead(garage) }
  }

  /// Takes a job out, unless it was taken already; returns whether it was there.
  func cancel(_ job: CommitJob) -> Bool {
    waiting.withLock { jobs in jobs.remove { $0 === job } != nil }
  }

  private func lead(_ garage: Garage) {
    WorkerThreads.shared.run { [self] in
      while let job = nextOfTask() {
        // Never closed, so this does not fail.
        let isMarked = (try? lifetime.beginCall()) != nil
        let settled = job.isBytes ? garage.commitTogether(job, self) : [(job, job.runTransaction())]
        if isMarked { lifetime.endCall() }
        for (job, error) in settled { job.settle(error) }
      }
    }
  }

  /// The job of a task that is first; nil, and the turn was passed on, where there is none.
  private func nextOfTask() -> CommitJob? {
    let (job, isOfTask) = waiting.withLock { jobs -> (CommitJob?, Bool) in
      guard let first = jobs.popFirst() else {
        turn.store(Turn.free, ordering: .releasing)
        return (nil, false)
      }
      return (first, first.garageOfTask != nil)
    }
    if isOfTask { return job }
    job?.giveTurn()
    return nil
  }

  // MARK: - What is committed together

  /// Takes jobs of bytes that are next, as many as fit behind `batch`.
  func takeBytes(behind batch: [CommitJob]) -> [CommitJob] {
    var room = CommitQueue.maximumByteCount - batch.reduce(0) { $0 + $1.byteCount }
    let maximumCount = CommitQueue.maximumJobCount - batch.count
    return waiting.withLock { jobs in
      var taken: [CommitJob] = []
      while taken.count < maximumCount, room > 0, let first = jobs.first, first.isBytes {
        room -= first.byteCount
        taken.append(first)
        _ = jobs.popFirst()
      }
      return taken
    }
  }

  /// How long to wait for jobs that may be on their way; nil where that is too short to count.
  ///
  /// The callers of the last commit go on all at once and come again one after another; a caller that comes too late waits for
  /// a whole commit. Without this wait the first one would commit alone each time, and all others together.
  func patience(with jobCount: Int) -> Duration? {
    guard awaitsOthers else { return nil }
    let last = last.withLock { $0 }
    let patience = min(last.duration / 8, .milliseconds(1))
    return jobCount < last.jobCount && patience > .microseconds(40) ? patience : nil
  }

  /// Notes a commit.
  func noteCommit(of jobCount: Int, _ duration: Duration) {
    if awaitsOthers { last.withLock { $0 = (jobCount, duration) } }
  }

  /// Puts jobs that were taken back in front of all others. For the holder of the turn.
  func putBack(_ taken: some Collection<CommitJob>) {
    if taken.isEmpty { return }
    waiting.withLock { jobs in
      // The turn may have been taken while no job waited.
      turn.store(Turn.awaited, ordering: .relaxed)
      jobs.putFirst(taken)
    }
  }
}

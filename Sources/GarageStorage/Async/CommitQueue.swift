internal import CGarage
internal import GarageDriver
internal import Synchronization

/// Tells who may commit to a garage's storage, and holds the jobs that wait for their turn, in order.
///
/// Committing to a disk takes long, but several changes can share one commit: together with its own change, the holder of the
/// turn commits the jobs behind it that only write bytes. A thread that finds the queue empty takes the turn by one atomic
/// exchange, and gives it back by another.
///
/// Three rules:
/// - A thread that has the turn makes one transaction, with a bounded number of jobs. It then passes the turn to the first one
///   that waits: to its thread, or for a task to a thread of the library's (``WorkerThreads``).
/// - Users' code runs on the thread of the caller that brought it, or on a thread of the library's; never on the thread of
///   another caller.
/// - A thread that is inside any transaction bypasses the queue: the holder of the turn may be waiting for that transaction.
final class CommitQueue: Sendable {
  private enum Turn {
    static let free = 0
    static let taken = 1
    /// Taken, and jobs may be waiting.
    static let awaited = 2
  }

  private let turn = Atomic<Int>(Turn.free)
  /// The jobs that wait. There are none while the turn is free.
  private let waiting = Mutex(WaitingLine<CommitJob>())
  /// Marks threads that have the turn, for drivers that do not mark transactions themselves.
  private let lifetime: StorageLifetime

  /// How many jobs, and how many bytes, are committed together at most.
  private static let maximumJobCount = 512
  private static let maximumByteCount = 8 << 20

  /// Whether a commit waits a moment for more jobs.
  private let awaitsOthers: Bool
  /// Whether writes that bypass this queue may commit while a transaction is open.
  let othersCommitMeanwhile: Bool
  /// The last commit: how many jobs it had, and how long it took.
  private let last = Mutex((jobCount: 0, duration: Duration.zero))

  init(_ info: StorageInfo) {
    lifetime = StorageLifetime(driver: info.name)
    awaitsOthers = info.roundTripsAreExpensive
    othersCommitMeanwhile = info.writersConflict
  }

  /// Whether the calling thread has to bypass the queue.
  @inline(__always)
  static var isPassed: Bool { garage_transaction_count() > 0 }

  // MARK: - Turns of threads

  /// Takes the turn if it is free. Then ``end()`` has to follow.
  @inline(__always)
  func beginIfFree() throws -> Bool {
    let isFree = turn.compareExchange(
      expected: Turn.free, desired: Turn.taken, ordering: .acquiring
    ).exchanged
    if isFree { try lifetime.beginCall() }
    return isFree
  }

  /// Waits for the turn. ``end()`` has to follow.
  func begin() throws {
    if try beginIfFree() { return }
    let job = CommitJob(ofThread: .ofWaitingThread)
    _ = try begin(job)
  }

  /// Waits until it is the job's turn, after which ``end()`` has to follow, or until another thread has settled the job.
  func begin(_ job: CommitJob) throws -> CommitJob.Wake {
    // A thread that had the turn when the process was forked is not in the child, and gives it to nobody there.
    try lifetime.checkNotForked(.write)
    let wake = enqueue(job) ? .turn : job.wait()
    if case .turn = wake { try lifetime.beginCall() }
    return wake
  }

  /// Gives the turn to the first one that waits.
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

  /// Adds a job and returns false. If the turn is free, it does not add the job, but gives the caller the turn and returns
  /// true.
  private func enqueue(_ job: CommitJob) -> Bool {
    waiting.withLock { jobs in
      if takeTurnOrAwait() { return true }
      job.ticket = jobs.append(job)
      return false
    }
  }

  /// Takes the turn and returns true, or notes that a job waits for it. Called under the lock.
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
    do { try lifetime.checkNotForked(.write) } catch { return job.settle(error) }
    let leads = waiting.withLock { jobs in
      job.ticket = jobs.append(job)
      if !takeTurnOrAwait() { return false }
      turn.store(Turn.awaited, ordering: .relaxed)
      return true
    }
    if leads, let garage = job.garageOfTask { lead(garage) }
  }

  /// Removes a job, unless it was taken already. Returns whether it was there.
  func cancel(_ job: CommitJob) -> Bool {
    waiting.withLock { jobs in job.ticket.flatMap { jobs.remove($0) } != nil }
  }

  private func lead(_ garage: Garage) {
    WorkerThreads.shared.run { [self] in
      while let job = nextOfTask() {
        // This lifetime is never closed, so the call does not fail.
        let isMarked = (try? lifetime.beginCall()) != nil
        let settled = job.isBytes ? garage.commitTogether(job, self) : [(job, job.runTransaction())]
        if isMarked { lifetime.endCall() }
        for (job, error) in settled { job.settle(error) }
      }
    }
  }

  /// The first job, if a task waits for it. If there is none, the turn is passed on, and nil returned.
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

  // MARK: - Committing together

  /// Takes the next jobs of bytes, as many as fit into the batch.
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

  /// How long to wait for jobs that may be on their way; nil if that is too short to matter.
  ///
  /// The callers of the last commit go on at the same time, and come back one after another. A caller that comes back too late
  /// waits for a whole commit. Without this wait, the first one would commit alone each time, and all others together.
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

  /// Puts jobs that were taken back in front of all others. Only the holder of the turn may call it.
  func putBack(_ taken: some Collection<CommitJob>) {
    if taken.isEmpty { return }
    waiting.withLock { jobs in
      // The turn may have been taken while no job waited.
      turn.store(Turn.awaited, ordering: .relaxed)
      for (job, ticket) in zip(taken, jobs.putFirst(taken)) { job.ticket = ticket }
    }
  }
}

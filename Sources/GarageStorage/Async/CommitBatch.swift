#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The jobs that are to be committed in one transaction, while that is being tried.
struct CommitBatch {
  private let queue: CommitQueue
  /// The jobs that are still to be committed.
  private var jobs: [CommitJob]
  /// The job that is running.
  private var running: Int?
  private var hasBegun = false
  /// How many jobs there were when the transaction began.
  private var countAtBegin = 0
  /// Whether each job is committed by itself, because committing them together failed.
  private var isSingle = false
  /// How many more times another transaction may come first before each job is tried by itself.
  private var conflictsLeft = 3
  private var done: [ObjectIdentifier: (any Error)?] = [:]
  private var order: [CommitJob]
  /// Until when it waits for jobs that may be on their way.
  private var waitsUntil: ContinuousClock.Instant?
  /// When all jobs had run and the commit began.
  private var ranAt: ContinuousClock.Instant?

  init(_ first: CommitJob, _ queue: CommitQueue) {
    self.queue = queue
    jobs = [first]
    order = [first]
  }

  var isDone: Bool { jobs.isEmpty }

  var settled: [(job: CommitJob, error: (any Error)?)] {
    order.compactMap { job in done[ObjectIdentifier(job)].map { (job, $0) } }
  }

  mutating func beginAttempt() {
    running = nil
    hasBegun = false
    countAtBegin = jobs.count
  }

  /// Runs all jobs, and the jobs that come meanwhile.
  mutating func run(_ access: WriteAccess) throws {
    hasBegun = true
    var next = 0
    repeat {
      let end = isSingle ? 1 : jobs.count
      while next < end {
        running = next
        try jobs[next].run(access)
        // A verb may leave changes behind that must not be committed.
        if let failure = access.pending.failure { throw failure }
        next += 1
      }
      running = nil
      if isSingle { return }
      let more = takeMore()
      jobs += more
      order += more
    } while next < jobs.count
    ranAt = .now
  }

  private mutating func takeMore() -> [CommitJob] {
    while true {
      let more = queue.takeBytes(behind: jobs)
      guard more.isEmpty, let patience = queue.patience(with: jobs.count) else { return more }
      let end = waitsUntil ?? .now + patience
      waitsUntil = end
      if ContinuousClock.now >= end { return [] }
      usleep(20)
    }
  }

  /// Notes that all jobs that ran are committed.
  mutating func succeed() {
    if !isSingle, let ranAt { queue.noteCommit(of: jobs.count, .now - ranAt) }
    let count = isSingle ? 1 : jobs.count
    for job in jobs[..<count] { done[ObjectIdentifier(job)] = .some(nil) }
    jobs.removeFirst(count)
  }

  /// Whether all jobs are to be tried once more, because another transaction came first.
  mutating func repeats(after error: any Error) -> Bool {
    guard !isSingle, conflictsLeft > 0, GarageError.isConflict(error) else { return false }
    conflictsLeft -= 1
    return true
  }

  /// Notes that the transaction was not committed, because of the running job or of all jobs.
  mutating func fail(_ error: any Error) {
    if let running {
      // The job came after the transaction had begun, and that transaction does not see what others have committed since. If
      // the job failed because of that, it will succeed in a transaction that begins later. So it runs once more.
      if running >= countAtBegin && queue.othersCommitMeanwhile { return }
      settle(jobs.remove(at: running), error)
    } else if !hasBegun {
      // The storage refuses all writes.
      for job in jobs { settle(job, error) }
      jobs = []
    } else if isSingle || jobs.count == 1 {
      settle(jobs.removeFirst(), error)
    } else if GarageError.isOutcomeUnknown(error) {
      // The jobs may be committed, and must not be done twice.
      for job in jobs { settle(job, error) }
      jobs = []
    } else {
      // Either all jobs together were too much for one transaction, or one job is at fault. It cannot be told which.
      isSingle = true
    }
  }

  /// Takes the first job out, and leaves all others to their own turns.
  mutating func takeFirst() -> CommitJob {
    let job = jobs.removeFirst()
    // The other jobs go back to the front of the queue.
    queue.putBack(jobs)
    let left = Set(jobs.map { ObjectIdentifier($0) })
    order.removeAll { left.contains(ObjectIdentifier($0)) }
    jobs = []
    return job
  }

  mutating func settle(_ job: CommitJob, _ error: (any Error)?) {
    done[ObjectIdentifier(job)] = .some(error)
  }
}

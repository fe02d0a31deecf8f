internal import GarageDriver
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Ends reads that rest. A read rests when it is over and its reader keeps the state that it saw for the next read.
///
/// To pin a state, SQLite locks a byte of a file, and unlocks it after the read: two system calls, which take longer than a get
/// does. So where many reads come one after another, a reader keeps its state, and the next read begins on it without a call if
/// it finds that nothing was committed since (``SQLiteLogHeader``). But as long as a state is pinned, the log cannot be
/// emptied, not even by other processes. So no state is kept for two whole ticks: a thread of the library ends those that were
/// not taken up again. It runs only while reads rest, and nothing rests while it does not run.
///
/// Writers of this process that want to empty the log end those on their file at once (``end(on:)``).
final class SQLiteRestingReads: Sendable {
  static let shared = SQLiteRestingReads()

  /// Tells the readers of one storage whether they may rest.
  final class Clock: Sendable {
    /// The number of the current tick: a read that began in it may rest until the next one. 0 where none may.
    let now = Atomic<UInt64>(0)
  }

  /// The readers of one storage, while they rest.
  private struct Resting: Sendable {
    let pool: SQLiteReaderPool
    var mayRest = true
    /// How many ticks ended nothing.
    var idleCount = 0
    /// For how many ticks no read has been allowed to rest.
    private(set) var ticksWithoutRest = 0

    /// Ends reads that have rested since the last tick; false where none rests any more, and none will.
    mutating func tick(_ number: UInt64) -> Bool {
      let mayHaveRested = mayRest
      let isFew = idleCount < SQLiteRestingReads.maximumIdleCount
      ticksWithoutRest = mayRest ? 0 : ticksWithoutRest + 1
      pool.clock.now.store(mayRest ? number : 0, ordering: .relaxed)
      let (endedCount, isOneInUse) = pool.endResting()
      idleCount = endedCount > 0 ? 0 : idleCount + 1
      mayRest = isFew || isOneInUse && idleCount < SQLiteRestingReads.maximumBusyCount
      // A reader in use may not have seen yet that it must not rest.
      return mayHaveRested || mayRest || endedCount > 0 || isOneInUse
    }
  }

  private struct State: Sendable {
    var all: [Resting] = []
    var isTicking = false
    var lastTick: UInt64 = 0
  }

  private let state = Mutex(State())
  private let process = ProcessMark()

  private static let tickMicroseconds: UInt32 = 10_000
  /// After so many ticks that ended nothing, none may rest any more.
  private static let maximumIdleCount = 3
  /// The same where a reader is in use at every tick: by one read after another, or by a single long one.
  private static let maximumBusyCount = 100
  /// How long a tick is when the thread only waits for a long read to end, to see that its reader keeps nothing. That begins so
  /// long after none may rest any more that every read that ends has surely seen it.
  private static let longPauseMicroseconds: UInt32 = 200_000
  private static let ticksBeforeLongPause = 20

  private init() {}

  /// Lets the readers of a pool rest from here on, for as long as reads come.
  func begin(for pool: SQLiteReaderPool) {
    // A forked child does not have this thread, and perhaps has a lock that a thread of its parent held.
    if !process.isOfThisProcess { return }
    state.withLock { state in
      if let index = state.all.firstIndex(where: { $0.pool === pool }) {
        (state.all[index].mayRest, state.all[index].idleCount) = (true, 0)
        return
      }
      if !state.isTicking {
        guard DetachedThread.start({ SQLiteRestingReads.shared.run() }) else { return }
        state.isTicking = true
      }
      state.all.append(Resting(pool: pool))
    }
  }

  /// Ends the resting reads of a file in this process.
  func end(on file: FileIdentity) {
    if !process.isOfThisProcess { return }
    state.withLock { state in
      for resting in state.all where resting.pool.identity == file { _ = resting.pool.endResting() }
    }
  }

  /// Lets go of a pool that closes. Nobody reads through it any more.
  func remove(_ pool: SQLiteReaderPool) {
    if !process.isOfThisProcess { return }
    state.withLock { $0.all.removeAll { $0.pool === pool } }
  }

  private func run() {
    while let pause = tick() { usleep(pause) }
  }

  /// Returns how long to wait for the next tick, in microseconds; nil where the thread is to end.
  private func tick() -> UInt32? {
    state.withLock { state in
      state.lastTick += 1
      var stay: [Resting] = []
      for var resting in state.all where resting.tick(state.lastTick) { stay.append(resting) }
      state.all = stay
      if stay.isEmpty {
        state.isTicking = false
        return nil
      }
      return stay.allSatisfy { $0.ticksWithoutRest > Self.ticksBeforeLongPause }
        ? Self.longPauseMicroseconds : Self.tickMicroseconds
    }
  }
}

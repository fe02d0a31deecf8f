internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The care for the write-ahead log: when it is copied into the file, and when it is emptied.
///
/// SQLite's own rule copies from a thousand pages on, but starts the log afresh only where no reader uses it:
/// readers that overlap let it grow without end. And it does not look at the disk: a log of the usual length may be
/// all that fits there. So the log is bounded by ``SQLiteStorage/Options/walCheckpointByteCount``, and by a part of
/// the room there is, so that it never takes what the next transaction needs, or what copying it into the file does.
struct SQLiteLog {
  /// SQLite's own default for copying.
  private static let copyPageCount = 1000
  /// How long an attempt to empty the log waits for readers after a commit, in milliseconds.
  private static let patience: Int32 = 50
  /// The log may take one of so many parts of the room that would be free without it.
  private static let shareOfRoom = 8
  /// With less room than this, in bytes, every transaction begins with a look at the disk.
  private static let scarceByteCount = 1 << 20
  /// With less room than this, in bytes, a commit that made the store larger is copied into the file at once.
  private static let smallByteCount = 16 << 20
  /// Looking at the disk is a system call: with more room, it is done this often, in nanoseconds.
  private static let pauseBetweenLooks: UInt64 = 20_000_000

  private let path: String
  private let identity: FileIdentity
  private let pageByteCount: Int
  /// From which length on the log is emptied where there is room enough.
  private let thresholdPageCount: Int
  private let busyMilliseconds: Int32

  /// What the disk had free at the last look, in bytes.
  private var freeByteCount = 0
  /// When that was; 0 where another look is due.
  private var timeOfLook: UInt64 = 0
  /// How many pages were committed since then.
  private var pagesSinceLook = 0
  /// How long the log was after the last commit, in pages.
  private var length = 0
  /// The length at which the log could not be emptied, because of a reader. Writers wait for such a reader again only when the
  /// log has grown by its whole limit.
  private var lengthOfFailure = 0
  /// Whether the next commit is to be copied into the file at once: the first one of a new store, so that a copy of
  /// the file alone, which lacks what is in the log, is at least what was made and not an empty store.
  private var copiesNextCommit: Bool

  /// How many pages the store had when all of the log was copied into the file.
  private var copiedPageCount = 0

  init(
    path: String, identity: FileIdentity, pageByteCount: Int, thresholdByteCount: Int,
    busyMilliseconds: Int32,
    isNew: Bool
  ) {
    self.path = path
    self.identity = identity
    self.pageByteCount = max(512, pageByteCount)
    thresholdPageCount = max(1, thresholdByteCount / self.pageByteCount)
    self.busyMilliseconds = busyMilliseconds
    copiesNextCommit = isNew
  }

  /// Called before a transaction begins: empties the log where it takes so much of a small disk that the
  /// transaction might not find room.
  mutating func careBefore(_ connection: SQLiteConnection) {
    let now = Self.now
    let isLookDue =
      timeOfLook == 0 || now &- timeOfLook > Self.pauseBetweenLooks || freeByteCount < Self.scarceByteCount
      || pagesSinceLook * pageByteCount > freeByteCount / Self.shareOfRoom
    if !isLookDue { return }
    look(now)
    if limit >= thresholdPageCount { return }
    let onDisk = logByteCount
    if onDisk > 0 && onDisk > (freeByteCount + onDisk) / Self.shareOfRoom {
      _ = empty(connection, waiting: 0)
    }
  }

  /// Called after a commit, which has succeeded whatever happens here.
  mutating func careAfter(_ connection: SQLiteConnection) {
    let length = connection.takeLogPageCount()
    if length == 0 { return }
    pagesSinceLook += length > self.length ? length - self.length : length
    self.length = length
    if length < lengthOfFailure { lengthOfFailure = 0 }
    if length >= lengthOfFailure + limit {
      if empty(connection, waiting: Self.patience) != SQLITE_OK { lengthOfFailure = length }
    } else if freeByteCount < Self.smallByteCount || copiesNextCommit {
      copiesNextCommit = false
      copyGrowth(connection)
    } else if length >= Self.copyPageCount {
      _ = copy(connection)
    }
  }

  /// Empties the log as far as readers let it.
  mutating func emptyNow(_ connection: SQLiteConnection) {
    length = connection.takeLogPageCount()
    if empty(connection, waiting: Self.patience) != SQLITE_OK { lengthOfFailure = length }
  }

  /// Lets the file grow as soon as the store does. A transaction that finds no room leaves a log that takes all the room there
  /// was; to empty it must then not need any more.
  private mutating func copyGrowth(_ connection: SQLiteConnection) {
    guard let pageCount = connection.pageCount(), pageCount > copiedPageCount else { return }
    let copied = copy(connection)
    if copied.isDone && copied.pageCount == copied.logPageCount { copiedPageCount = pageCount }
  }

  /// Called when a transaction found no room and was rolled back: gives the log's room back, and tells whether the
  /// call is worth another try.
  ///
  /// - Parameter isReading: whether the calling thread has a read open, which may be what keeps the log.
  mutating func relieve(
    _ connection: SQLiteConnection, after error: StorageError, isReading: Bool
  ) -> StorageError {
    let pageCount = copy(connection).logPageCount
    let byteCount = logByteCount
    // Also if nothing is in it, because the rolled back transaction may have made it longer.
    let code = empty(connection, waiting: Self.patience)
    timeOfLook = 0
    let log = "The write-ahead log (\(path)-wal) took \(byteCount) bytes"
    var error = error
    switch code & 0xFF {
    case SQLITE_OK where pageCount > 0:
      error.isRetryable = true
      error.message += " \(log) and has been emptied since: the call may succeed when it is made again."
    case SQLITE_OK: break
    case SQLITE_BUSY, SQLITE_LOCKED:
      error.isRetryable = !isReading
      error.message += """
         \(log) and cannot be emptied while a reader, of this or another process, stays on an older state: \
        let long reads end.
        """
    default:
      error.message += " \(log) and cannot be emptied, because there is no room to copy it into the file."
    }
    return error
  }

  /// How many pages the log may have.
  private var limit: Int {
    let room = freeByteCount + max(0, length - pagesSinceLook) * pageByteCount
    return max(1, min(thresholdPageCount, room / Self.shareOfRoom / pageByteCount))
  }

  /// Copies the log into the file, as far as no reader is in the way.
  private func copy(_ connection: SQLiteConnection) -> (isDone: Bool, logPageCount: Int32, pageCount: Int32) {
    SQLiteRestingReads.shared.end(on: identity)
    var (logPageCount, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(
      connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logPageCount, &copied)
    return (code == SQLITE_OK, logPageCount, copied)
  }

  private mutating func empty(_ connection: SQLiteConnection, waiting patience: Int32) -> Int32 {
    SQLiteRestingReads.shared.end(on: identity)
    sqlite3_busy_timeout(connection.handle, min(patience, busyMilliseconds))
    let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    sqlite3_busy_timeout(connection.handle, busyMilliseconds)
    if code == SQLITE_OK {
      length = 0
      lengthOfFailure = 0
      timeOfLook = 0
    }
    return code
  }

  /// More bytes than any disk has, and few enough to add to.
  private static let plenty = Int.max / 4

  static func byteCount(of status: statvfs) -> Int {
    let (byteCount, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isMore ? plenty : min(Int(clamping: byteCount), plenty)
  }

  private mutating func look(_ now: UInt64) {
    var status = statvfs()
    // If the system does not tell, there is taken to be room enough. Some network file systems tell of as much as a number can
    // hold.
    freeByteCount = statvfs(path, &status) == 0 ? Self.byteCount(of: status) : Self.plenty
    timeOfLook = now
    pagesSinceLook = 0
  }

  private var logByteCount: Int {
    var status = stat()
    return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
  }

  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}

internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Looks at `data.mdb` without LMDB, at what LMDB would not survive or could not tell.
///
/// The layout is that of LMDB 0.9 on 64-bit systems (`MDB_page`, `MDB_meta`, `MDB_node` in its source). On
/// 32-bit systems nothing is looked at.
///
/// ```
/// page     0  page number (8) │ pad (2) │ flags (2) │ lower (2) │ upper (2)      overflow: count (4) at 12
/// meta    16  magic (4) │ version (4) │ address (8) │ map size (8) │ free database (48) │
///             main database (48) │ last page (8) │ transaction (8)
/// database    page size (4), in the free database │ flags (2) │ depth (2) │ branch pages (8) │
///             leaf pages (8) │ overflow pages (8) │ entries (8) │ root page (8)
/// node        data size or child, low (2) │ … middle (2) │ flags, or child, high (2) │ key size (2) │ key │ data
/// ```
struct LMDBDataFile {
  let path: String
  let lockPath: String
  let folder: String

  enum Condition {
    /// Nothing in it: LMDB will begin a new store.
    case empty
    /// It has at most the first two pages, not all of these, and nothing was ever committed.
    case unfinished
    case whole
  }

  static let isLayoutKnown = Int.bitWidth == 64
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let metaFlag: UInt16 = 0x08

  /// Reads the first page, so that a file of another kind is refused before LMDB adds its lock file.
  func inspect() throws -> Condition {
    let file = openFile(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    defer { closeFile(file) }
    var status = stat()
    if fstat(file, &status) != 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    if status.st_mode & S_IFMT != S_IFREG {
      throw StorageError.notAStorage(folder, "its data.mdb is no file")
    }
    if status.st_size == 0 { return .empty }
    if !Self.isLayoutKnown { return .whole }
    if isCreationTorn(file, byteCount: Int(status.st_size)) { return .unfinished }

    if status.st_size < 152, LMDBPage(file, at: 0, count: Int(status.st_size))?.isBeginningOfMeta == true {
      throw cutError(status.st_size, needed: 2 * Int(getpagesize()))
    }
    guard let page = LMDBPage(file, at: 0, count: 152), page.flags & Self.metaFlag != 0,
      page.magic == Self.magic
    else { throw StorageError.notAStorage(folder, "its data.mdb is no LMDB file", code: MDB_INVALID) }
    if page.version != Self.version {
      throw StorageError(
        .newerFormat, during: .open, driver: driverName, engineCode: Int(MDB_VERSION_MISMATCH),
        message: "\(path) was written by another version of LMDB than this one. Use that version.")
    }
    if status.st_size >= 2 * off_t(page.pageByteCount) { return .whole }
    if page.transaction == 0 { return .unfinished }
    throw cutError(status.st_size, needed: 2 * Int(page.pageByteCount))
  }

  /// Whether one of the two first pages, or both, never reached the disk: LMDB writes them without waiting, and a loss of power
  /// may leave either out. Pages behind them are not written before they are there (``LMDBOpening``).
  private func isCreationTorn(_ file: Int32, byteCount: Int) -> Bool {
    let pageByteCount = Int(getpagesize())
    // Disks write whole sectors. A file that is shorter was cut by another program.
    guard 512...2 * pageByteCount ~= byteCount, let all = LMDBPage(file, at: 0, count: byteCount)?.bytes
    else {
      return false
    }
    var isTorn = false
    for start in [0, pageByteCount] {
      let page = LMDBPage(bytes: Array(all.dropFirst(start).prefix(pageByteCount)))
      if page.bytes.allSatisfy({ $0 == 0 }) {
        isTorn = true
      } else if page.bytes.count < 152 || page.flags & Self.metaFlag == 0 || page.magic != Self.magic
        || page.transaction > 0
      {
        return false
      }
    }
    return isTorn
  }

  /// Empties a file whose creation was interrupted, unless a process is creating it just now.
  func restartCreation() throws {
    let lock = openFile(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    if lock < 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    defer { closeFile(lock) }
    // The lock under which LMDB creates a store. Closing the file gives it back.
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_start = 0
    region.l_len = 1
    if fcntl(lock, F_SETLK, &region) != 0 { return }
    guard case .unfinished = try inspect() else { return }
    if truncate(path, 0) != 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
  }

  /// Throws where the number of the last page is one that no store has: LMDB's computations with it would overflow, so that any
  /// map would seem large enough.
  func checkLastPage(_ env: OpaquePointer) throws {
    var environment = MDB_envinfo()
    var statistics = MDB_stat()
    mdb_env_info(env, &environment)
    mdb_env_stat(env, &statistics)
    let lastPage = UInt(bitPattern: environment.me_last_pgno)
    // The two pages that a store begins with are always there.
    if lastPage < 1 || lastPage >= UInt(Int.max) / UInt(max(512, statistics.ms_psize)) {
      throw StorageError.lmdb(MDB_CORRUPTED, during: .open, path: folder)
    }
  }

  /// Throws where pages that are in use lie beyond the end of the file: reading them through memory would
  /// end the process.
  ///
  /// A file may be shorter than its number of pages and still be whole, because LMDB never writes pages that
  /// a transaction took and gave back. So where it is shorter, the pages in use are looked up: those of the
  /// index alone, or all where there are values larger than a page.
  ///
  /// - Parameter txn: a read transaction, which keeps its pages as they are.
  /// - Returns: false where other processes committed twice since `txn` began; then begin again.
  func checkLength(_ env: OpaquePointer, _ txn: OpaquePointer) throws -> Bool {
    if !Self.isLayoutKnown { return true }
    var environment = MDB_envinfo()
    var statistics = MDB_stat()
    mdb_env_info(env, &environment)
    mdb_env_stat(env, &statistics)
    let pageByteCount = Int(statistics.ms_psize)
    let file = openFile(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    defer { closeFile(file) }
    var status = stat()
    if fstat(file, &status) != 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    if Int(status.st_size) >= (environment.me_last_pgno + 1) * pageByteCount { return true }

    let id = mdb_txn_id(txn)
    var walk = PageWalk(file: file, byteCount: Int(status.st_size), pageByteCount: pageByteCount)
    guard let meta = LMDBPage(file, at: off_t((id & 1) * pageByteCount), count: 152),
      meta.transaction == UInt64(id)
    else { return false }
    do {
      try walk.visit(meta.database(at: 40))
      try walk.visit(meta.database(at: 88))
    } catch let cut as PageWalk.Cut {
      throw cutError(status.st_size, needed: cut.neededByteCount)
    } catch is PageWalk.Loop {
      throw StorageError.lmdb(MDB_CORRUPTED, during: .open, path: folder)
    }
    return true
  }

  func cutError(_ byteCount: off_t, needed: Int) -> StorageError {
    StorageError(
      .corrupt, during: .open, driver: driverName,
      message: """
        \(path) was cut off: it has \(byteCount) bytes, and pages up to byte \(needed) are in use. \
        Restore a copy of the folder.
        """)
  }
}

/// Visits the pages that a state of the store uses, and compares their places with the length of the file.
private struct PageWalk {
  struct Cut: Error {
    var neededByteCount: Int
  }
  /// Thrown where more pages were met than the file has, or a tree inside a tree that can have none.
  struct Loop: Error {}

  let file: Int32
  let byteCount: Int
  let pageByteCount: Int
  private var visitCount = 0

  init(file: Int32, byteCount: Int, pageByteCount: Int) {
    self.file = file
    self.byteCount = byteCount
    self.pageByteCount = pageByteCount
  }

  private static let bigValueFlag: UInt16 = 0x01
  private static let databaseFlag: UInt16 = 0x02
  private static let noPage = UInt64.max

  mutating func visit(_ database: LMDBPage.Database) throws {
    if database.root == Self.noPage || database.depth == 0 { return }
    try visit(database.root, depth: Int(database.depth), database)
  }

  private mutating func visit(_ number: UInt64, depth: Int, _ database: LMDBPage.Database) throws {
    try check(number, count: 1)
    visitCount += 1
    if visitCount > byteCount / pageByteCount { throw Loop() }
    // A leaf matters only if it names other pages.
    if depth == 1 && database.bigValuePageCount == 0 && !database.mayHoldDatabases { return }
    guard let page = LMDBPage(file, at: off_t(Int(number) * pageByteCount), count: pageByteCount) else {
      throw Cut(neededByteCount: (Int(number) + 1) * pageByteCount)
    }
    for node in page.nodes {
      if depth > 1 {
        try visit(page.child(node), depth: depth - 1, database)
      } else if page.nodeFlags(node) & Self.bigValueFlag != 0, let first = page.pageOfBigValue(node) {
        try check(first, count: (15 + page.valueByteCount(node)) / pageByteCount + 1)
      } else if page.nodeFlags(node) & Self.databaseFlag != 0 {
        // A damaged tree may contain itself: it would be entered until the stack ends.
        guard database.mayHoldDatabases else { throw Loop() }
        if let inner = page.database(of: node) { try visit(inner) }
      }
    }
  }

  private func check(_ number: UInt64, count: Int) throws {
    let limit = UInt64(byteCount / pageByteCount)
    if number >= limit || UInt64(count) > limit - number {
      let (end, isTooLarge) = Int(truncatingIfNeeded: number)
        .addingReportingOverflow(count)
      let (needed, isStillTooLarge) = end.multipliedReportingOverflow(by: pageByteCount)
      throw Cut(neededByteCount: isTooLarge || isStillTooLarge ? .max : needed)
    }
  }
}

/// `open(2)`, under a name that no method hides.
func openFile(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { open(path, flags, mode) }

/// `close(2)`, likewise.
func closeFile(_ file: Int32) { _ = close(file) }

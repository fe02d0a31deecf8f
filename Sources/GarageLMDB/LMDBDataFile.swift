internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What is looked at in `data.mdb` without LMDB, because LMDB would not survive it or could not tell.
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
    /// It ends within the two pages that come first, before anything was ever committed.
    case unfinished
    case whole
  }

  private static let isLayoutKnown = Int.bitWidth == 64
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let metaFlag: UInt16 = 0x08

  /// Reads the first page, so that a file of another kind is refused before LMDB adds its lock file.
  func inspect() throws -> Condition {
    let file = openFile(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw storageError(errno, during: .open, path: folder) }
    defer { closeFile(file) }
    var status = stat()
    if fstat(file, &status) != 0 { throw storageError(errno, during: .open, path: folder) }
    if status.st_mode & S_IFMT != S_IFREG { throw notAStorage(folder, "its data.mdb is no file") }
    if status.st_size == 0 { return .empty }
    if !Self.isLayoutKnown { return .whole }

    guard let page = Page(file, at: 0, count: 152), page.flags & Self.metaFlag != 0, page.magic == Self.magic
    else { throw notAStorage(folder, "its data.mdb is no LMDB file", code: MDB_INVALID) }
    if page.version != Self.version {
      throw StorageError(
        .newerFormat, during: .open, driver: driverName, engineCode: Int(MDB_VERSION_MISMATCH),
        message: "\(path) was written by another version of LMDB than this one. Use that version.")
    }
    if status.st_size >= 2 * off_t(page.pageByteCount) { return .whole }
    if page.transaction == 0 { return .unfinished }
    throw cutError(status.st_size, needed: 2 * Int(page.pageByteCount))
  }

  /// Empties a file whose creation was interrupted, unless a process is creating it just now.
  func restartCreation() throws {
    let lock = openFile(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    if lock < 0 { throw storageError(errno, during: .open, path: folder) }
    defer { closeFile(lock) }
    // The lock under which LMDB creates a store. Closing the file gives it back.
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_start = 0
    region.l_len = 1
    if fcntl(lock, F_SETLK, &region) != 0 { return }
    guard case .unfinished = try inspect() else { return }
    if truncate(path, 0) != 0 { throw storageError(errno, during: .open, path: folder) }
  }

  /// Throws where pages that are in use lie beyond the end of the file: reading them through memory would
  /// end the process.
  func checkLength(_ env: OpaquePointer, _ txn: OpaquePointer) throws {
    if !Self.isLayoutKnown { return }
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

/// The beginning of a page, or more of it, read from the file.
private struct Page {
  private var bytes: [UInt8]

  init?(_ file: Int32, at offset: off_t, count: Int) {
    bytes = [UInt8](repeating: 0, count: count)
    let read = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, offset) }
    if read < count { return nil }
  }

  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  var flags: UInt16 { load(10, as: UInt16.self) }
  var magic: UInt32 { load(16, as: UInt32.self) }
  var version: UInt32 { load(20, as: UInt32.self) }
  var pageByteCount: UInt32 { load(40, as: UInt32.self) }
  var transaction: UInt64 { load(144, as: UInt64.self) }
}

/// `open(2)`, under a name that no method hides.
func openFile(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { open(path, flags, mode) }

/// `close(2)`, likewise.
func closeFile(_ file: Int32) { _ = close(file) }

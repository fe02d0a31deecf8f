internal import GarageDriver
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The files of databases that somebody took for an export.
///
/// This process may have such a database open. Closing any descriptor of a file drops all locks that the process has on it
/// (POSIX): another process would then take the database for one that nobody has open, and remove the log with the last
/// commits, or write to it at the same time. So a descriptor that turns out to be a database's is never closed.
enum DatabaseFiles {
  /// The files whose descriptors are kept. As long as they are, no other file has their numbers.
  private static let kept = Mutex<Set<FileIdentity>>([])

  /// Opens a file for reading; returns -1, and `errno`, if that fails.
  ///
  /// - Throws: ``GarageError/damagedExport(line:reason:)`` for a file of SQLite or LMDB.
  static func openUnlessDatabase(_ path: String) throws -> Int32 {
    let identity = FileIdentity(path: path)
    if let identity, kept.withLock({ $0.contains(identity) }) { throw noExport }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 || !isLocked(file) { return file }
    if let identity { kept.withLock { _ = $0.insert(identity) } }
    throw noExport
  }

  private static var noExport: GarageError {
    .damagedExport(line: 1, reason: "a database begins, and no export")
  }

  /// Whether a file begins as one of those does that SQLite and LMDB lock.
  private static func isLocked(_ file: Int32) -> Bool {
    var start = [UInt8](repeating: 0, count: 16)
    let count = start.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
    guard count == start.count else { return false }
    if start == Array("SQLite format 3\0".utf8) { return true }
    // The index of SQLite's log (`-shm`) and the `lock.mdb` of LMDB, in this machine's byte order.
    let number = start.withUnsafeBytes { $0.load(as: UInt32.self) }
    return number == 3_007_000 || number == 0xBEEF_C0DE
  }
}

internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension LMDBReadTransaction: PageForgetting {
  /// Takes all pages of the map out of the process's memory. Other transactions find them again in the system's cache.
  ///
  /// Does nothing in a transaction that writes, whose changed pages stand elsewhere.
  package final func forgetPages() {
    guard !isWrite, LMDBDataFile.isLayoutKnown, let start = mapStart, let byteCount = forgettableByteCount
    else { return }
    // For a shared mapping of a file this forgets where the pages are, and nothing that is in them.
    madvise(start, byteCount, MADV_DONTNEED)
  }

  /// How much of the map is in use. Other processes may have written more pages than it has room for, and the memory behind the
  /// map is not ours.
  final var forgettableByteCount: Int? {
    guard let size = try? connection.size else { return nil }
    return min(size.pageByteCount * size.pageCount, size.mapByteCount)
  }

  /// Where the map begins; nil where the store has no entry. LMDB does not tell, but each page has its number in it.
  private var mapStart: UnsafeMutableRawPointer? {
    var (key, value) = (MDB_val(), MDB_val())
    var cursor: OpaquePointer?
    guard mdb_cursor_open(txn, dbi, &cursor) == MDB_SUCCESS, let cursor else { return nil }
    defer { mdb_cursor_close(cursor) }
    guard mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == MDB_SUCCESS, let data = key.mv_data else {
      return nil
    }
    // Keys stand in the page of their leaf.
    guard let pageByteCount = try? connection.size.pageByteCount else { return nil }
    let page = data - Int(bitPattern: data) % pageByteCount
    return page - Int(page.load(as: UInt64.self)) * pageByteCount
  }
}

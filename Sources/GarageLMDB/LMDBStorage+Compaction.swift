internal import CLMDB
public import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension LMDBStorage: Compacting {
  /// Gives the pages that nobody uses back to the file system, as holes in the file, which keeps its length.
  ///
  /// Only pages are given back that were freed before the oldest state that is being read, or that a crash could bring back. It
  /// is done in batches, between which others can write. To get a shorter file, make a backup that compacts.
  ///
  /// - Throws: ``StorageError/Kind/notSupported`` where the system or the file system knows no holes.
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    if info.isReadOnly { throw readOnlyError() }
    let before = diskByteCount
    // If the free list is damaged, not even LMDB may take a page from it.
    _ = try freeByteCount()
    try commitAnew()
    // After this the state before the last one is on the disk, however durable commits are.
    try lifetime.withCall { try connection.sync() }
    try progress(0, lifetime.withCall { try connection.size.pageCount })
    var next: UInt64? = 0
    var done = 0
    while let key = next {
      let (pages, following) = try givingBack(from: key)
      done += pages
      next = following
      let total = try lifetime.withCall { try connection.size.pageCount }
      try progress(min(done, total), total)
    }
    return CompactionResult(byteCountBefore: before, byteCountAfter: diskByteCount)
  }

  /// The bytes of the pages in the free list, whether or not they are holes already.
  ///
  /// - Throws: ``StorageError`` where the file cannot be read.
  public func freeByteCount() throws -> Int? {
    try read { transaction in
      guard let transaction = transaction as? LMDBReadTransaction else { return nil }
      return try connection.freePageCount(in: transaction.txn) * connection.size.pageByteCount
    }
  }

  /// Commits without a change, so that what the last commit freed is in use in neither of the last two states.
  private func commitAnew() throws {
    try write { transaction in
      var first: (key: StorageKey, value: [UInt8])?
      try transaction.scan(.all, .forward) { key, value in
        first = (StorageKey(key), [UInt8](copying: value))
        return .stop
      }
      // LMDB writes what is put, even if the same was there.
      if let first { try transaction.put(first.value, for: first.key) }
      return .commit(())
    }
  }

  /// How many entries of the free list are gone through while others wait to write.
  private static let batchCount = 256

  /// Makes holes of the pages in a part of the free list that begins with the entry of that number. Returns how many pages
  /// these were, and with which entry to go on.
  private func givingBack(from key: UInt64) throws -> (pageCount: Int, next: UInt64?) {
    while true {
      let generation = connection.mapGeneration
      let result: (Int, UInt64?)? = try lifetime.withWrite {
        guard let transaction = try connection.beginWrite(.full) else { return nil }
        defer {
          _ = transaction.state.finish()
          connection.rollBack(transaction)
        }
        return try connection.makeHoles(
          before: UInt64(mdb_txn_id(transaction.txn)), from: key, Self.batchCount)
      }
      if let result { return result }
      try lifetime.withRead { try connection.mapAgain(lifetime, since: generation, during: .write) }
    }
  }

  private var diskByteCount: Int {
    var status = stat()
    return fstat(connection.descriptor, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }
}

extension LMDBConnection {
  /// The free list's number among the trees.
  private static let freeList: MDB_dbi = 0

  /// - Parameter writing: the number of the write transaction that is open. As long as it is, no other process takes pages from
  ///   the free list.
  fileprivate func makeHoles(before writing: UInt64, from first: UInt64, _ limit: Int) throws -> (
    Int, UInt64?
  ) {
    // Pages that the last commit freed are in use in the state before, which a loss of power may bring back.
    let oldest = oldestState(before: writing - 1)
    // A transaction of its own, because LMDB shows the free list only in transactions that read. The map is not replaced during
    // a write.
    var txn: OpaquePointer?
    let code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &txn)
    guard code == MDB_SUCCESS, let txn else { throw error(code, during: .write) }
    defer { mdb_txn_abort(txn) }
    return try withFreeList(in: txn, .write) { cursor in
      var pages: [UInt64] = []
      var number = first
      for _ in 0..<limit {
        guard let entry = try freedPages(cursor, from: number), entry.number < oldest else {
          return (try makeHoles(&pages), nil)
        }
        pages += entry.pages
        number = entry.number + 1
      }
      return (try makeHoles(&pages), number)
    }
  }

  /// How many pages the state that a transaction reads does not use.
  fileprivate func freePageCount(in txn: OpaquePointer) throws -> Int {
    try withFreeList(in: txn, .read) { cursor in
      var (count, number) = (0, UInt64(0))
      while let entry = try freedPages(cursor, from: number) {
        count += entry.pages.count
        number = entry.number + 1
      }
      return count
    }
  }

  /// Lends a cursor on the free list.
  ///
  /// - Parameter txn: a read transaction.
  private func withFreeList<R>(
    in txn: OpaquePointer, _ operation: StorageError.Operation, _ body: (OpaquePointer) throws -> R
  ) throws -> R {
    var cursor: OpaquePointer?
    let code = mdb_cursor_open(txn, Self.freeList, &cursor)
    guard code == MDB_SUCCESS, let cursor else { throw error(code, during: operation) }
    defer { mdb_cursor_close(cursor) }
    return try body(cursor)
  }

  /// The entry of the free list with that number or the next higher one; nil where there is none.
  ///
  /// - Throws: ``StorageError/Kind/corrupt`` also where it names a page that is none of the file's, or one of the two that a
  ///   store begins with: of these holes would be made, or of a place beyond any number.
  private func freedPages(_ cursor: OpaquePointer, from number: UInt64) throws -> (
    number: UInt64, pages: [UInt64]
  )? {
    let pageCount = UInt64(clamping: try size.pageCount)
    var number = number
    return try withUnsafeMutableBytes(of: &number) { bytes in
      var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      var value = MDB_val()
      let code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
      if code == MDB_NOTFOUND { return nil }
      guard code == MDB_SUCCESS, key.mv_size == 8, let found = key.mv_data, let data = value.mv_data else {
        throw error(code, during: .write)
      }
      let count = data.loadUnaligned(as: UInt64.self)
      guard value.mv_size >= 8, count <= UInt64(value.mv_size / 8 - 1) else {
        throw error(MDB_CORRUPTED, during: .write)
      }
      let pages = (0..<Int(count)).map { data.loadUnaligned(fromByteOffset: 8 + $0 * 8, as: UInt64.self) }
      guard pages.allSatisfy({ 2 <= $0 && $0 < pageCount }) else {
        throw error(MDB_CORRUPTED, during: .write)
      }
      return (found.loadUnaligned(as: UInt64.self), pages)
    }
  }

  /// Makes holes of pages, one for each run of them; returns how many there were.
  private func makeHoles(_ pages: inout [UInt64]) throws -> Int {
    pages.sort()
    let pageByteCount = try size.pageByteCount
    var place = 0
    while place < pages.count {
      var end = place + 1
      while end < pages.count && pages[end] == pages[end - 1] + 1 { end += 1 }
      try makeHole(Int(pages[place]) * pageByteCount, (end - place) * pageByteCount)
      place = end
    }
    return pages.count
  }

  private func makeHole(_ offset: Int, _ byteCount: Int) throws {
    #if os(Linux)
      // The constants are hidden by the headers as the function is: keep the size, punch a hole.
      let code = CLMDB.fallocate(descriptor, 0x01 | 0x02, off_t(offset), off_t(byteCount)) == 0 ? 0 : errno
    #else
      let code = ENOTSUP
    #endif
    if code == 0 { return }
    if code == EOPNOTSUPP || code == ENOTSUP || code == ENOSYS {
      throw StorageError.notSupported(
        "give back room in its place", by: driverName, during: .write,
        "The file system under \(path) makes no holes in files. A backup that compacts is a smaller file.")
    }
    throw error(code, during: .write)
  }
}

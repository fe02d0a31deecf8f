internal import CLMDB
internal import GarageDriver

/// LMDB's cursor, as a transaction sees its keys.
struct LMDBCursor: StorageCursor {
  private let cursor: OpaquePointer
  /// Outlives the operation that the cursor was made for.
  private unowned(unsafe) let transaction: LMDBReadTransaction
  private let operation: StorageError.Operation
  private var currentKey = MDB_val()
  private var currentValue = MDB_val()
  /// The page of the key that it stood on last, by its number in memory.
  private var page: UInt = 0
  /// LMDB's pages are as large as the system's. On systems with larger ones, what is asked for is mostly in memory already.
  private static var pageByteCount: UInt { 4096 }

  @inline(__always)
  init(_ cursor: OpaquePointer, of transaction: LMDBReadTransaction, _ operation: StorageError.Operation) {
    self.cursor = cursor
    self.transaction = transaction
    self.operation = operation
  }

  @inline(__always) var key: UnsafeRawBufferPointer { currentKey.bytes }
  @inline(__always) var value: UnsafeRawBufferPointer { currentValue.bytes }

  @inline(__always)
  private mutating func move(_ step: MDB_cursor_op) throws -> Bool {
    let code = mdb_cursor_get(cursor, &currentKey, &currentValue, step)
    if code == MDB_SUCCESS { return true }
    if code == MDB_NOTFOUND { return false }
    throw transaction.failure(code, operation)
  }

  @inline(__always) mutating func moveToFirst() throws -> Bool { try move(MDB_FIRST) }
  @inline(__always) mutating func moveToLast() throws -> Bool { try move(MDB_LAST) }

  /// If keys were put in their order, the page behind this one is the next. To ask for it takes one call for each page; to wait
  /// for it would take a tenth of a scan.
  @inline(__always)
  mutating func moveToNext() throws -> Bool {
    if try !move(MDB_NEXT) { return false }
    let page = UInt(bitPattern: currentKey.mv_data) / LMDBCursor.pageByteCount
    if page != self.page {
      self.page = page
      askForPage(at: (page &+ 1) &* LMDBCursor.pageByteCount, byteCount: LMDBCursor.pageByteCount)
    }
    return true
  }

  @inline(__always) mutating func moveToPrevious() throws -> Bool { try move(MDB_PREV) }

  @inline(__always)
  mutating func move(to bound: UnsafeRawBufferPointer) throws -> Bool {
    currentKey = MDB_val(bound)
    return try move(MDB_SET_RANGE)
  }
}

extension MDB_val {
  /// Lends `bytes` to LMDB, which only reads them.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}

internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A read transaction, and what a write transaction has in common with one.
///
/// The bytes it lends are LMDB's own pages, mapped from the file: nothing is copied. The connection reuses
/// read transactions, object and all, as long as nobody kept a reference.
class LMDBReadTransaction: ReadTransaction {
  // Unchecked exclusivity: used by one thread, and never across a call of a closure. A checked access costs
  // more than the work.
  @exclusivity(unchecked) final var state = TransactionState(driver: driverName)
  /// `MDB_txn *`. Nothing touches it once `state` has ended.
  @exclusivity(unchecked) final var txn: OpaquePointer
  /// `MDB_cursor *` of a read transaction, when none of its scans and multi-gets uses it.
  @exclusivity(unchecked) final var idleCursor: OpaquePointer?
  /// The storage whose reads this one serves, and has entered for, until it rests in the pool.
  @exclusivity(unchecked) final var entered: StorageLifetime?
  /// Outlives every transaction that is open, and no other looks at it.
  final unowned(unsafe) let connection: LMDBConnection
  final let dbi: MDB_dbi
  final let maximumKeyByteCount: Int
  private final let isWrite: Bool

  init(txn: OpaquePointer, connection: LMDBConnection, isWrite: Bool = false) {
    self.txn = txn
    self.connection = connection
    self.isWrite = isWrite
    dbi = connection.dbi
    maximumKeyByteCount = connection.maximumKeyByteCount
  }

  @_specialize(where R == Void)
  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: maximumKeyByteCount)
    let (code, value) = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      var value = MDB_val()
      let code = mdb_get(txn, dbi, &key, &value)
      return (code, value)
    }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .get) }
    state.lend()
    defer { state.takeBack() }
    return try code == MDB_SUCCESS ? body(value.bytes.bytes) : body(nil)
  }

  final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try state.beginRead(.get)
    // One cursor for all: where the next key is on the same page, it is found without a descent.
    let cursor = try takeCursor(.get)
    state.lend()
    defer {
      state.takeBack()
      giveBack(cursor)
    }
    let keys = keys.span
    for index in keys.indices {
      let key = keys[index].bytes.span.bytes
      try state.checkKey(key, .get, limit: maximumKeyByteCount)
      let (code, value) = key.withUnsafeBytes { bytes in
        var key = MDB_val(bytes)
        var value = MDB_val()
        let code = mdb_cursor_get(cursor, &key, &value, MDB_SET)
        return (code, value)
      }
      switch code {
      case MDB_SUCCESS: try visit(index, value.bytes.bytes)
      case MDB_NOTFOUND: try visit(index, nil)
      default: throw failure(code, .get)
      }
    }
  }

  final func contains(_ key: RawSpan) throws -> Bool {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: maximumKeyByteCount)
    let code = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      var value = MDB_val()
      return mdb_get(txn, dbi, &key, &value)
    }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .get) }
    return code == MDB_SUCCESS
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try walk(range, direction, visit)
  }

  /// A value that LMDB finds is not touched: all there is to it is its address.
  final func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    try walk(range, direction) { key, _ in try visit(key) }
  }

  @inline(__always)
  private final func walk(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    if range.isEmpty { return }
    let cursor = try takeCursor(.scan)
    state.lend()
    defer {
      state.takeBack()
      giveBack(cursor)
    }
    try GarageDriver.scan(
      cursor: LMDBCursor(cursor, of: self, .scan), range, direction, maximumKeyByteCount: maximumKeyByteCount,
      visit)
  }

  // MARK: - Cursors

  /// A cursor that is set nowhere yet.
  final func takeCursor(_ operation: StorageError.Operation) throws -> OpaquePointer {
    var code: Int32
    if let cursor = idleCursor {
      idleCursor = nil
      // Also needed within one transaction: it lets the cursor forget where it stood.
      code = mdb_cursor_renew(txn, cursor)
      if code == MDB_SUCCESS { return cursor }
      mdb_cursor_close(cursor)
    } else {
      var cursor: OpaquePointer?
      code = mdb_cursor_open(txn, dbi, &cursor)
      if code == MDB_SUCCESS, let cursor { return cursor }
    }
    throw failure(code, operation)
  }

  final func giveBack(_ cursor: OpaquePointer) {
    // LMDB renews the cursors of read transactions only, and each that a write transaction has open makes
    // its puts slower.
    if isWrite || idleCursor != nil {
      mdb_cursor_close(cursor)
    } else {
      idleCursor = cursor
    }
  }

  /// Notes the failure of an operation and returns the error to throw.
  final func failure(_ code: Int32, _ operation: StorageError.Operation) -> StorageError {
    state.failed(connection.error(code, during: operation))
  }
}

/// The write transaction. It stays on the thread that began it, because LMDB's lock belongs to that thread.
final class LMDBWriteTransaction: LMDBReadTransaction, WriteTransaction {
  /// The cursor that puts, between changes of other kinds. A put near the last one finds its page without a
  /// descent. LMDB frees it with the transaction.
  private var putCursor: OpaquePointer?
  /// How many puts to make before appending is tried again, and how many that will be after the next miss.
  private var putsUntilAppend = 0
  private var appendPause = 0

  init(txn: OpaquePointer, connection: LMDBConnection) {
    super.init(txn: txn, connection: connection, isWrite: true)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: maximumKeyByteCount)
    try state.checkValue(value, limit: LMDBStorage.maximumValueByteCount)
    let cursor = try putCursor ?? openPutCursor()
    let code = key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in putOrAppend(cursor, MDB_val(key), MDB_val(value)) }
    }
    if code != MDB_SUCCESS { throw failure(code, .put) }
  }

  private func openPutCursor() throws -> OpaquePointer {
    let cursor = try takeCursor(.put)
    putCursor = cursor
    return cursor
  }

  /// Appends where the key is the largest so far, which fills pages to the brim and spares the search, and
  /// puts elsewhere. LMDB itself says where that is; after a miss it is asked less and less often.
  @inline(__always)
  private func putOrAppend(_ cursor: OpaquePointer, _ key: MDB_val, _ value: MDB_val) -> Int32 {
    var key = key
    var value = value
    if putsUntilAppend == 0 {
      let code = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_APPEND))
      if code != MDB_KEYEXIST {
        appendPause = 0
        return code
      }
      appendPause = min(appendPause * 2 + 1, 63)
      putsUntilAppend = appendPause
    } else {
      putsUntilAppend -= 1
    }
    return mdb_cursor_put(cursor, &key, &value, 0)
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: maximumKeyByteCount)
    closePutCursor()
    let code = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      return mdb_del(txn, dbi, &key, nil)
    }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .remove) }
  }

  /// Before pages are merged, so that LMDB has one cursor at a time to keep up to date.
  private func closePutCursor() {
    guard let cursor = putCursor else { return }
    putCursor = nil
    mdb_cursor_close(cursor)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    if range.isEmpty { return }
    closePutCursor()
    var code: Int32
    if range == .all {
      code = mdb_drop(txn, dbi, 0)
    } else {
      let cursor = try takeCursor(.remove)
      defer { giveBack(cursor) }
      var place = LMDBCursor(cursor, of: self, .remove)
      var isThere = try range.lowerBound.withUnsafeBytes {
        try place.move(toBound: $0, maximumKeyByteCount: maximumKeyByteCount)
      }
      code = MDB_SUCCESS
      while isThere && code == MDB_SUCCESS {
        if let end = range.upperBound, end.withUnsafeBytes({ place.order(against: $0) }) >= 0 { break }
        code = mdb_cursor_del(cursor, 0)
        // The cursor now stands before the key that followed.
        if code == MDB_SUCCESS { isThere = try place.moveToNext() }
      }
    }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .remove) }
  }
}

/// LMDB's cursor, as a transaction sees its keys.
private struct LMDBCursor: StorageCursor {
  private let cursor: OpaquePointer
  /// Outlives the operation that the cursor was made for.
  private unowned(unsafe) let transaction: LMDBReadTransaction
  private let operation: StorageError.Operation
  private var currentKey = MDB_val()
  private var currentValue = MDB_val()

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
  @inline(__always) mutating func moveToNext() throws -> Bool { try move(MDB_NEXT) }
  @inline(__always) mutating func moveToPrevious() throws -> Bool { try move(MDB_PREV) }

  @inline(__always)
  mutating func move(to bound: UnsafeRawBufferPointer) throws -> Bool {
    currentKey = MDB_val(bound)
    return try move(MDB_SET_RANGE)
  }

  @inline(__always)
  func order(against bound: UnsafeRawBufferPointer) -> Int { key.order(against: bound) }
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

extension UnsafeRawBufferPointer {
  /// Negative, zero or positive as these bytes stand before, at or after `other` in the order of keys.
  @inline(__always)
  fileprivate func order(against other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0 {
      let order = memcmp(baseAddress!, other.baseAddress!, common)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }
}

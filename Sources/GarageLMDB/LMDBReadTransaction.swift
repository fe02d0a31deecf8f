internal import CLMDB
internal import GarageDriver

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
  /// The lifetime of the storage that it reads for, which it has entered, until it rests in the pool.
  @exclusivity(unchecked) final var entered: StorageLifetime?
  /// Outlives every transaction that is open, and no other looks at it.
  final unowned(unsafe) let connection: LMDBConnection
  final let dbi: MDB_dbi
  final let maximumKeyByteCount: Int
  final let isWrite: Bool

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
    try withLentCursor { cursor in
      try visitOneBehind(keys.count) { index in
        let key = keys[index].bytes
        return find(key.span.bytes, cursor)
      } visit: { index, found in
        let key = keys[index].bytes
        try show(found, of: key.span.bytes) { try visit(index, $0) }
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

  /// LMDB finds a value without touching it: it only gives its address.
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

  /// A cursor that stands nowhere yet.
  final func takeCursor(_ operation: StorageError.Operation) throws -> OpaquePointer {
    var code: Int32
    if let cursor = idleCursor {
      idleCursor = nil
      // Needed also within one transaction, to make the cursor forget where it stood.
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

  /// Runs a multi-get with one cursor for all: where the next key is on the same page, it is found without a descent.
  @inline(__always)
  private final func withLentCursor(_ body: (OpaquePointer) throws -> Void) throws {
    try state.beginRead(.get)
    let cursor = try takeCursor(.get)
    state.lend()
    defer {
      state.takeBack()
      giveBack(cursor)
    }
    try body(cursor)
  }

  /// Looks for a key, and asks for the bytes of its value. They stay where they are, wherever the cursor goes then.
  @inline(__always)
  private final func find(_ key: RawSpan, _ cursor: OpaquePointer) -> FoundValue {
    // LMDB must not be asked for a key that is not valid.
    if key.byteCount == 0 || key.byteCount > maximumKeyByteCount { return FoundValue(code: MDB_NOTFOUND) }
    return key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      var found = FoundValue(code: MDB_SUCCESS)
      found.code = mdb_cursor_get(cursor, &key, &found.value, MDB_SET)
      if found.code == MDB_SUCCESS { prefetchValue(found.value.bytes) }
      return found
    }
  }

  /// Lends the value that was found for a key, or throws the error.
  @inline(__always)
  private final func show(_ found: FoundValue, of key: RawSpan, _ visit: (RawSpan?) throws -> Void) throws {
    try state.checkKey(key, .get, limit: maximumKeyByteCount)
    switch found.code {
    case MDB_SUCCESS: try visit(found.value.bytes.bytes)
    case MDB_NOTFOUND: try visit(nil)
    default: throw failure(found.code, .get)
    }
  }

  /// Notes the failure of an operation and returns the error to throw.
  final func failure(_ code: Int32, _ operation: StorageError.Operation) -> StorageError {
    state.failed(connection.error(code, during: operation))
  }
}

/// Visits what is found, one after another. Each is found before the one in front of it is visited, so that its bytes are on
/// their way from memory meanwhile.
///
/// - Parameters:
///   - find: must not note a failure, because the visit in front of it may be the last.
///   - visit: throws the error that came of finding it, when its turn comes.
@inline(__always)
private func visitOneBehind<Found>(
  _ count: Int, find: (_ index: Int) -> Found, visit: (_ index: Int, _ found: Found) throws -> Void
) rethrows {
  if count <= 0 { return }
  var next = find(0)
  for index in 0..<count {
    let found = next
    if index + 1 < count { next = find(index + 1) }
    try visit(index, found)
  }
}

/// What LMDB found for a key.
private struct FoundValue {
  var code: Int32
  var value = MDB_val()
}

extension LMDBReadTransaction: PlacedReading {
  final func withValues(
    at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    try withLentCursor { cursor in
      try visitOneBehind(keys.count) { index in
        find(bytes.extracting(keys[index]), cursor)
      } visit: { index, found in
        try show(found, of: bytes.extracting(keys[index])) { try visit(index, $0) }
      }
    }
  }
}

extension LMDBReadTransaction: RangeCounting {
  /// The end of the range is looked up once. Until something changes, the address of its key in the map tells its entry, so
  /// that no keys need be compared on the way there.
  final func count(in range: StorageKeyRange) throws -> Int {
    try state.beginRead(.scan)
    if range.isEmpty { return 0 }
    let cursor = try takeCursor(.scan)
    defer { giveBack(cursor) }
    var place = LMDBCursor(cursor, of: self, .scan)
    func move(to bound: [UInt8]) throws -> Bool {
      try bound.withUnsafeBytes { try place.move(toBound: $0, maximumKeyByteCount: maximumKeyByteCount) }
    }
    var end: UnsafeRawPointer?
    if let upper = range.upperBound, try move(to: upper) { end = place.key.baseAddress }
    var count = 0
    var isThere = try move(to: range.lowerBound)
    while isThere, place.key.baseAddress != end {
      count += 1
      isThere = try place.moveToNext()
    }
    return count
  }
}

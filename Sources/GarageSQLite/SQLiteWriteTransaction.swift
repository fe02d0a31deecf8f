internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// Gets, scans and changes on the connection that writes.
final class SQLiteWriteTransaction: SQLiteReadTransaction, WriteTransaction {
  private let maximumValueByteCount: Int
  /// How many bytes a key and a value may have together to be stored side by side.
  private let largestEntryByteCount: Int
  /// Keeps the transaction for the next one, and is there as long as one is open.
  private unowned(unsafe) let writer: SQLiteWriter

  /// The number for the next large value; nil until the first one of this transaction.
  var nextLargeID: Int64?

  init(
    _ connection: SQLiteConnection, of writer: SQLiteWriter, maximumValueByteCount: Int,
    largestEntryByteCount: Int
  ) {
    self.writer = writer
    self.maximumValueByteCount = maximumValueByteCount
    self.largestEntryByteCount = largestEntryByteCount
    super.init(connection)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try beginChange(.put)
    try state.pointee.checkKey(key, .put, limit: StorageInfo.guaranteedKeyByteCount)
    try state.pointee.checkValue(value, limit: maximumValueByteCount)
    if key.byteCount + value.byteCount > largestEntryByteCount { return try putLarge(value, for: key) }
    let statement = try take(.put, .put)
    defer { connection.giveBack(statement) }
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        var code = bind(key, at: 1, of: statement.handle)
        if code == SQLITE_OK { code = bind(value, at: 2, of: statement.handle) }
        if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
        if code != SQLITE_DONE { throw failed(code, .put) }
        if hasSpared { try replaceLarge(with: value, for: key) }
      }
    }
  }

  /// Many puts in one statement keep their place in the tree from one to the next. Keys behind the store's last one are not
  /// even looked up.
  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try beginChange(.put)
    var start = 0
    while start < entries.count {
      var end = start
      while end < entries.count, end - start < SQLiteQuery.manyCount, try isSmall(entries[end], in: bytes) {
        end += 1
      }
      if end - start == SQLiteQuery.manyCount {
        try putMany(entries[start..<end], in: bytes)
      } else {
        // Including the one that is not small.
        end = min(end + 1, entries.count)
        try putEach(entries[start..<end], in: bytes)
      }
      start = end
    }
  }

  private func putEach(_ entries: ArraySlice<PlacedEntry>, in bytes: RawSpan) throws {
    for entry in entries { try put(bytes.extracting(entry.value), for: bytes.extracting(entry.key)) }
  }

  /// Whether an entry stands beside others. Checks it, too.
  private func isSmall(_ entry: PlacedEntry, in bytes: RawSpan) throws -> Bool {
    let (key, value) = (bytes.extracting(entry.key), bytes.extracting(entry.value))
    try state.pointee.checkKey(key, .put, limit: StorageInfo.guaranteedKeyByteCount)
    try state.pointee.checkValue(value, limit: maximumValueByteCount)
    return key.byteCount + value.byteCount <= largestEntryByteCount
  }

  private func putMany(_ entries: ArraySlice<PlacedEntry>, in bytes: RawSpan) throws {
    let isEachPut = try bytes.withUnsafeBytes { bytes in
      let statement = try take(.putMany, .put)
      defer { connection.giveBack(statement) }
      var (code, place) = (SQLITE_OK, Int32(1))
      for entry in entries where code == SQLITE_OK {
        code = bind(UnsafeRawBufferPointer(rebasing: bytes[entry.key]), at: place, of: statement.handle)
        if code != SQLITE_OK { break }
        code = bind(UnsafeRawBufferPointer(rebasing: bytes[entry.value]), at: place + 1, of: statement.handle)
        place += 2
      }
      if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
      if code != SQLITE_DONE { throw failed(code, .put) }
      return connection.layout == .oneTable || sqlite3_changes(connection.handle) == entries.count
    }
    // Some of the keys have a large value. They are put one by one to find out which.
    if !isEachPut { try putEach(entries, in: bytes) }
  }

  func remove(_ key: RawSpan) throws {
    try beginChange(.remove)
    try state.pointee.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
    let statement = try take(.remove, .remove)
    defer { connection.giveBack(statement) }
    try key.withUnsafeBytes { key in
      var code = bind(key, at: 1, of: statement.handle)
      if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
      if code != SQLITE_DONE { throw failed(code, .remove) }
      if hasSpared { try removeLarge(of: key) }
    }
  }

  func removeAll(in range: StorageKeyRange) throws {
    try beginChange(.remove)
    if range.isEmpty { return }
    let hasLarge = connection.layout != .oneTable
    if range == .all {
      // Without a condition SQLite drops whole pages instead of row after row.
      if hasLarge { try change(.removeEveryLarge, .remove) { _ in SQLITE_OK } }
      try change(.removeEverything, .remove) { _ in SQLITE_OK }
      return
    }
    let isOpen = range.upperBound == nil
    // The large values first, while their keys still tell which they are.
    if hasLarge { try remove(isOpen ? .removeLargeFrom : .removeLargeBetween, range) }
    try remove(isOpen ? .removeFrom : .removeBetween, range)
  }

  private func remove(_ query: SQLiteQuery, _ range: StorageKeyRange) throws {
    let statement = try take(query, .remove)
    defer { connection.giveBack(statement) }
    try withBounds(of: range, on: statement.handle, .remove) {
      let code = sqlite3_step(statement.handle)
      if code != SQLITE_DONE { throw failed(code, .remove) }
    }
  }

  @inline(__always)
  func beginChange(_ operation: StorageError.Operation) throws {
    try state.pointee.beginChange(operation)
    if isAborted { throw aborted }
  }

  override func failed(_ error: StorageError) -> StorageError {
    var error = error
    // The call throws this first failure in the end, so it has to say now whether another try can succeed. While bytes are lent
    // a statement is at work that they belong to, and nothing can be reset; another try then finds out by itself.
    if error.kind == .storageFull && !isAborted && !state.pointee.isLending {
      error = writer.relieve(connection, after: error)
    }
    // After some failures (a full disk is one) SQLite has rolled back by itself, and a later change would
    // commit on its own.
    if !connection.isInTransaction { isAborted = true }
    return state.pointee.failed(error)
  }
}

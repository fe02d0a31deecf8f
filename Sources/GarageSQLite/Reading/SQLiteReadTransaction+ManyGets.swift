internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

extension SQLiteReadTransaction: PlacedReading {
  final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    // One statement has many of them bound at once.
    try withValuesInOnePlace(for: keys, visit)
  }

  /// Many gets in one statement keep their place in the tree open from one to the next, and call SQLite once for each key.
  final func withValues(
    at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    try begin(.get)
    // Between two visits nobody else's code runs, so the bytes count as lent all the time.
    state.pointee.lend()
    defer { state.pointee.takeBack() }
    try bytes.withUnsafeBytes { bytes in
      var start = 0
      while start < keys.count {
        let end = min(start + SQLiteQuery.manyGetsCount, keys.count)
        // A key that is not valid throws in its turn.
        let areKeys = keys[start..<end].allSatisfy { 1...StorageInfo.guaranteedKeyByteCount ~= $0.count }
        if end - start >= SQLiteQuery.manyGetsCount / 2, areKeys {
          try getMany(keys, start..<end, in: bytes, visit)
        } else {
          try getEach(keys, start..<end, in: bytes, visit)
        }
        start = end
      }
    }
  }

  private final func getEach(
    _ keys: [Range<Int>], _ indices: Range<Int>, in bytes: UnsafeRawBufferPointer,
    _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    let statement = try take(.get, .get)
    defer { connection.giveBack(statement) }
    for index in indices {
      let key = UnsafeRawBufferPointer(rebasing: bytes[keys[index]])
      try state.pointee.checkKey(key.bytes, .get, limit: StorageInfo.guaranteedKeyByteCount)
      if try find(key, statement.handle) {
        try lend(0, of: statement.handle) { try visit(index, $0) }
      } else {
        try visit(index, nil)
      }
      sqlite3_reset(statement.handle)
    }
  }

  private final func getMany(
    _ keys: [Range<Int>], _ indices: Range<Int>, in bytes: UnsafeRawBufferPointer,
    _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    let statement = try take(.getMany, .get)
    defer { connection.giveBack(statement) }
    for place in 0..<SQLiteQuery.manyGetsCount {
      let index = indices.lowerBound + place
      // No key is equal to NULL.
      let code =
        index < indices.upperBound
        ? bind(
          UnsafeRawBufferPointer(rebasing: bytes[keys[index]]), at: Int32(place + 1), of: statement.handle)
        : sqlite3_bind_null(statement.handle, Int32(place + 1))
      if code != SQLITE_OK { throw failed(code, .get) }
    }
    var next = indices.lowerBound
    while true {
      let code = sqlite3_step(statement.handle)
      if code != SQLITE_ROW && code != SQLITE_DONE {
        // After some failures a write is over, and nothing more is asked.
        if self is SQLiteWriteTransaction { throw failed(code, .get) }
        // SQLite does not tell which key failed. They are got one by one, so that those before it are visited.
        sqlite3_reset(statement.handle)
        return try getEach(keys, next..<indices.upperBound, in: bytes, visit)
      }
      // There is a row for each key that was found; the keys between it and the row before are missing.
      let found =
        code == SQLITE_ROW
        ? indices.lowerBound + Int(sqlite3_column_int(statement.handle, 0)) : indices.upperBound
      while next < found {
        try visit(next, nil)
        next += 1
      }
      if code == SQLITE_DONE { return }
      try lend(1, of: statement.handle) { try visit(found, $0) }
      next = found + 1
    }
  }

  /// Lends the value in a column, large or not. That bytes are lent is noted already.
  @inline(__always)
  private final func lend(
    _ index: Int32, of statement: OpaquePointer, _ visit: (RawSpan?) throws -> Void
  ) throws {
    if let id = largeID(index, of: statement) { return try withLargeValue(id, .get, visit) }
    try visit(column(index, of: statement).bytes)
  }
}

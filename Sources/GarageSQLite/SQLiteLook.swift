internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// What a removal found that also looks at the value. SQLite shows it through a function in the statement's condition, so that
/// the key is looked up only once.
struct SQLiteLook {
  /// How the value began; nil where no entry was found, or one with a large value.
  var beginning: ValueBeginning?
  /// The number of the large value that the entry has. It is not removed then.
  var largeID: Int64?

  /// The function's name. It is true of every value but a number.
  static let function = "garage_look"

  /// Gives a connection the function. It writes down at `place` what it is called with.
  static func install(on handle: OpaquePointer, notingAt place: UnsafeMutablePointer<SQLiteLook>) -> Int32 {
    sqlite3_create_function_v2(
      handle, function, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, place,
      { call, _, arguments in
        guard let value = arguments?[0],
          let look = sqlite3_user_data(call)?.assumingMemoryBound(to: SQLiteLook.self)
        else { return sqlite3_result_int(call, 0) }
        if sqlite3_value_type(value) == SQLITE_INTEGER {
          look.pointee.largeID = sqlite3_value_int64(value)
          return sqlite3_result_int(call, 0)
        }
        let start = sqlite3_value_blob(value)
        let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
        look.pointee.beginning = ValueBeginning(UnsafeRawBufferPointer(start: start, count: count))
        sqlite3_result_int(call, 1)
      }, nil, nil, nil)
  }
}

extension SQLiteWriteTransaction: LookingRemoval {
  func removeLooking(_ key: RawSpan) throws -> ValueBeginning? {
    try beginChange(.remove)
    try state.pointee.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
    let look = try connection.look()
    look.pointee = SQLiteLook()
    return try key.withUnsafeBytes { key in
      try change(.removeLooking, .remove) { bind(key, at: 1, of: $0) }
      guard let id = look.pointee.largeID else { return look.pointee.beginning }
      let (beginning, code) = beginning(ofLarge: id)
      // Where a page cannot be read for want of room, SQLite rolls back by itself, and what follows would commit on its own.
      if !connection.isInTransaction { throw failed(code, .remove) }
      try change(.removeLarge, .remove) { sqlite3_bind_int64($0, 1, id) }
      try change(.removePointer, .remove) { bind(key, at: 1, of: $0) }
      return beginning
    }
  }

  /// How a large value begins; the rest is not read. Empty if that fails, and then what SQLite said.
  private func beginning(ofLarge id: Int64) -> (ValueBeginning, code: Int32) {
    var blob: OpaquePointer?
    // Only when the blob is closed does SQLite roll back after a failure.
    defer { sqlite3_blob_close(blob) }
    let code = sqlite3_blob_open(connection.handle, "main", "large", "value", id, 0, &blob)
    if code != SQLITE_OK { return (ValueBeginning(), code) }
    return withUnsafeTemporaryAllocation(byteCount: ValueBeginning.byteCount, alignment: 1) { bytes in
      let count = min(Int(sqlite3_blob_bytes(blob)), bytes.count)
      let code = sqlite3_blob_read(blob, bytes.baseAddress, Int32(count), 0)
      if code != SQLITE_OK { return (ValueBeginning(), code) }
      return (ValueBeginning(UnsafeRawBufferPointer(rebasing: bytes[..<count])), code)
    }
  }
}

internal import CLMDB
internal import GarageDriver

/// The write transaction. It stays on the thread that began it, because LMDB's lock belongs to that thread.
final class LMDBWriteTransaction: LMDBReadTransaction, WriteTransaction {
  /// The cursor that puts, between changes of other kinds. A put near the last one finds its page without a
  /// descent. LMDB frees it with the transaction.
  private var putCursor: OpaquePointer?
  /// The cursor that looks entries up and removes them, kept in the same way.
  private var removeCursor: OpaquePointer?
  /// How many puts to make before appending is tried again, and how many it will be after the next miss.
  private var putsUntilAppend = 0
  private var appendPause = 0
  /// Whether it has changed anything. LMDB does not count the commit of one that has not.
  @exclusivity(unchecked) private(set) var hasChanged = false

  init(txn: OpaquePointer, connection: LMDBConnection) {
    super.init(txn: txn, connection: connection, isWrite: true)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: maximumKeyByteCount)
    try state.checkValue(value, limit: LMDBStorage.maximumValueByteCount)
    let cursor = try putCursor ?? openPutCursor()
    hasChanged = true
    let code = key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in putOrAppend(cursor, MDB_val(key), MDB_val(value)) }
    }
    if code != MDB_SUCCESS { throw failure(code, .put) }
  }

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.put)
    for entry in entries {
      try state.checkKey(bytes.extracting(entry.key), .put, limit: maximumKeyByteCount)
      try state.checkValue(bytes.extracting(entry.value), limit: LMDBStorage.maximumValueByteCount)
    }
    if entries.isEmpty { return }
    hasChanged = true
    let cursor = try putCursor ?? openPutCursor()
    try bytes.withUnsafeBytes { bytes in
      for entry in entries {
        let (key, value) = (bytes[entry.key], bytes[entry.value])
        let code = putOrAppend(
          cursor, MDB_val(UnsafeRawBufferPointer(rebasing: key)),
          MDB_val(UnsafeRawBufferPointer(rebasing: value)))
        if code != MDB_SUCCESS { throw failure(code, .put) }
      }
    }
  }

  private func openPutCursor() throws -> OpaquePointer {
    closeRemoveCursor()
    let cursor = try takeCursor(.put)
    putCursor = cursor
    return cursor
  }

  /// Appends the key where it is the largest so far: that fills pages to the brim and needs no search. Otherwise puts it. LMDB
  /// itself tells whether a key can be appended; after a miss it is asked less and less often.
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
    closeRemoveCursor()
    let code = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      return mdb_del(txn, dbi, &key, nil)
    }
    if code == MDB_SUCCESS { hasChanged = true }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .remove) }
  }

  /// Called before pages are merged, so that LMDB has only one cursor to keep up to date.
  private func closePutCursor() {
    guard let cursor = putCursor else { return }
    putCursor = nil
    mdb_cursor_close(cursor)
  }

  private func closeRemoveCursor() {
    guard let cursor = removeCursor else { return }
    removeCursor = nil
    mdb_cursor_close(cursor)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    if range.isEmpty { return }
    closePutCursor()
    closeRemoveCursor()
    var code: Int32
    if range == .all {
      hasChanged = true
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
        hasChanged = true
        code = mdb_cursor_del(cursor, 0)
        // The cursor now stands in front of the key that followed.
        if code == MDB_SUCCESS { isThere = try place.moveToNext() }
      }
    }
    if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code, .remove) }
  }
}

extension LMDBWriteTransaction: ManyRemoval {
  /// A cursor that stands near the next key finds its page without a descent.
  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.remove)
    for entry in entries {
      try state.checkKey(bytes.extracting(entry.key), .remove, limit: maximumKeyByteCount)
    }
    if entries.isEmpty { return }
    let cursor = try removeCursor ?? openRemoveCursor()
    try bytes.withUnsafeBytes { bytes in
      for entry in entries {
        var key = MDB_val(UnsafeRawBufferPointer(rebasing: bytes[entry.key]))
        var code = mdb_cursor_get(cursor, &key, nil, MDB_SET)
        if code == MDB_NOTFOUND { continue }
        hasChanged = true
        if code == MDB_SUCCESS { code = mdb_cursor_del(cursor, 0) }
        if code != MDB_SUCCESS { throw failure(code, .remove) }
      }
    }
  }
}

extension LMDBWriteTransaction: LookingRemoval {
  func removeLooking(_ key: RawSpan) throws -> ValueBeginning? {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: maximumKeyByteCount)
    let cursor = try removeCursor ?? openRemoveCursor()
    let (code, value) = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      var value = MDB_val()
      let code = mdb_cursor_get(cursor, &key, &value, MDB_SET)
      return (code, value)
    }
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw failure(code, .remove) }
    // Read before LMDB writes over it.
    let beginning = ValueBeginning(value.bytes)
    hasChanged = true
    let removal = mdb_cursor_del(cursor, 0)
    if removal != MDB_SUCCESS { throw failure(removal, .remove) }
    return beginning
  }

  private func openRemoveCursor() throws -> OpaquePointer {
    closePutCursor()
    let cursor = try takeCursor(.remove)
    removeCursor = cursor
    return cursor
  }
}

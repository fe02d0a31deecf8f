#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// A prepared statement while it is in use, and where it rests afterwards.
struct SQLiteStatement {
  let handle: OpaquePointer
  let slot: Int
}

/// Binds bytes that stay where they are until the statement is reset.
@inline(__always)
func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32, of statement: OpaquePointer) -> Int32 {
  // A null address would bind NULL, but an empty value is a value.
  guard bytes.count > 0 else { return sqlite3_bind_zeroblob(statement, index, 0) }
  return sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil)
}

/// The bytes of a column, which are there until the statement is stepped or reset.
@inline(__always)
func column(_ index: Int32, of statement: OpaquePointer) -> UnsafeRawBufferPointer {
  // For no bytes SQLite returns a null address; the buffer is then empty.
  let start = sqlite3_column_blob(statement, index)
  let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, index))
  return UnsafeRawBufferPointer(start: start, count: count)
}

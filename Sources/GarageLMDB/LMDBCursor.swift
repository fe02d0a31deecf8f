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
    guard common > 0, let left = baseAddress, let right = other.baseAddress else {
      return count - other.count
    }
    // A scan asks it of each key, mostly of the first word and a byte: a call would take longer.
    var place = 0
    while place &+ 8 <= common {
      let l = left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      let r = right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if l != r { return l.bigEndian < r.bigEndian ? -1 : 1 }
      place &+= 8
    }
    while place < common {
      let l = left.load(fromByteOffset: place, as: UInt8.self)
      let r = right.load(fromByteOffset: place, as: UInt8.self)
      if l != r { return Int(l) &- Int(r) }
      place &+= 1
    }
    return count - other.count
  }
}

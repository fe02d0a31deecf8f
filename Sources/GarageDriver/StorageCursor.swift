internal import CGarage

/// A place among the keys of an engine, which can be moved from key to key. ``scan(cursor:_:_:maximumKeyByteCount:_:)`` scans
/// with one.
///
/// Each move returns whether it led to a key. Only then may `key` and `value` be asked for.
public protocol StorageCursor {
  /// The bytes of the key that the cursor stands on. They last until the cursor moves.
  var key: UnsafeRawBufferPointer { get }
  /// The bytes of that key's value. They last until the cursor moves.
  var value: UnsafeRawBufferPointer { get }
  /// Moves to the smallest key.
  mutating func moveToFirst() throws -> Bool
  /// Moves to the largest key.
  mutating func moveToLast() throws -> Bool
  /// Moves to the smallest key that is not before `bound`. The bound is no longer than a key may be.
  mutating func move(to bound: UnsafeRawBufferPointer) throws -> Bool
  /// Moves to the next larger key.
  mutating func moveToNext() throws -> Bool
  /// Moves to the next smaller key.
  mutating func moveToPrevious() throws -> Bool
  /// Negative, zero or positive as the key stands before, at or after `bound`. The default orders keys as ``compareKeys(_:_:)``
  /// does.
  func order(against bound: UnsafeRawBufferPointer) -> Int
}

extension StorageCursor {
  /// Orders by unsigned bytes. A scan asks this for each key, and mostly the first words decide it: a call would take longer.
  @inlinable
  @inline(__always)
  public func order(against bound: UnsafeRawBufferPointer) -> Int {
    let key = key
    guard let left = key.baseAddress, let right = bound.baseAddress else { return key.count - bound.count }
    return compareByWords(left, key.count, right, bound.count)
  }

  /// Moves to the smallest key that is not before `bound`. The bound may have any length.
  @inlinable
  @inline(__always)
  public mutating func move(toBound bound: UnsafeRawBufferPointer, maximumKeyByteCount: Int) throws -> Bool {
    if bound.isEmpty { return try moveToFirst() }
    let start = UnsafeRawBufferPointer(rebasing: bound.prefix(maximumKeyByteCount))
    let isThere = try move(to: start)
    // A key that equals the cut bound stands before the whole bound. All other keys compare with the cut bound as they do with
    // the whole one, because no key is longer than the cut.
    if isThere && bound.count > start.count && order(against: start) == 0 { return try moveToNext() }
    return isThere
  }
}

/// Scans a range with a cursor of the engine, in both directions. The bounds may have any length, may be crossed, and may be
/// missing.
///
/// - Parameters:
///   - cursor: stands anywhere.
///   - maximumKeyByteCount: the engine's limit; a longer bound is not passed to the engine.
///   - visit: is lent each key and its value.
@inlinable
@inline(__always)
public func scan<Cursor: StorageCursor>(
  cursor: Cursor, _ range: StorageKeyRange, _ direction: ScanDirection, maximumKeyByteCount: Int,
  _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
) throws {
  if range.isEmpty { return }
  var cursor = cursor
  try range.lowerBound.withUnsafeBytes { lower in
    try (range.upperBound ?? []).withUnsafeBytes { upper in
      let hasEnd = range.upperBound != nil
      switch direction {
      case .forward:
        var isThere = try cursor.move(toBound: lower, maximumKeyByteCount: maximumKeyByteCount)
        while isThere && !(hasEnd && cursor.order(against: upper) >= 0) {
          if try visit(cursor.key.bytes, cursor.value.bytes) == .stop { return }
          isThere = try cursor.moveToNext()
        }
      case .backward:
        // Moves to the first key behind the range, and one back; or to the last key of all if there is none behind the range.
        let isBehind = try hasEnd && cursor.move(toBound: upper, maximumKeyByteCount: maximumKeyByteCount)
        var isThere = try isBehind ? cursor.moveToPrevious() : cursor.moveToLast()
        while isThere && !(!lower.isEmpty && cursor.order(against: lower) < 0) {
          if try visit(cursor.key.bytes, cursor.value.bytes) == .stop { return }
          isThere = try cursor.moveToPrevious()
        }
      }
    }
  }
}

/// Compares as ``compareKeys(_:_:)`` does, eight bytes at a time, and is inlined. The last eight bytes overlap those before
/// them, which are equal by then.
@inlinable
@inline(__always)
func compareByWords(
  _ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int
) -> Int {
  let common = min(leftCount, rightCount)
  var offset = 0
  if common >= 8 {
    let last = common &- 8
    while true {
      let l = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let r = right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if l != r { return l.bigEndian < r.bigEndian ? -1 : 1 }
      if offset == last { return leftCount - rightCount }
      offset = min(offset &+ 8, last)
    }
  }
  while offset < common {
    let l = left.load(fromByteOffset: offset, as: UInt8.self)
    let r = right.load(fromByteOffset: offset, as: UInt8.self)
    if l != r { return Int(l) - Int(r) }
    offset &+= 1
  }
  return leftCount - rightCount
}

/// Compares as ``compareKeys(_:_:)`` does, and is inlined, for comparisons with each key of a scan.
@inlinable
@inline(__always)
package func compareKeysByWords(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else {
    return left.count - right.count
  }
  return compareByWords(leftStart, left.count, rightStart, right.count)
}

/// Prefetches the memory at the beginning and at the end of a page that a cursor reads soon. This is only advice: the address
/// need not be mapped.
package func askForPage(at address: UInt, byteCount: UInt) {
  garage_prefetch(UnsafeRawPointer(bitPattern: address))
  garage_prefetch(UnsafeRawPointer(bitPattern: address &+ byteCount &- 1))
}

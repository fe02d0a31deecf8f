internal import CGarage

/// A place among the keys of an engine that moves from key to key: what ``scan(cursor:_:_:maximumKeyByteCount:_:)`` needs
/// of one.
///
/// Each move tells whether there is a key where it leads. What it says afterwards, of `key` and `value`, is asked only
/// where there is.
public protocol StorageCursor {
  /// The bytes of the key that the cursor stands on, there until it moves.
  var key: UnsafeRawBufferPointer { get }
  /// The bytes of its value, there until the cursor moves.
  var value: UnsafeRawBufferPointer { get }
  /// Moves to the smallest key.
  mutating func moveToFirst() throws -> Bool
  /// Moves to the largest key.
  mutating func moveToLast() throws -> Bool
  /// Moves to the smallest key that is not before `bound`, which is no longer than a key may be.
  mutating func move(to bound: UnsafeRawBufferPointer) throws -> Bool
  /// Moves to the next larger key.
  mutating func moveToNext() throws -> Bool
  /// Moves to the next smaller key.
  mutating func moveToPrevious() throws -> Bool
  /// Negative, zero or positive as the key stands before, at or after `bound`. The default orders as ``compareKeys(_:_:)``.
  func order(against bound: UnsafeRawBufferPointer) -> Int
}

extension StorageCursor {
  /// By unsigned bytes. A scan asks it of each key, which the first words mostly tell: a call would take longer.
  @inlinable
  @inline(__always)
  public func order(against bound: UnsafeRawBufferPointer) -> Int {
    let key = key
    guard let left = key.baseAddress, let right = bound.baseAddress else { return key.count - bound.count }
    return compareByWords(left, key.count, right, bound.count)
  }

  /// Moves to the smallest key that is not before `bound`, which may have any length.
  @inlinable
  @inline(__always)
  public mutating func move(toBound bound: UnsafeRawBufferPointer, maximumKeyByteCount: Int) throws -> Bool {
    if bound.isEmpty { return try moveToFirst() }
    let start = UnsafeRawBufferPointer(rebasing: bound.prefix(maximumKeyByteCount))
    let isThere = try move(to: start)
    // A key that equals the cut bound stands before the whole one; all others compare alike to both, because no key
    // is longer than the cut.
    if isThere && bound.count > start.count && order(against: start) == 0 { return try moveToNext() }
    return isThere
  }
}

/// Scans a range with a cursor of the engine: bounds of any length, crossed ones and none at all, in both directions.
///
/// - Parameters:
///   - cursor: stands anywhere.
///   - maximumKeyByteCount: the engine's limit; a longer bound is not given to it.
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
        // The first key behind the range, and one back; the last key of all where there is none behind.
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

/// As ``compareKeys(_:_:)``, eight bytes at a time, where it is called. The last eight overlap those before them, which are the
/// same.
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

/// As ``compareKeys(_:_:)``, where it is called: for what is asked of each key of a scan.
@inlinable
@inline(__always)
package func compareKeysByWords(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else {
    return left.count - right.count
  }
  return compareByWords(leftStart, left.count, rightStart, right.count)
}

/// Asks for the memory at the beginning and at the end of a page, which a cursor reads soon. Only advice: there need not be any at
/// its address.
package func askForPage(at address: UInt, byteCount: UInt) {
  garage_prefetch(UnsafeRawPointer(bitPattern: address))
  garage_prefetch(UnsafeRawPointer(bitPattern: address &+ byteCount &- 1))
}

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The bytes of a key, owned. Ordered as every driver orders keys: by unsigned bytes, a prefix before the keys that it is a
/// prefix of.
public struct StorageKey: Hashable, Sendable {
  /// The key's bytes.
  public var bytes: [UInt8]

  /// A key of these bytes.
  @inlinable
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Copies lent bytes.
  @inlinable
  public init(_ span: RawSpan) { bytes = [UInt8](copying: span) }
}

extension StorageKey: Comparable {
  /// Whether both have the same bytes.
  public static func == (left: StorageKey, right: StorageKey) -> Bool {
    left.bytes.count == right.bytes.count && compareKeys(left.bytes.span.bytes, right.bytes.span.bytes) == 0
  }

  /// Whether `left` stands before `right`.
  public static func < (left: StorageKey, right: StorageKey) -> Bool {
    compareKeys(left.bytes.span.bytes, right.bytes.span.bytes) < 0
  }
}

extension StorageKey: CustomStringConvertible {
  /// The first 64 bytes, as hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef")
    var text = ""
    for byte in bytes.prefix(64) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return bytes.count > 64 ? "\(text)… (\(bytes.count) bytes)" : text
  }
}

/// Compares two keys as every driver orders them. The result is negative, zero or positive as `left` stands before, at or after
/// `right`.
public func compareKeys(_ left: RawSpan, _ right: RawSpan) -> Int {
  let common = min(left.byteCount, right.byteCount)
  let order = left.withUnsafeBytes { l in
    right.withUnsafeBytes { r in common == 0 ? 0 : memcmp(l.baseAddress!, r.baseAddress!, common) }
  }
  return order != 0 ? Int(order) : left.byteCount - right.byteCount
}

/// A stretch of the key space: from `lowerBound`, included, to `upperBound`, excluded.
///
/// Bounds are plain bytes and may have any length. A range whose bounds cross holds nothing.
public struct StorageKeyRange: Hashable, Sendable {
  /// The smallest key in the range. Empty means from the very first key.
  public var lowerBound: [UInt8]
  /// The smallest key behind the range. Nil means to the very last key.
  public var upperBound: [UInt8]?

  /// The range between two bounds, by default every key.
  public init(from lowerBound: [UInt8] = [], to upperBound: [UInt8]? = nil) {
    self.lowerBound = lowerBound
    self.upperBound = upperBound
  }

  /// Every key there is.
  public static let all = StorageKeyRange()

  /// Every key that begins with `prefix`, including the key that equals it.
  public static func prefix(_ prefix: [UInt8]) -> StorageKeyRange {
    // The first key behind the prefix: up to its last byte that is not 255, with that byte one higher.
    guard let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return StorageKeyRange(from: prefix) }
    var behind = Array(prefix[...last])
    behind[last] += 1
    return StorageKeyRange(from: prefix, to: behind)
  }

  /// Whether no key can be in the range.
  public var isEmpty: Bool {
    guard let upperBound else { return false }
    return compareKeys(lowerBound.span.bytes, upperBound.span.bytes) >= 0
  }

  /// Whether the key is in the range.
  public func contains(_ key: StorageKey) -> Bool {
    let bytes = key.bytes
    if compareKeys(bytes.span.bytes, lowerBound.span.bytes) < 0 { return false }
    guard let upperBound else { return true }
    return compareKeys(bytes.span.bytes, upperBound.span.bytes) < 0
  }
}

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Bytes without a pattern, of which checks make their large values. They are the same in every run.
enum PatternlessBytes {
  // Only read after it was made.
  nonisolated(unsafe) private static let buffer: UnsafeRawBufferPointer = {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: (1 << 20) + 8192, alignment: 8)
    var random = SeededRandom(seed: 2026)
    for offset in stride(from: 0, to: buffer.count, by: 8) {
      buffer.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
    }
    // Never freed, because every check of the process uses it.
    return UnsafeRawBufferPointer(buffer)
  }()

  /// `count` of the bytes, up to 1 MiB, from `start` on, which is below 8192.
  static func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer[start..<(start + count)])
  }

  /// Whether the value has the bytes that `expected` gives, or both are nil.
  static func equals(_ value: RawSpan?, _ expected: (start: Int, count: Int)?) -> Bool {
    guard let expected else { return value?.byteCount == nil }
    guard let value, value.byteCount == expected.count else { return false }
    let slice = slice(expected.start, expected.count)
    return value.withUnsafeBytes {
      expected.count == 0 || memcmp($0.baseAddress!, slice.baseAddress!, expected.count) == 0
    }
  }
}

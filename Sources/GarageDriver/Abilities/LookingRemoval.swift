/// A write transaction that can remove an entry and return the beginning of its value in one search.
///
/// The caller of a removal may have to know what it removed. A get before the removal would search for the key twice, and read
/// a large value whole.
package protocol LookingRemoval: WriteTransaction {
  /// Removes the entry of `key`, and returns the beginning of its value; nil if there is no such entry.
  ///
  /// A value that cannot be read is removed as well. Its beginning is then empty.
  func removeLooking(_ key: RawSpan) throws -> ValueBeginning?
}

/// The first bytes of a value.
package struct ValueBeginning: Sendable {
  /// How many bytes the beginning has, if the value has as many.
  package static let byteCount = 16

  private var bytes = SIMD16<UInt8>()
  private var count = 0

  /// The beginning of a value without bytes.
  package init() {}

  /// Copies the first bytes of the value.
  @inline(__always)
  package init(_ value: UnsafeRawBufferPointer) {
    count = min(value.count, ValueBeginning.byteCount)
    withUnsafeMutableBytes(of: &bytes) {
      $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: value[..<count]))
    }
  }

  /// Lends the bytes.
  @inline(__always)
  package func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try withUnsafeBytes(of: bytes) { try body(UnsafeRawBufferPointer(rebasing: $0[..<count]).bytes) }
  }
}

/// A write transaction that finds an entry once, to see how its value begins and to remove it.
///
/// Who removes an entry may have to know what it was. A get before the removal would look for the key twice, and read
/// a large value whole.
package protocol LookingRemoval: WriteTransaction {
  /// Removes the entry of `key`, and returns how its value began; nil where there is no such entry.
  ///
  /// A value that cannot be read is removed as well, and begins with nothing.
  func removeLooking(_ key: RawSpan) throws -> ValueBeginning?
}

/// The first bytes of a value.
package struct ValueBeginning: Sendable {
  /// How many bytes it has where the value has as many.
  package static let byteCount = 16

  private var bytes = SIMD16<UInt8>()
  private var count = 0

  /// That of a value without bytes.
  package init() {}

  /// Copies them from the value.
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

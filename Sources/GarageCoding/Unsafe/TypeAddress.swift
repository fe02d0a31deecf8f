/// Where the metadata of a type stands: it tells types apart, and is had without a call.
///
/// Metadata is made once for each type and never freed, and a metatype is its address.
struct TypeAddress: Hashable {
  private let pointer: UnsafeRawPointer

  @inline(__always)
  init(_ type: Any.Type) { pointer = Reinterpretation.bits(of: type, as: UnsafeRawPointer.self) }

  /// Its line in a direct-mapped cache of so many, a power of two.
  @inline(__always)
  func line(of count: Int) -> Int {
    // Metadata is aligned to 16 bytes or more.
    let bits = UInt(bitPattern: pointer)
    return Int(truncatingIfNeeded: (bits >> 4 ^ bits >> 12) & UInt(truncatingIfNeeded: count &- 1))
  }

  /// The first word of the metadata, which says of what kind the type is (Swift ABI, `MetadataKind`).
  var kindWord: UInt { pointer.load(as: UInt.self) }
}

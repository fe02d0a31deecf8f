/// The address of a type's metadata. It tells types apart, and is read without a call.
///
/// Metadata is made once for each type and never freed, and a metatype is its address.
struct TypeAddress: Hashable, @unchecked Sendable {
  // @unchecked: metadata stays unchanged for good.
  private let pointer: UnsafeRawPointer

  @inline(__always)
  init(_ type: Any.Type) { pointer = Reinterpretation.bits(of: type, as: UnsafeRawPointer.self) }

  /// - Parameter metadata: the address of a type's metadata.
  init(at metadata: UnsafeRawPointer) { pointer = metadata }

  /// The type's line in a direct-mapped cache with `count` lines, a power of two.
  @inline(__always)
  func line(of count: Int) -> Int {
    // Metadata is aligned to 16 bytes or more.
    let bits = UInt(bitPattern: pointer)
    return Int(truncatingIfNeeded: (bits >> 4 ^ bits >> 12) & UInt(truncatingIfNeeded: count &- 1))
  }

  /// The first word of the metadata, which tells the kind of the type (Swift ABI, `MetadataKind`).
  var kindWord: UInt { pointer.load(as: UInt.self) }

  /// Whether the type is an enum, but not an optional.
  var isEnum: Bool { kindWord == 0x201 }

  /// How many cases an enum without payload has; nil for any other type (Swift ABI, `TargetEnumDescriptor`).
  var plainCaseCount: Int? {
    guard isEnum else { return nil }
    let descriptor = pointer.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
    let payloadCaseCount = descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF
    return payloadCaseCount == 0 ? Int(descriptor.load(fromByteOffset: 24, as: UInt32.self)) : nil
  }

  /// The case with that number of an enum without payload and with at most 256 cases; nil if there is none.
  func plainCase(_ number: Int, of type: Any.Type) -> Any? {
    func make<E>(_: E.Type) -> Any? {
      guard let count = plainCaseCount, MemoryLayout<E>.size <= 1, count > 0 else { return nil }
      return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { place in
        // A single case has no byte.
        place.storeBytes(of: UInt8(truncatingIfNeeded: min(number, count - 1)), as: UInt8.self)
        return place.baseAddress.unsafelyUnwrapped[as: E.self]
      }
    }
    return _openExistential(type, do: make)
  }
}

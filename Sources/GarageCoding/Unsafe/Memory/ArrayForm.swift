internal import CGarage

/// The layout in memory of arrays of one type, as found in one of them.
///
/// To make an array, code that does not know the type of the elements asks the runtime for four types of the array's parts.
/// With the layout known, it takes one allocation. The layout of an array's memory is part of the standard library's binary
/// interface, because code that uses it is compiled into clients: an object of a class, its count, its capacity with a flag in
/// the lowest bit, and the elements. That this is so is checked once for each type. If the check fails, arrays are made in the
/// usual way.
struct ArrayForm {
  private let storageClass: UnsafeRawPointer
  private let elements: Int
  private let alignmentMask: Int
  /// The flag below the capacity.
  private let flag: Int

  private static let count = 2 * MemoryLayout<Int>.size
  private static let capacity = 3 * MemoryLayout<Int>.size

  /// The layout of arrays of `Element`; nil if it is not the known one, or was never checked.
  init?<Element>(_: Element.Type) {
    #if canImport(ObjectiveC)
      // There, the first word of an object is not only its class.
      return nil
    #else
      let room = 3
      var sample = [Element](unsafeUninitializedCapacity: room) { _, _ in }
      let capacity = sample.capacity
      let elements = sample.withUnsafeMutableBufferPointer {
        UnsafeRawPointer($0.baseAddress.unsafelyUnwrapped)
      }
      let start = unsafeBitCast(sample, to: UnsafeRawPointer.self)
      let bits = start.load(fromByteOffset: ArrayForm.capacity, as: Int.self)
      guard capacity >= room, bits >> 1 == capacity,
        start.load(fromByteOffset: ArrayForm.count, as: Int.self) == 0
      else { return nil }
      storageClass = start.load(as: UnsafeRawPointer.self)
      self.elements = elements - start
      alignmentMask = max(MemoryLayout<Element>.alignment, MemoryLayout<Int>.alignment) - 1
      flag = bits & 1
      withExtendedLifetime(sample) {}
    #endif
  }

  /// An array whose elements are made in their final places.
  ///
  /// - Parameters:
  ///   - count: how many elements it is to have; at least one.
  ///   - make: makes elements, beginning at the first place, and counts them, also if it throws.
  @inline(__always)
  func array<Element>(
    of count: Int, _ make: (UnsafeMutablePointer<Element>, inout Int) throws -> Void
  ) throws -> [Element] {
    let byteCount = elements + count * MemoryLayout<Element>.stride
    let object = UnsafeMutableRawPointer(garage_allocate_object(storageClass, byteCount, alignmentMask))
    object.storeBytes(of: count << 1 | flag, toByteOffset: ArrayForm.capacity, as: Int.self)
    var made = 0
    do {
      try make((object + elements).assumingMemoryBound(to: Element.self), &made)
    } catch {
      // Releases the array with the elements that it has.
      _ = ArrayForm.array(at: object, made, of: Element.self)
      throw error
    }
    return ArrayForm.array(at: object, made, of: Element.self)
  }

  /// The array in memory that is complete except for its count. Nobody may hold the array before: it could be released after
  /// its last use, which may be early.
  @inline(__always)
  private static func array<Element>(
    at object: UnsafeMutableRawPointer, _ count: Int, of _: Element.Type
  ) -> [Element] {
    object.storeBytes(of: count, toByteOffset: ArrayForm.count, as: Int.self)
    let owned = Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue()
    return unsafeBitCast(owned, to: [Element].self)
  }
}

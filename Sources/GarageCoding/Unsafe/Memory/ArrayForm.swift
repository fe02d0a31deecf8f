internal import CGarage

/// How the memory of arrays of one type looks, found in one of them.
///
/// An array that is made in code that does not know the type of its elements asks the runtime for four types of its own
/// parts. With what is known here it is one allocation. The memory of an array is part of the standard library's binary
/// interface, as code of its clients goes into it: an object of a class, its count, its capacity with a flag below, and
/// the elements. That this is so is looked at, once for each type; where it is not, arrays are made as usual.
struct ArrayForm {
  private let storageClass: UnsafeRawPointer
  private let elements: Int
  private let alignmentMask: Int
  /// What stands below the capacity.
  private let flag: Int

  private static let count = 2 * MemoryLayout<Int>.size
  private static let capacity = 3 * MemoryLayout<Int>.size

  /// The form of arrays of `Element`; nil where it is not the known one, or was never tried.
  init?<Element>(_: Element.Type) {
    #if canImport(ObjectiveC)
      // The class of an object is not all that stands first in it.
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

  /// An array whose elements are made where they stay.
  ///
  /// - Parameters:
  ///   - count: how many there are to be; at least one.
  ///   - make: makes elements from the first place on, and counts them, also where it throws.
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
      // Let go of with what it has.
      _ = ArrayForm.array(at: object, made, of: Element.self)
      throw error
    }
    return ArrayForm.array(at: object, made, of: Element.self)
  }

  /// The array whose memory is complete but for its count. Before that, nobody may hold it: it is let go of when it was
  /// used for the last time, and that may be early.
  @inline(__always)
  private static func array<Element>(
    at object: UnsafeMutableRawPointer, _ count: Int, of _: Element.Type
  ) -> [Element] {
    object.storeBytes(of: count, toByteOffset: ArrayForm.count, as: Int.self)
    let owned = Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue()
    return unsafeBitCast(owned, to: [Element].self)
  }
}

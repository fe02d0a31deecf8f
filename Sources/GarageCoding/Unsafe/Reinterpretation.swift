/// What the compiler cannot know: a value's other type. Every cast between types that it does not check is one of these.
enum Reinterpretation {
  /// A value of a generic type as the type that was found to be the same one.
  @inline(__always)
  static func same<T, Known>(_ value: T, as type: Known.Type) -> Known {
    assert(T.self == Known.self, "\(T.self) was taken for \(Known.self)")
    return unsafeBitCast(value, to: type)
  }

  /// An object as one of a class that its own was found to be, or to descend from.
  @inline(__always)
  static func downcast<Object: AnyObject>(_ object: AnyObject, to type: Object.Type) -> Object {
    unsafeDowncast(object, to: type)
  }

  /// An object, of a generic type that was found to be a class. In generic code a cast takes longer than what follows.
  @inline(__always)
  static func object<T>(_ value: T) -> AnyObject {
    assert(T.self is AnyClass)
    return unsafeBitCast(value, to: AnyObject.self)
  }

  /// An array of objects as one of the class that all of them were found to be of, or to descend from. In memory
  /// an array of objects is the same, whatever their class.
  @inline(__always)
  static func array<Object>(_ objects: [AnyObject], of type: Object.Type) -> [Object] {
    assert(type is AnyClass)
    return unsafeBitCast(objects, to: [Object].self)
  }

  /// The value that consists of one reference, to this object, and whose type was found to be so.
  @inline(__always)
  static func value<T>(heldBy object: AnyObject, as type: T.Type) -> T { bits(of: object, as: type) }

  /// The bits of a value as another type of the same size, whose values have no other meaning than their bits, or
  /// whose layout was looked at (``ShortStrings``, ``ContainerBoxes``).
  @inline(__always)
  static func bits<T, U>(of value: T, as type: U.Type) -> U {
    assert(MemoryLayout<T>.size == MemoryLayout<U>.size)
    return unsafeBitCast(value, to: type)
  }
}

/// An array whose type its user knows.
struct KeptArray {
  private let array: AnyObject

  init<Element>(_ array: [Element]) {
    self.array = Reinterpretation.bits(of: array, as: AnyObject.self)
  }

  @inline(__always)
  func array<Element>(of type: Element.Type) -> [Element] {
    Reinterpretation.bits(of: array, as: [Element].self)
  }
}

extension UnsafeRawPointer {
  /// The value at this address, which is one of that type, where it stands: it is not copied.
  subscript<Value>(as type: Value.Type) -> Value {
    @inline(__always) unsafeAddress { assumingMemoryBound(to: type) }
  }
}

extension UnsafeMutableRawPointer {
  /// The value at this address, which is one of that type, where it stands.
  subscript<Value>(as type: Value.Type) -> Value {
    @inline(__always) unsafeAddress { UnsafePointer(assumingMemoryBound(to: type)) }
    @inline(__always) nonmutating unsafeMutableAddress { assumingMemoryBound(to: type) }
  }
}

extension UnsafeRawBufferPointer {
  /// Runs `body` with the bytes as values of type `UInt8`, which any memory holds.
  func withTypedBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    try withMemoryRebound(to: UInt8.self, body)
  }
}

extension UnsafeMutableRawPointer {
  /// The bytes from here on as values of type `UInt8`: of memory that was just allocated, and is bound to no type.
  var typedBytes: UnsafeMutablePointer<UInt8> { assumingMemoryBound(to: UInt8.self) }
}

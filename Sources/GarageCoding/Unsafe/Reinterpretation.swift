/// Casts that the compiler cannot check, because it does not know that two types are the same. All such casts are made here.
enum Reinterpretation {
  /// A value of a generic type, as the type that was found to be the same.
  @inline(__always)
  static func same<T, Known>(_ value: T, as type: Known.Type) -> Known {
    assert(T.self == Known.self, "\(T.self) was taken for \(Known.self)")
    return unsafeBitCast(value, to: type)
  }

  /// An object as an instance of a class. The object's class was found to be that class, or a subclass of it.
  @inline(__always)
  static func downcast<Object: AnyObject>(_ object: AnyObject, to type: Object.Type) -> Object {
    unsafeDowncast(object, to: type)
  }

  /// An object whose generic type was found to be a class. In generic code a checked cast takes longer than the work that
  /// follows.
  @inline(__always)
  static func object<T>(_ value: T) -> AnyObject {
    assert(T.self is AnyClass)
    return unsafeBitCast(value, to: AnyObject.self)
  }

  /// An array of objects as one of a class. All of them were found to be of that class, or of subclasses. In memory, an array
  /// of objects is the same whatever their class is.
  @inline(__always)
  static func array<Object>(_ objects: [AnyObject], of type: Object.Type) -> [Object] {
    assert(type is AnyClass)
    return unsafeBitCast(objects, to: [Object].self)
  }

  /// A value that consists of one reference to this object. Its type was found to be such a type.
  @inline(__always)
  static func value<T>(heldBy object: AnyObject, as type: T.Type) -> T { bits(of: object, as: type) }

  /// The bits of a value as another type of the same size. Either the values of both types have no meaning beyond their bits,
  /// or the layout was checked (``ShortStrings``, ``ContainerBoxes``).
  @inline(__always)
  static func bits<T, U>(of value: T, as type: U.Type) -> U {
    assert(MemoryLayout<T>.size == MemoryLayout<U>.size)
    return unsafeBitCast(value, to: type)
  }
}

/// An array, without its type, which its user knows.
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
  /// The value of this type at the address, accessed in place and not copied.
  subscript<Value>(as type: Value.Type) -> Value {
    @inline(__always) unsafeAddress { assumingMemoryBound(to: type) }
  }
}

extension UnsafeMutableRawPointer {
  /// The value of this type at the address, accessed in place.
  subscript<Value>(as type: Value.Type) -> Value {
    @inline(__always) unsafeAddress { UnsafePointer(assumingMemoryBound(to: type)) }
    @inline(__always) nonmutating unsafeMutableAddress { assumingMemoryBound(to: type) }
  }
}

extension UnsafeRawBufferPointer {
  /// Runs `body` with the bytes as values of type `UInt8`, which any memory can hold.
  func withTypedBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    try withMemoryRebound(to: UInt8.self, body)
  }
}

extension UnsafeMutableRawPointer {
  /// The bytes from here on as values of type `UInt8`. The memory must just have been allocated, and be bound to no type.
  var typedBytes: UnsafeMutablePointer<UInt8> { assumingMemoryBound(to: UInt8.self) }
}

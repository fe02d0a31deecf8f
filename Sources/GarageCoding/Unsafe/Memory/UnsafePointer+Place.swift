extension UnsafeMutablePointer {
  /// The address of a field. The field has to be part of something that stands at a fixed address.
  @inline(__always)
  static func place(of field: inout Pointee) -> UnsafeMutablePointer {
    withUnsafeMutablePointer(to: &field) { $0 }
  }
}

extension UnsafeMutablePointer where Pointee: ~Copyable {
  /// Puts a value into a place of its own, for the life of the process.
  static func keeping(_ value: consuming Pointee) -> UnsafeMutablePointer {
    let place = UnsafeMutablePointer.allocate(capacity: 1)
    place.initialize(to: value)
    return place
  }
}

extension UnsafeRawBufferPointer {
  /// Puts bytes into a place of their own, for the life of the process.
  static func keeping(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let place = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    place.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(place)
  }
}

extension UnsafePointer {
  /// The address of a field, for reading.
  @inline(__always)
  static func place(of field: inout Pointee) -> UnsafePointer {
    withUnsafePointer(to: &field) { $0 }
  }
}

extension UnsafeMutablePointer {
  /// Where a field stands: it has to be one of something that stands at a fixed address itself.
  @inline(__always)
  static func place(of field: inout Pointee) -> UnsafeMutablePointer {
    withUnsafeMutablePointer(to: &field) { $0 }
  }
}

extension UnsafeMutablePointer where Pointee: ~Copyable {
  /// Gives a value its place, for the life of the process.
  static func keeping(_ value: consuming Pointee) -> UnsafeMutablePointer {
    let place = UnsafeMutablePointer.allocate(capacity: 1)
    place.initialize(to: value)
    return place
  }
}

extension UnsafeRawBufferPointer {
  /// Gives bytes their place, for the life of the process.
  static func keeping(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let place = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    place.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(place)
  }
}

extension UnsafePointer {
  /// The same, for reading.
  @inline(__always)
  static func place(of field: inout Pointee) -> UnsafePointer {
    withUnsafePointer(to: &field) { $0 }
  }
}

// Arrays, element by element, from and to their own memory. `Array`'s own `encode(to:)` and `init(from:)` do the same
// through a container, and copy each element on the way.

/// An array whose elements can be encoded, for a type that is only known at run time.
protocol EncodableElements {
  /// Writes the array at an address as its `encode(to:)` would.
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws
}

extension Array: EncodableElements where Element: Encodable {
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws {
    try address.assumingMemoryBound(to: [Element].self).pointee.withUnsafeBufferPointer { elements in
      try state.withFrame { serial in
        try state.requestArray()
        for index in elements.indices {
          try state.beginElement(serial: serial)
          try elements.lent(index).pointee.writeElement(to: state)
        }
      }
    }
  }
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  @inline(never)
  func writeElements<T>(of array: T, _ type: any EncodableElements.Type) throws {
    try withUnsafePointer(to: array) { try type.write(at: UnsafeRawPointer($0), to: self) }
  }
}

/// An array whose elements can be decoded, for a type that is only known at run time.
protocol DecodableElements {
  /// Reads the array at the cursor, as its `init(from:)` would, into the scratch memory.
  static func read(from state: DecoderPointer) throws
}

extension Array: DecodableElements where Element: Decodable {
  static func read(from state: DecoderPointer) throws {
    let array = try state.withFrame { serial in
      try state.requestArray()
      let count = state.pointee.input.frame.pointee.count
      var array: [Element] = []
      // A count is no larger than the bytes that there are, but elements may be much larger than theirs.
      array.reserveCapacity(Swift.min(count, 256))
      for _ in 0..<count {
        try state.beginElement(Element.self, serial: serial)
        array.append(try state.readAny(Element.self))
        state.advance()
      }
      return array
    }
    state.pointee.scratch.initializeMemory(as: [Element].self, to: array)
  }
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  @inline(never)
  func readElements<T>(_ type: T.Type, _ elements: any DecodableElements.Type) throws -> T {
    try elements.read(from: self)
    return pointee.scratch.assumingMemoryBound(to: T.self).move()
  }
}

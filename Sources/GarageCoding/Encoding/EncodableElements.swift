// Arrays, element by element, from their own memory. `Array`'s own `encode(to:)` does the same through a container, and
// copies each element on the way. (Its `init(from:)` loses nothing that could be measured.)

/// An array whose elements can be encoded, for a type that is only known at run time.
protocol EncodableElements {
  /// Writes the array at an address as its `encode(to:)` would.
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws
}

extension Array: EncodableElements where Element: Encodable {
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws {
    try address[as: [Element].self].withUnsafeBufferPointer { elements in
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

extension EncoderPointer {
  @inline(never)
  func writeElements<T>(of array: T, _ facts: Permanent<TypeFacts>) throws {
    guard let type = facts.with({ $0.encodableElements }) else { return }
    try withUnsafePointer(to: array) { try type.write(at: UnsafeRawPointer($0), to: self) }
  }
}

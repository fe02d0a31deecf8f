// Arrays, element by element, and optionals from their own memory. Their own `encode(to:)` do the same through a container, for
// which they need a frame, and copy each element on the way. (`Array`'s `init(from:)` loses nothing that could be measured.)

/// A value that an encoder writes from where it stands, for a type that is only known at run time.
protocol EncodableInPlace {
  /// Writes the value at an address as its `encode(to:)` would.
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws
}

extension Array: EncodableInPlace where Element: Encodable {
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

extension Optional: EncodableInPlace where Wrapped: Encodable {
  static func write(at address: UnsafeRawPointer, to state: EncoderPointer) throws {
    try state.withoutFrame {
      try address.lendOptional(of: Wrapped.self) { (value: borrowing Wrapped) in
        try state.writeAny(copy value)
      } orIfNil: {
        state.writeNull()
      }
    }
  }
}

extension EncoderPointer {
  @inline(never)
  func writeInPlace<T>(_ value: T, _ facts: Permanent<TypeFacts>) throws {
    guard let type = facts.with({ $0.encodableInPlace }) else { return }
    try withUnsafePointer(to: value) { try type.write(at: UnsafeRawPointer($0), to: self) }
  }

  /// Runs `body`, which writes one value, as deep as in a frame of its own: as deep as it will be read.
  @inline(__always)
  fileprivate func withoutFrame(_ body: () throws -> Void) throws {
    guard depth < RecordFormat.maximumDepth, StackLimit.hasRoom else {
      throw fail(GraphCodingError.nestingTooDeep(depth: depth))
    }
    depth &+= 1
    defer { depth &-= 1 }
    try body()
  }
}

/// A value at an address, seen through a type that cannot be copied. Its methods pass on the value's parts from where they
/// stand. `pointee` of a copyable type would be copied first, in generic code even to read one property, and each of its
/// references counted up and down. The methods are inlined, because a call would look up the metadata of this type each time.
struct Lent<Value>: ~Copyable {
  private let value: Value
}

extension UnsafeRawPointer {
  /// The value of this type at the address.
  @inline(__always)
  func lent<Value>(_ type: Value.Type) -> UnsafePointer<Lent<Value>> {
    assumingMemoryBound(to: Lent<Value>.self)
  }
}

extension UnsafeBufferPointer {
  /// An element in its place.
  @inline(__always)
  func lent(_ index: Int) -> UnsafePointer<Lent<Element>> {
    UnsafeRawPointer(baseAddress.unsafelyUnwrapped + index).lent(Element.self)
  }
}

extension Lent where Value: Identifiable {
  @inline(__always)
  borrowing func identifier() -> Value.ID { value.id }
}

extension Lent where Value: Encodable {
  @inline(__always)
  borrowing func enqueueAsRoot(_ index: Int, _ core: EncodingCore) throws {
    try core.enqueueRoot(value, .root(index))
  }

  @inline(__always)
  borrowing func body(_ core: EncodingCore) throws -> UnsafeRawBufferPointer { try core.body(of: value) }

  @inline(__always)
  borrowing func checkIdentifier(
    _ facts: TypeFacts, _ identifier: UnsafeRawBufferPointer, _ core: EncodingCore
  ) throws {
    try core.checkIdentifier(of: value, facts, identifier)
  }

  @inline(__always)
  borrowing func heldBody(_ core: EncodingCore) throws -> UnsafeRawBufferPointer {
    try core.heldBody(of: value)
  }

  @inline(__always)
  borrowing func writeComposite(
    to state: EncoderPointer, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws {
    try state.writeComposite(value, facts, kind)
  }

  @inline(__always)
  borrowing func writeElement(to state: EncoderPointer) throws { try state.writeElement(value) }

  @inline(__always)
  borrowing func writeAny(to state: EncoderPointer) throws { try state.writeAny(value) }

  @inline(__always)
  borrowing func writeReference(
    to state: EncoderPointer, _ facts: Permanent<TypeFacts>, _ kind: ReferenceKind
  ) throws {
    try state.writeReference(to: value, facts, kind)
  }

  @inline(__always)
  borrowing func syncStatus(_ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: value) }
}

/// Runs `body` with the value of an optional where that stands, or `orIfNil`.
///
/// If the optional can be copied, generic code copies it to look at it, and looks up the metadata of its type to do so, which
/// takes longer than to encode a date. So this is written for values that cannot.
@inline(__always)
func lend<Wrapped: ~Copyable>(
  _ value: borrowing Wrapped?, to body: (borrowing Wrapped) throws -> Void, orIfNil: () throws -> Void
) rethrows {
  switch value {
  case .some(let value): try body(value)
  case .none: try orIfNil()
  }
}

extension UnsafeRawPointer {
  /// The same with the optional at the address.
  @inline(__always)
  func lendOptional<Wrapped: ~Copyable>(
    of type: Wrapped.Type, to body: (borrowing Wrapped) throws -> Void, orIfNil: () throws -> Void
  ) rethrows {
    try lend(assumingMemoryBound(to: Wrapped?.self).pointee, to: body, orIfNil: orIfNil)
  }
}

/// Room for one plain value, on the stack.
///
/// Invariant: it is used only inside the closure that it was lent to. If a value was put there, which `PlainValue.Found.value`
/// says, ``take(as:)`` is called with that value's type, once. Nothing else removes the value.
@usableFromInline
struct PlainRoom {
  @usableFromInline let place: UnsafeMutableRawPointer

  @inlinable
  @inline(__always)
  init(_ place: UnsafeMutableRawPointer) { self.place = place }

  /// Lends room for the largest of the plain types.
  @inlinable
  @inline(__always)
  static func with<R>(_ body: (PlainRoom) throws -> R) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { room in
      try body(PlainRoom(room.baseAddress.unsafelyUnwrapped))
    }
  }

  @inlinable
  @inline(__always)
  func take<V>(as type: V.Type) -> V { place.assumingMemoryBound(to: V.self).move() }
}

/// Room for one plain value, on the stack.
///
/// Invariant: it is used inside the closure that it was lent to. ``take(as:)`` follows where a value of that type was
/// put there, which `PlainValue.Found.value` says, and once: nothing else takes it away.
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

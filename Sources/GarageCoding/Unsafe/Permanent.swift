/// A reference to an object that lives as long as the process.
///
/// Its references are never counted: not when it is copied, kept in plain memory, or passed on. Making one promises that the
/// object is kept for good, by another holder or by ``init(keeping:)``. Such objects are facts of types, shapes, tables of
/// keys, and everything that belongs to a pooled coder.
struct Permanent<Object: AnyObject> {
  fileprivate let reference: Unmanaged<Object>

  /// Keeps the object for good.
  init(keeping object: Object) { reference = .passRetained(object) }

  /// A reference to an object that is already kept for good.
  @inline(__always)
  init(_ kept: Object) { reference = .passUnretained(kept) }

  /// The object, as a reference that is counted while it is used.
  @inline(__always)
  var object: Object { reference.takeUnretainedValue() }

  /// Runs `body` with the object, without counting references.
  @inline(__always)
  func with<R>(_ body: (Object) throws -> R) rethrows -> R { try reference._withUnsafeGuaranteedRef(body) }

  /// The object's address, which tells objects apart.
  @inline(__always)
  var address: UnsafeMutableRawPointer { reference.toOpaque() }
}

extension Permanent where Object == NestedEncoding {
  /// Releases an object after all, if nothing refers to it any more.
  func end() {
    object.deallocate()
    reference.release()
  }
}

extension Permanent {
  /// For the word that ``CorePool`` exchanges.
  @inline(__always)
  init(_ reference: Unmanaged<Object>) { self.reference = reference }

  @inline(__always)
  var unmanaged: Unmanaged<Object> { reference }
}

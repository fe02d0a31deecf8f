/// A reference to an object that lives as long as the process.
///
/// It is never counted: not when it is copied, kept in plain memory, or passed on. Making one promises that the object is kept
/// for good, elsewhere or by ``init(keeping:)``. Such objects are facts of types, shapes, tables of keys, and everything that
/// belongs to a pooled coder.
struct Permanent<Object: AnyObject> {
  fileprivate let reference: Unmanaged<Object>

  /// Keeps the object for good.
  init(keeping object: Object) { reference = .passRetained(object) }

  /// A reference to an object that is kept for good already.
  @inline(__always)
  init(_ kept: Object) { reference = .passUnretained(kept) }

  /// The object, as a reference that is counted while it is used.
  @inline(__always)
  var object: Object { reference.takeUnretainedValue() }

  /// Runs `body` with the object, without counting.
  @inline(__always)
  func with<R>(_ body: (Object) throws -> R) rethrows -> R { try reference._withUnsafeGuaranteedRef(body) }

  /// Tells objects apart.
  @inline(__always)
  var address: UnsafeMutableRawPointer { reference.toOpaque() }
}

extension Permanent where Object == NestedEncoding {
  /// Lets an object go after all: one that nothing leads to any more.
  func end() {
    object.deallocate()
    reference.release()
  }
}

extension Permanent {
  /// For the one word that ``CorePool`` exchanges.
  @inline(__always)
  init(_ reference: Unmanaged<Object>) { self.reference = reference }

  @inline(__always)
  var unmanaged: Unmanaged<Object> { reference }
}

public import Synchronization

/// Room for one object that is used again and again, because to make one costs more than to keep it.
///
/// One use at a time has the object of the room; whoever asks meanwhile gets another one, which is its own. So the object
/// need not be `Sendable`: taking the room acquires what giving it back has released. A use that ended takes nothing
/// from the room any more; an object that somebody kept beyond it must not be given back to be kept (see
/// `Unmanaged.isOnlyReference`), since it would come alive again in the hands of whoever kept it.
///
/// Taking is one atomic exchange, giving back one atomic store. Behind it there may be a list of more objects, under a
/// lock, for uses at the same time (``take(or:)`` makes what the room does not have). Two places do the same in a way of
/// their own: the coders' pool, in a module that does not see this one, and `LMDBConnection`, whose object rests inside
/// the lifetime that it entered and can be locked out of its room.
@usableFromInline
package struct Reusable<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // @unchecked: see above.
  @usableFromInline
  let isTaken = Atomic<Bool>(false)
  /// Changed by the use that has the room only. Others look whether it is theirs, which it is not.
  @usableFromInline
  let resting = Atomic<Unmanaged<Object>?>(nil)

  package init() {}

  deinit { resting.exchange(nil, ordering: .acquiring)?.release() }

  /// An object that is the caller's until ``giveBack(_:keeping:)``, which has to follow: that of the room, or one that
  /// `make` makes.
  @inlinable
  @inline(__always)
  package func take(or make: () throws -> Object) rethrows -> Unmanaged<Object> {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return .passRetained(try make())
    }
    if let object = resting.load(ordering: .relaxed) { return object }
    do {
      let object = Unmanaged.passRetained(try make())
      resting.store(object, ordering: .relaxed)
      return object
    } catch {
      isTaken.store(false, ordering: .releasing)
      throw error
    }
  }

  /// Ends a use.
  ///
  /// - Parameter keeping: whether the object may be used again.
  /// - Returns: whether it stays in the room. Otherwise its one reference is the caller's, to release or to keep
  ///   elsewhere.
  @inlinable
  @inline(__always)
  package func giveBack(_ object: Unmanaged<Object>, keeping: Bool) -> Bool {
    guard let mine = resting.load(ordering: .relaxed), mine.toOpaque() == object.toOpaque() else {
      return false
    }
    if !keeping { resting.store(nil, ordering: .relaxed) }
    isTaken.store(false, ordering: .releasing)
    return keeping
  }

  /// Runs `body` on the object, if there is one, while nobody uses it. Uses meanwhile get another one.
  ///
  /// - Returns: false where it is in use, and `body` has not run.
  package func withResting(_ body: (Object) -> Void) -> Bool {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return false
    }
    defer { isTaken.store(false, ordering: .releasing) }
    if let object = resting.load(ordering: .relaxed) { object._withUnsafeGuaranteedRef(body) }
    return true
  }

  /// Takes the object out, which the caller then owns. Nobody may be using it.
  package func remove() -> Unmanaged<Object>? { resting.exchange(nil, ordering: .acquiring) }
}

extension Unmanaged {
  /// Whether the reference that the caller owns is the only one.
  @inlinable
  @inline(__always)
  package var isOnlyReference: Bool {
    var reference = self
    // Asked where it stands: a variable of the object's type would count as another reference. An unmanaged reference
    // is the same word as a managed one.
    return withUnsafeMutablePointer(to: &reference) { place in
      UnsafeMutableRawPointer(place).withMemoryRebound(to: Instance.self, capacity: 1) {
        isKnownUniquelyReferenced(&$0.pointee)
      }
    }
  }
}

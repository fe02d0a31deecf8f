public import Synchronization

/// Room for one object that is used again and again, because making one costs more than keeping it.
///
/// One use at a time has the object of the room. A use that begins meanwhile gets another object, which belongs to it alone. So
/// the object need not be `Sendable`: taking the room acquires what giving it back has released. A use that has ended takes
/// nothing from the room any more. If somebody kept a reference to the object beyond the use, the object must not go back into
/// the room (see `Unmanaged.isOnlyReference`): the next use would change it in the hands of the one who kept it.
///
/// Taking is one atomic exchange, giving back one atomic store. Behind the room there may be a list of more objects, under a
/// lock, for several uses at the same time (``take(or:)`` makes the object that the room does not have). Two places do the same
/// in their own way: the coders' pool, which is in a module that does not see this one, and `LMDBConnection`, whose object
/// rests inside the lifetime that it entered, and can be locked out of its room.
@usableFromInline
package struct Reusable<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // @unchecked: see above.
  @usableFromInline
  let isTaken = Atomic<Bool>(false)
  /// Changed only by the use that has the room. Other uses compare it with their own object, which it never is.
  @usableFromInline
  let resting = Atomic<Unmanaged<Object>?>(nil)

  package init() {}

  deinit { resting.exchange(nil, ordering: .acquiring)?.release() }

  /// Returns an object that belongs to the caller until ``giveBack(_:keeping:)``, which has to follow: the object of the room,
  /// or else one that `make` makes.
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

  /// Runs `body` on the object of the room, if there is one and no use has it. Uses that begin meanwhile get another object.
  ///
  /// - Returns: false if the object is in use; `body` has not run then.
  package func withResting(_ body: (Object) -> Void) -> Bool {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return false
    }
    defer { isTaken.store(false, ordering: .releasing) }
    if let object = resting.load(ordering: .relaxed) { object._withUnsafeGuaranteedRef(body) }
    return true
  }

  /// Takes the object out of the room; the caller then owns it. No use may have it.
  package func remove() -> Unmanaged<Object>? { resting.exchange(nil, ordering: .acquiring) }
}

extension Unmanaged {
  /// Whether the reference that the caller owns is the only one.
  @inlinable
  @inline(__always)
  package var isOnlyReference: Bool {
    var reference = self
    // Asked of the memory where the reference stands: a variable of the object's type would count as another reference. An
    // unmanaged reference is the same word as a managed one.
    return withUnsafeMutablePointer(to: &reference) { place in
      UnsafeMutableRawPointer(place).withMemoryRebound(to: Instance.self, capacity: 1) {
        isKnownUniquelyReferenced(&$0.pointee)
      }
    }
  }
}

/// The objects of a graph that wait to be encoded, kept alive until its end: an identity may be an address.
struct ObjectArena {
  private var places = PlaceArena()
  private var objects = RawStack<KeptObject>()

  /// Copies an object to where it stays until ``removeAll()``.
  @inline(__always)
  mutating func keep<T: Encodable>(_ object: T) -> KeptObject {
    let place = places.place(for: T.self)
    place.initializeMemory(as: T.self, to: object)
    let kept = KeptObject(address: UnsafeRawPointer(place), type: T.self)
    objects.append(kept)
    return kept
  }

  /// Lets the objects go.
  @inline(__always)
  mutating func removeAll() {
    if !objects.isEmpty { destroyAll() }
  }

  @inline(never)
  private mutating func destroyAll() {
    for object in objects.all {
      PlacedObject(place: UnsafeMutableRawPointer(mutating: object.address), type: object.type).destroy()
    }
    objects.removeAll(keeping: 4096)
    places.removeAll()
  }
}

/// An object in an ``ObjectArena``. Plain data.
struct KeptObject {
  let address: UnsafeRawPointer
  /// The type as which it was kept: a superclass's, perhaps.
  let type: any Encodable.Type
}

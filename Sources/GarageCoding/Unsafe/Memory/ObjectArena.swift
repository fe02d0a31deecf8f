/// The objects of a graph that wait to be encoded. They are kept alive until the graph's end, because an identity may be an
/// address.
struct ObjectArena {
  private var places = PlaceArena()
  private var objects = RawStack<KeptObject>()

  /// Copies an object to a place where it stays until ``removeAll()``.
  @inline(__always)
  mutating func keep<T: Encodable>(_ object: T) -> KeptObject {
    let place = places.place(for: T.self)
    place.initializeMemory(as: T.self, to: object)
    let kept = KeptObject(address: UnsafeRawPointer(place), type: T.self)
    objects.append(kept)
    return kept
  }

  /// Releases the objects.
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
  /// The type under which it was kept, which may be a superclass.
  let type: any Encodable.Type
}

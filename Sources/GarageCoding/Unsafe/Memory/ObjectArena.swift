/// The objects of a graph that wait to be encoded, kept alive until its end: an identity may be an address.
///
/// Invariant: the array in ``lent`` stays where it is for as long as it is lent. Whoever lends it sees to that.
struct ObjectArena {
  private var places = PlaceArena()
  /// Objects, and arrays of them.
  private var kept = RawStack<PlacedObject>()
  /// The array whose elements are being written.
  private(set) var lent = LentArray()

  /// Keeps an object until ``removeAll()``. An element of the array that is lent stays where it stands, and the array is kept; any
  /// other object is copied. A copy of a struct counts a reference for each of its fields, a kept array counts one.
  @inline(__always)
  mutating func keep<T: Encodable>(_ object: T) -> KeptObject {
    let address = withUnsafePointer(to: object) { UnsafeRawPointer($0) }
    if lent.contains(address) {
      if !lent.isKept { keepLentArray() }
      return KeptObject(address: address, type: T.self)
    }
    let place = places.place(for: T.self)
    place.initializeMemory(as: T.self, to: object)
    kept.append(PlacedObject(place: place, type: T.self))
    return KeptObject(address: UnsafeRawPointer(place), type: T.self)
  }

  @inline(never)
  private mutating func keepLentArray() {
    func keep<A>(_ type: A.Type) {
      let place = places.place(for: A.self)
      place.initializeMemory(as: A.self, to: lent.array[as: A.self])
      kept.append(PlacedObject(place: place, type: A.self))
    }
    lent.isKept = true
    _openExistential(lent.type, do: keep)
  }

  /// Lends an array while its elements are written.
  ///
  /// - Returns: what was lent before, to be lent again afterwards.
  @inline(__always)
  mutating func lend(_ array: LentArray) -> LentArray {
    defer { lent = array }
    return lent
  }

  /// Lets the objects go.
  @inline(__always)
  mutating func removeAll() {
    if !kept.isEmpty { destroyAll() }
  }

  @inline(never)
  private mutating func destroyAll() {
    for object in kept.all { object.destroy() }
    kept.removeAll(keeping: 4096)
    places.removeAll()
  }
}

/// An array whose elements are being written, from where they stand. Plain data.
struct LentArray {
  fileprivate let array: UnsafeRawPointer
  fileprivate let type: Any.Type
  private let start: UInt
  private let byteCount: UInt
  fileprivate var isKept = false

  /// None.
  init() {
    (array, type) = (UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped, Void.self)
    (start, byteCount) = (0, 0)
  }

  /// - Parameters:
  ///   - address: where the array itself stands.
  ///   - type: the array's type, which generic code would ask the runtime for.
  ///   - elements: where its elements stand. Elements no larger than a reference are copied all the same: that costs no more than
  ///     to keep the array, and on Apple's systems the memory of an array of objects may be a copy that ends with this call.
  @inline(__always)
  init<Element>(_ address: UnsafeRawPointer, _ type: Any.Type, _ elements: UnsafeBufferPointer<Element>) {
    (array, self.type) = (address, type)
    start = UInt(bitPattern: elements.baseAddress)
    let isLarge = MemoryLayout<Element>.size > MemoryLayout<UnsafeRawPointer>.size
    byteCount = isLarge ? UInt(bitPattern: elements.count &* MemoryLayout<Element>.stride) : 0
  }

  @inline(__always)
  fileprivate func contains(_ address: UnsafeRawPointer) -> Bool {
    UInt(bitPattern: address) &- start < byteCount
  }
}

/// An object in an ``ObjectArena``. Plain data.
struct KeptObject {
  let address: UnsafeRawPointer
  /// The type as which it was kept: a superclass's, perhaps.
  let type: any Encodable.Type
}

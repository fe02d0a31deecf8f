/// Memory for objects of any types, one behind the other, which is all given back at once. A box for each object, as an
/// existential has, costs more than a small object's record.
struct PlaceArena {
  private static let chunkByteCount = 1 << 14

  /// The first chunk, which is kept for the next graph, and then all others.
  private let firstChunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkByteCount, alignment: 8)
  private var chunks = RawStack<UnsafeMutableRawPointer>()
  /// The free bytes of the chunk that is being filled.
  private var free: UnsafeMutableRawBufferPointer

  init() { free = firstChunk }

  /// Room for one value of a type, until ``removeAll()``.
  @inline(__always)
  mutating func place<T>(for type: T.Type) -> UnsafeMutableRawPointer {
    take(byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
  }

  /// Room for `byteCount` bytes, until ``removeAll()``.
  mutating func place(byteCount: Int) -> UnsafeMutableRawPointer { take(byteCount: byteCount, alignment: 8) }

  @inline(__always)
  private mutating func take(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    // Multiples of eight bytes, which is the alignment that most types need.
    let byteCount = (byteCount &+ 7) & ~7
    guard byteCount <= free.count, alignment <= 8, let place = free.baseAddress else {
      return takeNew(byteCount, alignment)
    }
    free = UnsafeMutableRawBufferPointer(start: place + byteCount, count: free.count &- byteCount)
    return place
  }

  @inline(never)
  private mutating func takeNew(_ byteCount: Int, _ alignment: Int) -> UnsafeMutableRawPointer {
    if alignment > 8 || byteCount > PlaceArena.chunkByteCount / 8 {
      let own = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: max(alignment, 8))
      chunks.append(own)
      return own
    }
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: PlaceArena.chunkByteCount, alignment: 8)
    chunks.append(chunk)
    free = UnsafeMutableRawBufferPointer(
      start: chunk + byteCount, count: PlaceArena.chunkByteCount - byteCount)
    return chunk
  }

  /// Takes back all the memory. No object may live in it any more.
  mutating func removeAll() {
    while !chunks.isEmpty { chunks.removeLast().deallocate() }
    free = firstChunk
  }
}

/// An object in a ``PlaceArena``. Plain data: its holder has to destroy the object.
struct PlacedObject {
  let place: UnsafeMutableRawPointer
  /// The type under which it was placed, which may be a superclass.
  let type: Any.Type

  /// Ends the object's life.
  func destroy() {
    func destroy<T>(_ type: T.Type) { place.assumingMemoryBound(to: T.self).deinitialize(count: 1) }
    _openExistential(type, do: destroy)
  }
}

/// The instance of a class whose reference stands in a ``PlaceArena``, so that it is found without going through that place.
/// Plain data, valid as long as the reference stands there.
struct PlacedInstance {
  private let reference: Unmanaged<AnyObject>

  @inline(__always)
  init(_ object: PlacedObject) { reference = .passUnretained(object.place[as: AnyObject.self]) }

  @inline(__always)
  var object: AnyObject { reference.takeUnretainedValue() }

  @inline(__always)
  var address: UnsafeRawPointer { UnsafeRawPointer(reference.toOpaque()) }
}

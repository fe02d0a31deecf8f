/// Memory for objects of any types, one behind the other, which all goes back at once. A box for each, as an
/// existential has it, costs more than a small object's record.
struct PlaceArena {
  private static let chunkByteCount = 1 << 14

  /// The chunk that is kept for the next graph, and all others.
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

  /// Room for so many bytes, until ``removeAll()``.
  mutating func place(byteCount: Int) -> UnsafeMutableRawPointer { take(byteCount: byteCount, alignment: 8) }

  @inline(__always)
  private mutating func take(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    // Eight bytes apart, which is what most types ask for.
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

  /// Takes all of the memory back, in which nothing lives any more.
  mutating func removeAll() {
    while !chunks.isEmpty { chunks.removeLast().deallocate() }
    free = firstChunk
  }
}

/// An object in a ``PlaceArena``. Plain data: whoever keeps it ends it.
struct PlacedObject {
  let place: UnsafeMutableRawPointer
  /// The type as which it was placed: a superclass's, perhaps.
  let type: Any.Type

  /// Ends the object's life.
  func destroy() {
    func destroy<T>(_ type: T.Type) { place.assumingMemoryBound(to: T.self).deinitialize(count: 1) }
    _openExistential(type, do: destroy)
  }
}

/// The instance of a class whose reference stands in a ``PlaceArena``: who asks for it need not go by its place. Plain data,
/// valid as long as the reference stands there.
struct PlacedInstance {
  private let reference: Unmanaged<AnyObject>

  @inline(__always)
  init(_ object: PlacedObject) { reference = .passUnretained(object.place[as: AnyObject.self]) }

  @inline(__always)
  var object: AnyObject { reference.takeUnretainedValue() }

  @inline(__always)
  var address: UnsafeRawPointer { UnsafeRawPointer(reference.toOpaque()) }
}

/// The objects of a graph that wait to be encoded, kept alive until its end: an identity may be an address.
///
/// They stand one behind the other. A box for each, as an existential has it, costs more than a small object's record.
struct ObjectArena {
  private static let chunkByteCount = 1 << 14

  /// The chunk that is kept for the next graph, and all others.
  private let firstChunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkByteCount, alignment: 8)
  private var chunks = PlainStack<UnsafeMutableRawPointer>()
  /// The free bytes of the chunk that is being filled.
  private var free: UnsafeMutableRawBufferPointer
  private var objects = PlainStack<KeptObject>()

  init() { free = firstChunk }

  /// Copies an object to where it stays until ``removeAll()``.
  @inline(__always)
  mutating func keep<T: Encodable>(_ object: T) -> KeptObject {
    let place = take(byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
    place.initializeMemory(as: T.self, to: object)
    let kept = KeptObject(address: UnsafeRawPointer(place), type: T.self)
    objects.append(kept)
    return kept
  }

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
    if alignment > 8 || byteCount > ObjectArena.chunkByteCount / 8 {
      let own = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: max(alignment, 8))
      chunks.append(own)
      return own
    }
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: ObjectArena.chunkByteCount, alignment: 8)
    chunks.append(chunk)
    free = UnsafeMutableRawBufferPointer(
      start: chunk + byteCount, count: ObjectArena.chunkByteCount - byteCount)
    return chunk
  }

  /// Lets the objects go.
  @inline(__always)
  mutating func removeAll() {
    if !objects.isEmpty { destroyAll() }
  }

  @inline(never)
  private mutating func destroyAll() {
    func destroy<T: Encodable>(_ type: T.Type, _ address: UnsafeRawPointer) {
      UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: T.self).deinitialize(count: 1)
    }
    for object in objects.all { destroy(object.type, object.address) }
    objects.removeAll(keeping: 4096)
    while !chunks.isEmpty { chunks.removeLast().deallocate() }
    free = firstChunk
  }
}

/// An object in an ``ObjectArena``. Plain data.
struct KeptObject {
  let address: UnsafeRawPointer
  /// The type as which it was kept: a superclass's, perhaps.
  let type: any Encodable.Type
}

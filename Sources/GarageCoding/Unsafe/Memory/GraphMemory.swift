/// The memory of an encoded graph, which is not changed any more. For a small graph, the places of its records and their bytes
/// stand behind the object itself. For a large one they stand in memory that was the builder's and is passed on without a copy.
final class GraphMemory: ManagedBuffer<GraphMemory.Content, UInt64> {
  struct Content {
    var places: UnsafeMutablePointer<RecordPlace>
    var recordCount: Int
    var bytes: UnsafeMutableRawPointer
    var byteCount: Int
    /// How many bytes there is room for behind the object, if the records stand there; otherwise 0.
    var inlineByteCount: Int
    /// How many bytes there is room for in the memory that was passed on, if they stand there.
    var pieceByteCount = 0

    var isInline: Bool { inlineByteCount > 0 }
  }

  @inline(__always)
  var content: Content { withUnsafeMutablePointerToHeader { $0.pointee } }

  /// From this size on, the memory of a graph that is gone is used for the next one. When a hundred kilobytes are freed each
  /// time, the system's allocator may give them back to the system, which costs more than encoding the graph.
  private static let reusedByteCount = 8 << 10

  /// A copy of records.
  ///
  /// - Parameter last: the memory of the last copy. It is used again if nobody holds it any more.
  static func copy(
    _ places: UnsafeMutableBufferPointer<RecordPlace>, _ bytes: UnsafeRawBufferPointer,
    reusing last: inout GraphMemory?
  ) -> GraphMemory {
    let byteCount = places.count * MemoryLayout<RecordPlace>.stride + bytes.count
    if byteCount < reusedByteCount { return withRoom(for: byteCount, places, bytes) }
    if let inlineByteCount = last?.content.inlineByteCount, inlineByteCount >= byteCount,
      isKnownUniquelyReferenced(&last), let last
    {
      last.withUnsafeMutablePointers { header, memory in
        header.pointee = content(of: places, bytes, at: memory, inlineByteCount)
      }
      return last
    }
    let made = withRoom(for: byteCount + byteCount / 4, places, bytes)
    last = made
    return made
  }

  private static func withRoom(
    for byteCount: Int, _ places: UnsafeMutableBufferPointer<RecordPlace>, _ bytes: UnsafeRawBufferPointer
  ) -> GraphMemory {
    let capacity = max(1, (byteCount + 7) / 8)
    let made = create(minimumCapacity: capacity) { made in
      made.withUnsafeMutablePointerToElements { content(of: places, bytes, at: $0, 8 * capacity) }
    }
    return unsafeDowncast(made, to: GraphMemory.self)
  }

  /// Copies records to the memory of an object that has room for so many bytes.
  private static func content(
    of places: UnsafeMutableBufferPointer<RecordPlace>, _ bytes: UnsafeRawBufferPointer,
    at memory: UnsafeMutablePointer<UInt64>, _ inlineByteCount: Int
  ) -> Content {
    let start = UnsafeMutableRawPointer(memory)
    let placesByteCount = places.count * MemoryLayout<RecordPlace>.stride
    if let source = places.baseAddress { start.copyMemory(from: source, byteCount: placesByteCount) }
    if let source = bytes.baseAddress {
      (start + placesByteCount).copyMemory(from: source, byteCount: bytes.count)
    }
    return Content(
      places: start.assumingMemoryBound(to: RecordPlace.self), recordCount: places.count,
      bytes: start + placesByteCount, byteCount: bytes.count, inlineByteCount: inlineByteCount)
  }

  /// Records whose bytes stand at the beginning of a piece of memory, which now belongs to the object.
  static func adopt(
    _ places: UnsafeMutableBufferPointer<RecordPlace>, _ byteCount: Int, in piece: SpareMemory.Piece
  ) -> GraphMemory {
    let own = UnsafeMutablePointer<RecordPlace>.allocate(capacity: places.count)
    if let source = places.baseAddress { own.initialize(from: source, count: places.count) }
    let made = create(minimumCapacity: 0) { _ in
      Content(
        places: own, recordCount: places.count, bytes: piece.start, byteCount: byteCount,
        inlineByteCount: 0, pieceByteCount: piece.byteCount)
    }
    return unsafeDowncast(made, to: GraphMemory.self)
  }

  deinit {
    let content = content
    if content.isInline { return }
    content.places.deallocate()
    SpareMemory.giveBack(SpareMemory.Piece(start: content.bytes, byteCount: content.pieceByteCount))
  }
}

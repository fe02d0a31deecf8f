#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The memory of an encoded graph, which nothing changes: of a small one the places of its records and their bytes
/// behind the object itself, of a large one memory that was the builder's and is handed on, not copied.
final class GraphMemory: ManagedBuffer<GraphMemory.Content, UInt64> {
  struct Content {
    var places: UnsafeMutablePointer<RecordPlace>
    var recordCount: Int
    var bytes: UnsafeMutableRawPointer
    var byteCount: Int
    /// Whether both stand behind the object.
    var isInline: Bool
  }

  @inline(__always)
  var content: Content { withUnsafeMutablePointerToHeader { $0.pointee } }

  /// A copy of records.
  static func copy(
    _ places: UnsafeMutableBufferPointer<RecordPlace>, _ bytes: UnsafeRawBufferPointer
  ) -> GraphMemory {
    let placesByteCount = places.count * MemoryLayout<RecordPlace>.stride
    let made = create(minimumCapacity: (placesByteCount + bytes.count + 7) / 8) { made in
      made.withUnsafeMutablePointerToElements { memory in
        let start = UnsafeMutableRawPointer(memory)
        if let source = places.baseAddress { start.copyMemory(from: source, byteCount: placesByteCount) }
        if let source = bytes.baseAddress {
          (start + placesByteCount).copyMemory(from: source, byteCount: bytes.count)
        }
        return Content(
          places: start.assumingMemoryBound(to: RecordPlace.self), recordCount: places.count,
          bytes: start + placesByteCount, byteCount: bytes.count, isInline: true)
      }
    }
    return unsafeDowncast(made, to: GraphMemory.self)
  }

  /// Records whose bytes, from `malloc`, now belong to the object.
  static func adopt(
    _ places: UnsafeMutableBufferPointer<RecordPlace>, _ bytes: UnsafeMutableRawBufferPointer
  ) -> GraphMemory {
    let own = UnsafeMutablePointer<RecordPlace>.allocate(capacity: places.count)
    if let source = places.baseAddress { own.initialize(from: source, count: places.count) }
    let made = create(minimumCapacity: 0) { _ in
      Content(
        places: own, recordCount: places.count, bytes: bytes.baseAddress.unsafelyUnwrapped,
        byteCount: bytes.count,
        isInline: false)
    }
    return unsafeDowncast(made, to: GraphMemory.self)
  }

  deinit {
    let content = content
    if content.isInline { return }
    content.places.deallocate()
    free(content.bytes)
  }
}

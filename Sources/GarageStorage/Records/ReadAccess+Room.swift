internal import Synchronization

// Room for all objects of a type. An array that grows is copied each time to memory twice as large, whose pages are touched for
// the first time. For objects with many fields that takes longer than finding them.

extension ReadAccess {
  /// Makes room for as many objects of a type as there were the last time.
  @usableFromInline
  func makeRoom<T: Codable>(in objects: inout [T]) throws {
    let expected = try RecordTypeFacts.of(T.self).lastCount.load(ordering: .relaxed)
    objects.reserveCapacity(min(expected, Self.mostByteCount / max(1, MemoryLayout<T>.stride)))
  }

  /// Notes how many objects there are, and gives room back where it is more than twice what they need.
  @usableFromInline
  func noteCount<T: Codable>(of objects: inout [T]) throws {
    try RecordTypeFacts.of(T.self).lastCount.store(objects.count, ordering: .relaxed)
    if objects.capacity / 2 <= objects.count { return }
    var fitting: [T] = []
    fitting.reserveCapacity(objects.count)
    fitting += objects
    objects = fitting
  }

  /// Room for more is not kept: the array then grows as any other, because another store may have far fewer objects.
  private static var mostByteCount: Int { 64 << 20 }
}

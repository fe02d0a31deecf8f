internal import Synchronization

// Where all objects of a type go. An array that grows is copied to memory twice as large each time, whose pages are touched for the
// first time: for objects of many fields that takes longer than to find them.

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

  /// What more need grows as any array does: in another store there may be far fewer.
  private static var mostByteCount: Int { 64 << 20 }
}

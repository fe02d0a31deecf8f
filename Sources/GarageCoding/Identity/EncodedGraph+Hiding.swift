// For garages whose keys do not hold identifiers: their records hold them, and the keys are made by the garage.

extension EncodedGraph {
  /// Gives the records other keys.
  /// - Parameter replace: is lent a record's key, and appends the key that replaces it.
  package mutating func replaceKeys(_ replace: (_ key: RawSpan, _ other: inout [UInt8]) throws -> Void)
    rethrows
  {
    var other: [UInt8] = []
    var arena = ByteArena()
    arena.reserve(memory.content.byteCount)
    var places = RawStack<RecordPlace>()
    defer { places.deallocate() }
    try bytes.withUnsafeBytes { bytes in
      for index in records.indices {
        var place = memory.content.places[index]
        other.removeAll(keepingCapacity: true)
        do { try replace(bytes.bytes.extracting(place.key..<place.value), &other) } catch {
          arena.deallocate()
          throw error
        }
        let record = UnsafeRawBufferPointer(rebasing: bytes[place.value..<place.end])
        place.key = arena.count
        other.withUnsafeBytes { arena.append($0) }
        place.value = arena.count
        arena.append(record)
        place.end = arena.count
        places.append(place)
      }
    }
    let (inlineTargets, mayRepeat) = (inlineTargets, mayRepeat)
    self = EncodedGraph(
      rootCount: rootCount, GraphMemory.adopt(places.all, arena.count, in: arena.hand()), texts)
    self.inlineTargets = inlineTargets
    self.mayRepeat = mayRepeat
  }
}

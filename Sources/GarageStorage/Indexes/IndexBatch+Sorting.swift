internal import CGarage
internal import GarageDriver

// Entries stand in the order in which they were gathered, and their keys are far from each other in memory. To compare them two
// by two waits for memory each time. So if there are many they are sorted by numbers, each of which is eight bytes of the key,
// with a radix sort (Hollerith, 1889; Knuth, The Art of Computer Programming, volume 3, section 5.2.5). Entries whose eight
// bytes are equal are then sorted by the next eight.

extension IndexBatch {
  /// An entry on its way to its place.
  struct SortedEntry {
    var order: UInt64
    /// Where it stands among those that were gathered.
    var index: UInt32
    /// How many bytes the values have, and which target they are of. This tells, without a look at the bytes, whether the bytes
    /// compared so far are all there are.
    var valuesCount: UInt8
    var target: UInt16

    init(_ entry: Entry, index: Int) {
      order = entry.order
      self.index = UInt32(index)
      valuesCount = UInt8(entry.valuesCount)
      target = entry.target
    }

    /// Whether both have the same values, where they are equal in the first `count` bytes behind what all have in common.
    @inline(__always)
    func hasSameValues(as other: SortedEntry, equalUpTo count: Int) -> Bool {
      valuesCount != 0 && Int(valuesCount) <= count && valuesCount == other.valuesCount
        && target == other.target
        && target != Entry.unknownTarget
    }
  }

  /// Fewer entries are sorted by comparing their keys.
  private static let radixCount = 256
  /// Up to so many entries are sorted by insertion.
  private static let fewCount = 24
  /// Up to so many entries, of 16 bytes each, stay in the processor's caches.
  private static let nearCount = 4096

  /// Sorts entries of an index by what stands in their keys behind its prefix, so that equal values are neighbours under
  /// whatever tags; then by the whole keys.
  ///
  /// - Parameters:
  ///   - part: the index. `order` is the eight bytes behind its prefix, where an entry was not sorted before.
  ///   - place: where in the keys the bytes stand that are in the `order` of those that were sorted before; gets where those
  ///     stand that are in the `order` of all.
  func sort(_ entries: inout [Entry], of part: Part, orderedAt place: inout Int) {
    if entries.count < 2 { return }
    let (all, prefix) = (bytes.all, part.prefixByteCount)
    if place != prefix { IndexBatch.noteOrders(&entries, at: prefix, in: all) }
    place = prefix
    if entries.count >= 32 { place = IndexBatch.noteTellingOrders(&entries, behind: prefix, in: all) }
    if entries.count < Self.radixCount {
      entries.sort { left, right in
        if left.order != right.order { return left.order < right.order }
        return IndexBatch.isBefore(left, right, behind: prefix, in: all)
      }
      return
    }
    // Records come in the order of their tags first, and entries with equal values in that of their identifiers.
    let isInOrder = isGatheredInOrder && (!part.hasSeveralTags || IndexBatch.haveOneTag(entries, in: all))
    var sorted = entries.indices.map { SortedEntry(entries[$0], index: $0) }
    var room = sorted
    var places = [Int](repeating: 0, count: 9 * 256)
    entries.withUnsafeBufferPointer { entries in
      sorted.withUnsafeMutableBufferPointer { sorted in
        room.withUnsafeMutableBufferPointer { room in
          places.withUnsafeMutableBufferPointer { places in
            let sorting = EntrySorting(
              entries: entries, bytes: all, prefix: prefix, isInOrder: isInOrder, room: room, places: places)
            sorting.sort(sorted, at: place)
          }
        }
      }
    }
    entries = entries.withUnsafeBufferPointer { IndexBatch.arranged($0, sorted) }
  }

  /// The entries in their new order. They lie anywhere in memory, so each is asked for some time before its turn.
  private static func arranged(_ entries: UnsafeBufferPointer<Entry>, _ sorted: [SortedEntry]) -> [Entry] {
    [Entry](unsafeUninitializedCapacity: sorted.count) { arranged, count in
      for index in sorted.indices {
        let ahead = min(index + 16, sorted.count - 1)
        garage_prefetch(entries.baseAddress.unsafelyUnwrapped + Int(sorted[ahead].index))
        arranged.initializeElement(at: index, to: entries[Int(sorted[index].index)])
      }
      count = sorted.count
    }
  }

  @inline(__always)
  private static func isBefore(
    _ left: Entry, _ right: Entry, behind prefix: Int, in all: UnsafeRawBufferPointer
  ) -> Bool {
    compareEntries(
      all.bytes.extracting(left.start..<left.start + left.keyCount),
      all.bytes.extracting(right.start..<right.start + right.keyCount), behind: prefix) < 0
  }

  /// Compares the keys of entries as they are sorted.
  @inline(__always)
  static func compareEntries(_ left: RawSpan, _ right: RawSpan, behind prefix: Int) -> Int {
    let order = compareKeys(left.extracting(prefix...), right.extracting(prefix...))
    return order != 0 ? order : compareKeys(left, right)
  }

  /// Whether all entries are of records under one tag.
  private static func haveOneTag(_ entries: [Entry], in all: UnsafeRawBufferPointer) -> Bool {
    func tag(_ entry: Entry) -> UInt64? {
      KeyLayout.tag(
        inEntryKey: all.bytes.extracting(entry.start..<entry.start + entry.keyCount), of: .index)
    }
    let first = tag(entries[0])
    return entries.allSatisfy { tag($0) == first }
  }

  /// If the eight bytes behind the prefix do not tell most entries apart, notes eight others in their place that do.
  ///
  /// - Returns: where these stand in the keys.
  private static func noteTellingOrders(
    _ entries: inout [Entry], behind prefix: Int, in all: UnsafeRawBufferPointer
  ) -> Int {
    var place = prefix
    let shortest = entries.reduce(Int.max) { min($0, $1.keyCount) }
    while true {
      let first = entries[0].order
      let differences = entries.reduce(0 as UInt64) { $0 | ($1.order ^ first) }
      let common = min(differences.leadingZeroBitCount / 8, shortest - place)
      // Six or seven bytes tell nearly as much as eight, and looking at all keys once more takes longer than sorting.
      if common <= 2 { return place }
      place += common
      noteOrders(&entries, at: place, in: all)
    }
  }

  private static func noteOrders(_ entries: inout [Entry], at place: Int, in all: UnsafeRawBufferPointer) {
    for index in entries.indices { entries[index].order = order(of: entries[index], behind: place, in: all) }
  }

  private struct EntrySorting {
    let entries: UnsafeBufferPointer<Entry>
    let bytes: UnsafeRawBufferPointer
    /// How many bytes stand before the values.
    let prefix: Int
    /// Whether the records came in the order of their keys, and so entries with equal values in theirs.
    let isInOrder: Bool
    /// Other memory, for as many entries as there are to sort.
    let room: UnsafeMutableBufferPointer<SortedEntry>
    /// Where the entries with each value of a byte begin and end: for each byte of `order` that entries are parted by in turn,
    /// and one more.
    let places: UnsafeMutableBufferPointer<Int>

    /// Sorts entries whose `order` ends at a place in their keys.
    private func sortByComparing(_ sorted: UnsafeMutableBufferPointer<SortedEntry>, endingAt place: Int) {
      var sorted = sorted
      sorted.sort { isBefore($0, $1, endingAt: place) }
    }

    private func isBefore(_ left: SortedEntry, _ right: SortedEntry, endingAt place: Int) -> Bool {
      if left.order != right.order { return left.order < right.order }
      if isInOrder, left.hasSameValues(as: right, equalUpTo: place - prefix) {
        return left.index < right.index
      }
      return IndexBatch.isBefore(
        entries[Int(left.index)], entries[Int(right.index)], behind: prefix, in: bytes)
    }

    /// Sorts entries whose `order` is the eight bytes of their keys from a place on, before which they are equal.
    func sort(_ sorted: UnsafeMutableBufferPointer<SortedEntry>, at place: Int) {
      if sorted.count < IndexBatch.radixCount { return sortByComparing(sorted, endingAt: place + 8) }
      sortByOrder(sorted)
      var start = 0
      while start < sorted.count {
        var end = start + 1
        while end < sorted.count, sorted[end].order == sorted[start].order { end += 1 }
        if end - start > 1 {
          sortFurther(UnsafeMutableBufferPointer(rebasing: sorted[start..<end]), at: place + 8)
        }
        start = end
      }
    }

    /// Sorts entries that are equal up to a place.
    private func sortFurther(_ sorted: UnsafeMutableBufferPointer<SortedEntry>, at place: Int) {
      // Equal values were gathered in the order of their identifiers.
      if isInOrder, sorted.allSatisfy({ $0.hasSameValues(as: sorted[0], equalUpTo: place - prefix) }) {
        return
      }
      let isSorted = sorted.indices.dropFirst().allSatisfy {
        !isBefore(sorted[$0], sorted[$0 - 1], endingAt: place)
      }
      if isSorted { return }
      let isEnded = sorted.contains { entries[Int($0.index)].keyCount <= place }
      // Zeros stand for what is behind the end of a key.
      if isEnded { return sortByComparing(sorted, endingAt: place) }
      for index in sorted.indices {
        sorted[index].order = IndexBatch.order(
          of: entries[Int(sorted[index].index)], behind: place, in: bytes)
      }
      sort(sorted, at: place)
    }

    /// Sorts by `order` alone, and leaves entries with the same `order` as they stand: byte by byte, by those bytes that differ
    /// at all. Few entries are sorted from the last byte to the first. Many are first parted by the first byte, so that each
    /// part stays in the processor's caches, and texts of which few are different are soon told apart.
    private func sortByOrder(_ sorted: UnsafeMutableBufferPointer<SortedEntry>, depth: Int = 0) {
      if sorted.count <= IndexBatch.fewCount { return sortByInserting(sorted) }
      let first = sorted[0].order
      let differences = sorted.reduce(0 as UInt64) { $0 | ($1.order ^ first) }
      if differences == 0 { return }
      let room = UnsafeMutableBufferPointer(rebasing: room[..<sorted.count])
      let places = UnsafeMutableBufferPointer(rebasing: places[depth << 8..<(depth + 1) << 8])
      if sorted.count > IndexBatch.nearCount {
        move(sorted, to: room, by: UInt64(56 - differences.leadingZeroBitCount / 8 * 8), places)
        _ = sorted.update(fromContentsOf: room)
        var start = 0
        for end in places where end > start {
          sortByOrder(UnsafeMutableBufferPointer(rebasing: sorted[start..<end]), depth: depth + 1)
          start = end
        }
        return
      }
      var (from, to) = (sorted, room)
      for shift in stride(from: 0 as UInt64, to: 64, by: 8) where differences &>> shift & 0xFF != 0 {
        move(from, to: to, by: shift, places)
        swap(&from, &to)
      }
      if from.baseAddress != sorted.baseAddress { _ = sorted.update(fromContentsOf: from) }
    }

    /// Sorts by one byte of `order` to other memory; `places` gets where those of each value end.
    private func move(
      _ from: UnsafeMutableBufferPointer<SortedEntry>, to: UnsafeMutableBufferPointer<SortedEntry>,
      by shift: UInt64,
      _ places: UnsafeMutableBufferPointer<Int>
    ) {
      places.update(repeating: 0)
      for entry in from { places[Int(entry.order &>> shift & 0xFF)] &+= 1 }
      var next = 0
      for value in 0..<256 { (places[value], next) = (next, next &+ places[value]) }
      for entry in from {
        let value = Int(entry.order &>> shift & 0xFF)
        to[places[value]] = entry
        places[value] &+= 1
      }
    }

    private func sortByInserting(_ sorted: UnsafeMutableBufferPointer<SortedEntry>) {
      for index in sorted.indices.dropFirst() {
        let entry = sorted[index]
        var place = index
        while place > 0, sorted[place - 1].order > entry.order {
          sorted[place] = sorted[place - 1]
          place -= 1
        }
        sorted[place] = entry
      }
    }
  }
}

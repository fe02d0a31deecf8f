internal import GarageCoding
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension EncodedGraph {
  /// The positions of the records in the order of their keys: engines write sorted batches two to four times
  /// as fast as unsorted ones. Of several records of one key the last one.
  func recordsInKeyOrder() -> [Int] {
    if isInKeyOrder { return Array(records.indices) }
    let order = keys.withUnsafeBytes { KeySorting(of: self, $0).order() }
    return order ?? Array(records.indices)
  }

  /// The tags under which the records are put.
  var tagsOfRecords: Set<UInt64> {
    keys.withUnsafeBytes { bytes in
      var tags: Set<UInt64> = []
      for position in records.indices {
        tags.insert(KeyLayout.tag(inRecordKey: bytes.bytes.extracting(place(ofRecord: position).key)))
      }
      return tags
    }
  }
}

/// Sorts the keys of a graph's records, whose bytes it has borrowed: to borrow them for each comparison takes longer than
/// to compare.
private struct KeySorting {
  /// A key, by its place and by the eight of its bytes that mostly tell its order.
  private struct Entry {
    var bytes: UInt64
    var index: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private let keys: [Range<Int>]
  private let mayRepeat: Bool

  init(of graph: EncodedGraph, _ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    keys = graph.records.indices.map { graph.place(ofRecord: $0).key }
    mayRepeat = graph.mayRepeat
  }

  /// The places of the keys in their order, of several that are the same the last one; nil where they are in order
  /// already.
  func order() -> [Int]? {
    if keys.count <= KeySorting.fewCount { return orderOfFew() }
    if (1..<max(keys.count, 1)).allSatisfy({ compare($0 - 1, $0) < 0 }) { return nil }
    var order: [Int] = []
    order.reserveCapacity(keys.count)
    for var entries in entriesByTag() {
      sort(&entries)
      for entry in entries {
        if mayRepeat, let last = order.last, compare(last, entry.index) == 0 {
          order[order.count - 1] = max(last, entry.index)
        } else {
          order.append(entry.index)
        }
      }
    }
    return order
  }

  /// The same for few keys, which a transaction mostly has: each is put into its place among those before it. To group them
  /// first would take far longer than to compare them.
  private func orderOfFew() -> [Int] {
    var order: [Int] = []
    order.reserveCapacity(keys.count)
    for index in keys.indices {
      var place = order.count
      var difference = -1
      while place > 0 {
        difference = compare(order[place - 1], index)
        if difference <= 0 { break }
        place -= 1
      }
      if place > 0 && difference == 0 {
        order[place - 1] = index
      } else {
        order.insert(index, at: place)
      }
    }
    return order
  }

  private static var fewCount: Int { 20 }

  /// The keys of each type, the types in the order of their tags. Keys of several types have less in common than a tag,
  /// and eight bytes from there on would be the same for all keys of a type.
  private func entriesByTag() -> [[Entry]] {
    var groups: [(tag: UInt64, entries: [Entry])] = []
    var places: [UInt64: Int] = [:]
    var last = (tag: UInt64(0), place: -1)
    for index in keys.indices {
      let tag = number(at: index, from: KeySorting.tagOffset)
      if tag != last.tag || last.place < 0 {
        let place = places[tag] ?? groups.count
        if place == groups.count {
          places[tag] = place
          groups.append((tag, []))
        }
        last = (tag, place)
      }
      groups[last.place].entries.append(Entry(bytes: 0, index: index))
    }
    groups.sort { $0.tag < $1.tag }
    return groups.map(\.entries)
  }

  /// Keys of one type have long beginnings in common. The eight bytes behind what all have in common decide most
  /// comparisons without touching the keys.
  private func sort(_ entries: inout [Entry]) {
    let common = commonByteCount(of: entries)
    for position in entries.indices {
      entries[position].bytes = number(at: entries[position].index, from: common)
    }
    entries.sort { a, b in a.bytes != b.bytes ? a.bytes < b.bytes : compare(a.index, b.index) < 0 }
  }

  private func compare(_ a: Int, _ b: Int) -> Int {
    let (a, b) = (keys[a], keys[b])
    let order = memcmp(
      bytes.baseAddress! + a.lowerBound, bytes.baseAddress! + b.lowerBound, min(a.count, b.count))
    return order != 0 ? Int(order) : a.count - b.count
  }

  /// How many bytes all of these keys begin with.
  private func commonByteCount(of entries: [Entry]) -> Int {
    guard let first = entries.first.map({ keys[$0.index] }) else { return 0 }
    var count = first.count
    for entry in entries.dropFirst() {
      let key = keys[entry.index]
      count = min(count, key.count)
      var same = 0
      while same < count, bytes[first.lowerBound + same] == bytes[key.lowerBound + same] { same += 1 }
      count = same
    }
    return count
  }

  /// Where in a key its type's tag begins: behind a byte that is the same in the keys of all records.
  private static var tagOffset: Int { 1 }

  /// Eight bytes of a key as a number that compares as they do. Zeros stand for what is behind its end, so
  /// equal numbers say nothing.
  private func number(at index: Int, from start: Int) -> UInt64 {
    let key = keys[index]
    let position = key.lowerBound + start
    if position + 8 <= key.upperBound {
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
    var number: UInt64 = 0
    for position in position..<(position + 8) {
      number = number << 8 | (position < key.upperBound ? UInt64(bytes[position]) : 0)
    }
    return number
  }
}

extension EncodedGraph {
  /// Whether each record's key stands behind that of the one before, also from one graph to the next.
  static func areInKeyOrder(_ graphs: [EncodedGraph]) -> Bool {
    func key(_ graph: EncodedGraph, _ index: Int) -> StorageKey {
      graph.bytes.withUnsafeBytes { StorageKey($0.bytes.extracting(graph.place(ofRecord: index).key)) }
    }
    return graphs.allSatisfy { $0.isInKeyOrder && !$0.records.isEmpty }
      && zip(graphs, graphs.dropFirst()).allSatisfy { key($0, $0.records.count - 1) < key($1, 0) }
  }

  /// The tag of its only record, if writing the graph changes nothing else; nil where it may change more.
  var onlyTag: UInt64? {
    if records.count != 1 || !isPlain(0) || !inlineTargets.isEmpty { return nil }
    return bytes.withUnsafeBytes { KeyLayout.tag(inRecordKey: $0.bytes.extracting(place(ofRecord: 0).key)) }
  }
}

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
    if isInKeyOrder || (1..<max(records.count, 1)).allSatisfy({ compareKeys(of: $0 - 1, $0) < 0 }) {
      return Array(records.indices)
    }

    // Keys of one type have long beginnings in common. The eight bytes behind what all have in common
    // decide most comparisons without touching the keys.
    let common = commonPrefixByteCount
    var order = records.indices.map { (bytes: keyBytes(of: $0, from: common), index: $0) }
    order.sort { a, b in a.bytes != b.bytes ? a.bytes < b.bytes : compareKeys(of: a.index, b.index) < 0 }
    return mayRepeat ? lastOfEachKey(order.map(\.index)) : order.map(\.index)
  }

  private func lastOfEachKey(_ order: [Int]) -> [Int] {
    var last: [Int] = []
    last.reserveCapacity(order.count)
    for index in order {
      if let before = last.last, compareKeys(of: before, index) == 0 {
        last[last.count - 1] = max(before, index)
      } else {
        last.append(index)
      }
    }
    return last
  }

  private func compareKeys(of a: Int, _ b: Int) -> Int {
    let (a, b) = (place(ofRecord: a).key, place(ofRecord: b).key)
    let order = keys.withUnsafeBytes { keys in
      memcmp(keys.baseAddress! + a.lowerBound, keys.baseAddress! + b.lowerBound, min(a.count, b.count))
    }
    return order != 0 ? Int(order) : a.count - b.count
  }

  /// How many bytes all keys begin with.
  private var commonPrefixByteCount: Int {
    keys.withUnsafeBytes { keys in
      let first = place(ofRecord: 0).key
      var count = first.count
      for index in records.indices.dropFirst() {
        let key = place(ofRecord: index).key
        count = min(count, key.count)
        var same = 0
        while same < count, keys[first.lowerBound + same] == keys[key.lowerBound + same] { same += 1 }
        count = same
      }
      return count
    }
  }

  /// Eight bytes of a key as a number that compares as they do. Zeros stand for what is behind its end, so
  /// equal numbers say nothing.
  private func keyBytes(of index: Int, from start: Int) -> UInt64 {
    let key = place(ofRecord: index).key
    return keys.withUnsafeBytes { keys in
      var number: UInt64 = 0
      for offset in start..<(start + 8) {
        let position = key.lowerBound + offset
        number = number << 8 | (position < key.upperBound ? UInt64(keys[position]) : 0)
      }
      return number
    }
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

  /// The type of its record, where that is all that writing the graph changes; nil where more may be.
  var onlyTag: UInt64? {
    if records.count != 1 || !isPlain(0) || !inlineTargets.isEmpty { return nil }
    return bytes.withUnsafeBytes { KeyLayout.tag(inRecordKey: $0.bytes.extracting(place(ofRecord: 0).key)) }
  }
}

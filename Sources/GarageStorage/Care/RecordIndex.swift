internal import GarageCoding
internal import GarageDriver

/// The keys of all records of one state of a store, each with a number: its place among them.
///
/// What goes through a whole graph remembers records by these numbers. For each record it takes its identifier's bytes
/// and eight more; a tag stands here once for all of its records.
struct RecordIndex {
  private struct Space {
    let tag: UInt64
    /// The number of its first record.
    let first: Int
    /// The identifiers, one behind the other, and where each of them ends.
    var identifiers: [UInt8] = []
    var ends: [Int] = []

    func number(_ identifier: RawSpan) -> Int? {
      let identifiers = identifiers.span.bytes
      let ends = ends.span
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        let start = middle == 0 ? 0 : ends[middle - 1]
        let order = compareKeys(identifiers.extracting(start..<ends[middle]), identifier)
        if order == 0 { return first + middle }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return nil
    }
  }
  private var spaces: [Space] = []
  /// Where a tag's space is among them.
  private var places: [UInt64: Int] = [:]

  /// How many records there are.
  private(set) var count = 0

  /// The tags that there are records of, in the order of their keys.
  var tags: [UInt64] { spaces.map(\.tag) }

  /// Adds the next key, in the order of keys.
  mutating func append(_ key: RawSpan) {
    let tag = KeyLayout.tag(inRecordKey: key)
    if spaces.last?.tag != tag {
      places[tag] = spaces.count
      spaces.append(Space(tag: tag, first: count))
    }
    let place = spaces.count - 1
    key.extracting(KeyLayout.identifierOffset...).withUnsafeBytes {
      spaces[place].identifiers.append(contentsOf: $0)
    }
    spaces[place].ends.append(spaces[place].identifiers.count)
    count += 1
  }

  /// The number of the record with this key; nil where there is none.
  func number(of key: RawSpan) -> Int? {
    number(tag: KeyLayout.tag(inRecordKey: key), key.extracting(KeyLayout.identifierOffset...))
  }

  /// The number of the record that the same object has under another tag; nil where there is none.
  ///
  /// - Parameter identifier: as it stands in keys.
  func number(tag: UInt64, _ identifier: RawSpan) -> Int? {
    guard let place = place(of: tag) else { return nil }
    return spaces[place].number(identifier)
  }

  private func place(of tag: UInt64) -> Int? {
    // Of few tags the right one is seen sooner than hashed.
    if spaces.count > 8 { return places[tag] }
    for place in spaces.indices where spaces[place].tag == tag { return place }
    return nil
  }

  /// The key of a record.
  func key(_ number: Int) -> StorageKey {
    // The last space that begins at or before the number.
    var (low, high) = (0, spaces.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if spaces[middle].first <= number { low = middle } else { high = middle }
    }
    let space = spaces[low]
    let position = number - space.first
    let start = position == 0 ? 0 : space.ends[position - 1]
    return KeyLayout.record(tag: space.tag, space.identifiers[start..<space.ends[position]])
  }
}

internal import GarageCoding
internal import GarageDriver

/// The keys of all records of one state of a store, each with a number: its place among them.
///
/// Searches through a whole graph remember records by these numbers. For each record it takes the bytes of its identifier and 8
/// to 24 more; a tag stands here once for all of its records.
struct RecordIndex {
  private struct Space {
    let tag: UInt64
    /// The number of its first record.
    let first: Int
    /// The identifiers, one behind the other, and where each of them ends.
    var identifiers: [UInt8] = []
    var ends: [Int] = []
    /// One more than a record's position, at a place that its identifier's hash tells or behind it; 0 is none. Empty
    /// until as many were looked for as it takes for a table to pay.
    private var table: [UInt32] = []
    private var searchCount = 0

    init(tag: UInt64, first: Int) { (self.tag, self.first) = (tag, first) }

    private mutating func makeTable() {
      // Half of it at the most is in use.
      table = Array(repeating: 0, count: 1 << (Int.bitWidth - (2 * ends.count - 1).leadingZeroBitCount))
      for position in ends.indices {
        var place = firstPlace(identifiers.span.bytes.extracting(bounds(position)))
        while table[place] != 0 { place = (place + 1) & (table.count - 1) }
        table[place] = UInt32(position + 1)
      }
    }

    private func firstPlace(_ identifier: RawSpan) -> Int {
      var hasher = Hasher()
      identifier.withUnsafeBytes { hasher.combine(bytes: $0) }
      return hasher.finalize() & (table.count - 1)
    }

    /// Where the identifier of a record stands among them.
    func bounds(_ position: Int) -> Range<Int> {
      (position == 0 ? 0 : ends[position - 1])..<ends[position]
    }

    mutating func number(_ identifier: RawSpan) -> Int? {
      if !table.isEmpty { return numberByTable(identifier) }
      searchCount += 1
      if searchCount > 2 * ends.count { makeTable() }
      return numberByOrder(identifier)
    }

    private func numberByOrder(_ identifier: RawSpan) -> Int? {
      let identifiers = identifiers.span.bytes
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        let order = compareKeys(identifiers.extracting(bounds(middle)), identifier)
        if order == 0 { return first + middle }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return nil
    }

    private func numberByTable(_ identifier: RawSpan) -> Int? {
      var place = firstPlace(identifier)
      while table[place] != 0 {
        let position = Int(table[place]) - 1
        let found = identifiers.span.bytes.extracting(bounds(position))
        if compareKeys(found, identifier) == 0 { return first + position }
        place = (place + 1) & (table.count - 1)
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

  /// Adds the next key, in the order of keys. All are added before any is looked for.
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
  mutating func number(of key: RawSpan) -> Int? {
    number(tag: KeyLayout.tag(inRecordKey: key), key.extracting(KeyLayout.identifierOffset...))
  }

  /// The number of the record that the same object has under another tag; nil where there is none.
  ///
  /// - Parameter identifier: as it stands in keys.
  mutating func number(tag: UInt64, _ identifier: RawSpan) -> Int? {
    guard let place = place(of: tag) else { return nil }
    return spaces[place].number(identifier)
  }

  private func place(of tag: UInt64) -> Int? {
    // Among few tags the right one is found sooner without a hash.
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
    return KeyLayout.record(tag: space.tag, space.identifiers[space.bounds(position)])
  }
}

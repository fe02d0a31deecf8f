internal import GarageCoding
internal import GarageDriver

/// Entries of an index that have the same value in its first field.
struct EntryGroup {
  /// What they begin with: all that stands before the value, and the value.
  fileprivate let beginning: [UInt8]
  /// A record that has the value: of those whose entries were read, the first by identifier.
  fileprivate(set) var key: StorageKey
  /// How many entries were read.
  fileprivate(set) var count = 1
  /// Whether no other record that has the value comes before.
  fileprivate(set) var isFirstKnown = true

  fileprivate init(_ entry: RawSpan, beginning: [UInt8], identifierAt place: Int) {
    self.beginning = beginning
    key = KeyLayout.record(ofEntry: entry, identifierAt: place)
  }

  fileprivate mutating func noteRecord(ofEntry entry: RawSpan, identifierAt place: Int) {
    let bytes = key.bytes
    let identifier = bytes.span.bytes.extracting(KeyLayout.identifierOffset...)
    if compareKeys(entry.extracting(place...), identifier) < 0 {
      key = KeyLayout.record(ofEntry: entry, identifierAt: place)
    }
  }

  /// Whether its record comes before that of another by identifier.
  func isBefore(_ other: EntryGroup) -> Bool {
    let (left, right) = (key.bytes, other.key.bytes)
    return compareKeys(
      left.span.bytes.extracting(KeyLayout.identifierOffset...),
      right.span.bytes.extracting(KeyLayout.identifierOffset...)) < 0
  }
}

/// Reads the entries of an index by the values of its first field. No part of a generic type: its closures are called with every
/// entry.
struct EntryGroups {
  private let transaction: any ReadTransaction
  private let item: IndexCatalog.Item
  private let typeName: String
  /// Whether entries with the same first value are in the order of others.
  private let hasMoreFields: Bool

  init(_ transaction: any ReadTransaction, _ item: IndexCatalog.Item, typeName: String) {
    (self.transaction, self.item, self.typeName) = (transaction, item, typeName)
    hasMoreFields = item.definition.components.count > 1
  }

  /// Of a large group that is not counted the rest is passed over behind so many entries.
  private static let passedOverCount = 32
  /// Where so many groups have fewer entries than this each, all records are read sooner than one of each group.
  private static let (manyCount, fewEntries) = (1024, 4)

  /// The groups in the order of their values; nil where some values are cut or NaN, or nearly all are different.
  ///
  /// - Parameter counting: whether each is to know how many entries it has.
  func all(counting: Bool) throws -> [EntryGroup]? {
    var range = KeyLayout.entries(tag: item.definition.tag, index: item.id)
    var groups: [EntryGroup] = []
    var beginning: [UInt8] = []
    var (entryCount, isTold, isAtEnd) = (0, true, false)
    while isTold && !isAtEnd {
      isAtEnd = true
      try transaction.scan(range, .forward) { entry, value in
        let place = try identifierPlace(entry, value)
        entryCount += 1
        if groups.isEmpty || !EntryGroups.begins(entry, with: beginning) {
          guard let group = newGroup(entry, identifierAt: place) else {
            isTold = false
            return .stop
          }
          beginning = group.beginning
          groups.append(group)
          isTold = groups.count < Self.manyCount || entryCount >= Self.fewEntries * groups.count
          return isTold ? .continue : .stop
        }
        let last = groups.count - 1
        groups[last].count += 1
        if hasMoreFields { groups[last].noteRecord(ofEntry: entry, identifierAt: place) }
        if counting || groups[last].count < Self.passedOverCount { return .continue }
        groups[last].isFirstKnown = !hasMoreFields
        isAtEnd = false
        return .stop
      }
      if !isAtEnd { range.lowerBound = StorageKeyRange.prefix(beginning).upperBound ?? beginning }
    }
    return isTold ? groups : nil
  }

  /// The same group with the first record of all that have its value.
  func withFirst(_ group: EntryGroup) throws -> EntryGroup {
    if group.isFirstKnown { return group }
    var group = group
    try transaction.scan(.prefix(group.beginning), .forward) { entry, value in
      group.noteRecord(ofEntry: entry, identifierAt: try identifierPlace(entry, value))
      return .continue
    }
    group.isFirstKnown = true
    return group
  }

  // No value is the beginning of another.
  @inline(__always)
  private static func begins(_ entry: RawSpan, with beginning: [UInt8]) -> Bool {
    beginning.count <= entry.byteCount
      && compareKeys(entry.extracting(..<beginning.count), beginning.span.bytes) == 0
  }

  private func identifierPlace(_ entry: RawSpan, _ value: RawSpan) throws -> Int {
    guard let place = IndexBatch.identifierPlace(value), place < entry.byteCount else {
      throw GarageError.corruptRecord(
        type: typeName, identifier: "index entry \(StorageKey(entry))", reason: "it has no identifier")
    }
    return place
  }

  /// Nil where the first value is cut or NaN.
  private func newGroup(_ entry: RawSpan, identifierAt place: Int) -> EntryGroup? {
    let isCut = place == KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount
    let end = isCut ? KeyLayout.indexPrefixByteCount + OrderedBytes.uncutByteCount : place
    guard end > KeyLayout.indexPrefixByteCount else { return nil }
    let values = entry.extracting(KeyLayout.indexPrefixByteCount..<end)
    guard let count = OrderedBytes.byteCount(ofFirst: values), !OrderedBytes.beginsWithNaN(values) else {
      return nil
    }
    let beginning = [UInt8](copying: entry.extracting(..<(KeyLayout.indexPrefixByteCount + count)))
    return EntryGroup(entry, beginning: beginning, identifierAt: place)
  }
}

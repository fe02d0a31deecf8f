internal import CGarage
internal import GarageCoding
internal import GarageDriver

/// The index entries that are added and removed with a batch of records: first gathered, then checked, and then written in key
/// order.
///
/// ```
/// key    | 20 | tag 8 | index 8 | values ≤ 240 | identifier ≤ 240 |    values: OrderedBytes; the rest as in the record's key
/// value  | length of the values 1 | concrete tag, 0 or 8 |             the record's, where it has one
/// ```
/// Where values are hashed, 10 and the first 16 bytes of their HMAC-SHA-256 stand in their place; where one of them is absent
/// or unknown, 0F alone. A batch belongs to one thread, so its properties are not checked for overlapping accesses: these
/// checks took a fifth of the time of gathering.
final class IndexBatch {
  static let hashKind: UInt8 = 0x10

  let catalog: IndexCatalog
  /// Whether entries are written even if they are there, because another process may remove them behind unsaved changes.
  var writesAll = false
  let keys: ObjectKeys
  let texts: StoreTexts
  let parts: [Part]
  @exclusivity(unchecked) var bytes = OrderedBytes()
  /// Where texts of shapes are read from, while records are being noted.
  @exclusivity(unchecked) private var transaction: (any ReadTransaction)?
  /// The tag met last, and which indexes its records have.
  @exclusivity(unchecked) private var positions: (tag: UInt64, of: [Int])?
  /// The entries that are put at once, and their bytes; used again.
  @exclusivity(unchecked) private var placed: [PlacedEntry] = []
  @exclusivity(unchecked) private var ordered = OrderedBytes()
  /// How many entries are put at a time, so that their bytes stay in the caches.
  private static let blockCount = 2048
  /// Whether what was gathered is in the order of its keys.
  @exclusivity(unchecked) private var isSorted = false
  /// Whether the records were noted in the order of their keys, none twice.
  @exclusivity(unchecked) private(set) var isGatheredInOrder = true
  @exclusivity(unchecked) private var lastKey = OrderedBytes()
  /// The whole values of entries of unique indexes where they stand cut or hashed, by the place of the entry.
  @exclusivity(unchecked) var wholeValues: [Int: [UInt8]] = [:]

  init(_ catalog: IndexCatalog, _ keys: ObjectKeys, _ texts: StoreTexts) {
    self.catalog = catalog
    self.keys = keys
    self.texts = texts
    parts = catalog.items.map { Part($0) }
  }

  /// Whether records under a tag have entries.
  func concerns(tag: UInt64) -> Bool { !positions(tag: tag).isEmpty }

  /// Which indexes records under a tag have.
  @inline(__always)
  private func positions(tag: UInt64) -> [Int] {
    if let positions, positions.tag == tag { return positions.of }
    let found = catalog.positions(tag: tag)
    positions = (tag, found)
    return found
  }

  private func reset() {
    bytes.removeAll(keeping: 1 << 20)
    ordered.removeAll(keeping: 1 << 18)
    wholeValues.removeAll()
    isGatheredInOrder = true
    lastKey.truncate(to: 0)
    for part in parts { part.reset() }
  }

  // MARK: - Gathering

  /// Notes that a record replaces another one, or is removed.
  ///
  /// - Parameters:
  ///   - key: that of both.
  ///   - old: nil where there is none; no bytes where it is sealed and does not open.
  ///   - new: one that was just encoded; nil where there will be none.
  func note(_ key: RawSpan, old: RawSpan?, new: RawSpan?, in transaction: any ReadTransaction) throws {
    let positions = positions(tag: KeyLayout.tag(inRecordKey: key))
    if positions.isEmpty { return }
    isSorted = false
    noteOrder(key)
    begin(transaction)
    guard let new else { return try noteOld(key, old, nil, positions) }
    try FieldRecord.withEncoded(new, typeName: "object", self) { try noteOld(key, old, $0, positions) }
  }

  /// Notes new records, all under one tag that has none yet: index by index, so that the data of each index stay in the caches.
  ///
  /// - Parameters:
  ///   - records: where they and their keys stand among `all`, just encoded.
  func noteNew(
    _ records: [PlacedEntry], in all: UnsafeRawBufferPointer, _ transaction: any ReadTransaction
  ) throws {
    guard let first = records.first else { return }
    let positions = positions(tag: KeyLayout.tag(inRecordKey: all.bytes.extracting(first.key)))
    isSorted = false
    noteOrder(records, in: all)
    begin(transaction)
    for start in stride(from: 0, to: records.count, by: 64) {
      let count = min(64, records.count - start)
      try FieldRecord.withEncoded(
        count, at: { records[start + $0].value }, in: all, typeName: "object", self
      ) { fields in
        for position in positions {
          let part = parts[position]
          for index in fields.indices {
            let key = all.bytes.extracting(records[start + index].key)
            if part.isOfReferences {
              try appendReferences(part, key, fields[index])
            } else if part.isOfMany {
              try compareAll(part, key, nil, fields[index])
            } else {
              part.added.append(try part.entry(key, fields[index], &bytes, &wholeValues))
            }
          }
        }
      }
    }
  }

  private func noteOld(_ key: RawSpan, _ old: RawSpan?, _ new: FieldRecord?, _ positions: [Int]) throws {
    guard let old else {
      for position in positions { try compare(parts[position], key, nil, new) }
      return
    }
    let isReadable = try withFields(key, old) { old in
      // The same record has the same entries.
      if !writesAll, let new, new.isSame(as: old) { return }
      for position in positions { try compare(parts[position], key, old, new) }
    }
    if isReadable { return }
    // What it had cannot be told: its entries are looked for among all, with those of others like it.
    for position in positions {
      parts[position].unreadableKeys.insert(StorageKey(key))
      try compare(parts[position], key, nil, new)
    }
  }

  /// Notes the entries of a record that is there, in indexes that are being filled.
  func fill(_ key: RawSpan, _ record: RawSpan, _ positions: [Int], in transaction: any ReadTransaction) throws
  {
    isSorted = false
    noteOrder(key)
    begin(transaction)
    let isReadable = try withFields(key, record) { record in
      for position in positions { try compare(parts[position], key, nil, record) }
    }
    if isReadable { return }
    // Queries will meet the record, and say what is wrong with it.
    for position in positions where !parts[position].isOfReferences {
      parts[position].added.append(parts[position].unreadable(key, &bytes))
    }
  }

  /// Notes whether a record's key stands behind that of the one before.
  private func noteOrder(_ key: RawSpan) {
    if !isGatheredInOrder { return }
    isGatheredInOrder = lastKey.count == 0 || compareKeys(lastKey.all.bytes, key) < 0
    lastKey.truncate(to: 0)
    lastKey.append(key)
  }

  private func noteOrder(_ records: [PlacedEntry], in all: UnsafeRawBufferPointer) {
    guard isGatheredInOrder, let first = records.first, let last = records.last else { return }
    noteOrder(all.bytes.extracting(first.key))
    var index = 1
    while isGatheredInOrder, index < records.count {
      let (before, key) = (records[index - 1].key, records[index].key)
      isGatheredInOrder = compareKeys(all.bytes.extracting(before), all.bytes.extracting(key)) < 0
      index += 1
    }
    lastKey.truncate(to: 0)
    lastKey.append(all.bytes.extracting(last.key))
  }

  private func begin(_ transaction: any ReadTransaction) {
    if self.transaction !== transaction { self.transaction = transaction }
  }

  /// Releases the transaction, because the batch may outlive it.
  func end() { transaction = nil }

  /// Lends the fields of a record; false where it is damaged.
  func withFields(_ key: RawSpan, _ record: RawSpan, _ body: (FieldRecord) throws -> Void) throws -> Bool {
    if record.byteCount == 0 { return false }
    let count = bytes.count
    do {
      try keys.withIdentifier(of: key, record, typeName: "object") { identifier in
        try FieldRecord.with(
          tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record,
          typeName: "object", self, body)
      }
      return true
    } catch is GraphCodingError {
      forgetEntries(from: count)
      return false
    }
  }

  /// Forgets what was noted behind a place.
  private func forgetEntries(from count: Int) {
    if bytes.count == count { return }
    bytes.truncate(to: count)
    if !wholeValues.isEmpty { wholeValues = wholeValues.filter { $0.key < count } }
    for part in parts {
      while let last = part.added.last, last.start >= count { part.added.removeLast() }
      while let last = part.removed.last, last.start >= count { part.removed.removeLast() }
    }
  }

  /// Notes what differs between the entries of two records with one key.
  private func compare(_ part: Part, _ key: RawSpan, _ old: FieldRecord?, _ new: FieldRecord?) throws {
    if part.isOfMany { return try compareAll(part, key, old, new) }
    guard let old else {
      if let new { part.added.append(try part.entry(key, new, &bytes, &wholeValues)) }
      return
    }
    let start = bytes.count
    let before = try part.entry(key, old, &bytes, &wholeValues)
    guard let new else { return part.removed.append(before) }
    let after = try part.entry(key, new, &bytes, &wholeValues)
    if isEqual(before, after) {
      if writesAll { return part.added.append(after) }
      if part.mayKeepWhole(before) {
        // Other entries will stand in their places.
        wholeValues[before.start] = nil
        wholeValues[after.start] = nil
      }
      bytes.truncate(to: start)
      return
    }
    part.removed.append(before)
    part.added.append(after)
  }

  /// The same where a record has an entry for each of its elements, or for each that it refers to.
  private func compareAll(_ part: Part, _ key: RawSpan, _ old: FieldRecord?, _ new: FieldRecord?) throws {
    if part.isOfReferences, !writesAll, let old, let new, old.hasSameReferences(as: new) { return }
    func entries(_ record: FieldRecord) throws -> [Entry] {
      part.isOfReferences ? try references(part, key, record) : try elements(part, key, record)
    }
    var before = (try old.map { try entries($0) } ?? [])[...]
    for entry in try new.map({ try entries($0) }) ?? [] {
      while let first = before.first, isBefore(first, entry) {
        part.removed.append(first)
        before = before.dropFirst()
      }
      if let first = before.first, isEqual(first, entry) {
        before = before.dropFirst()
        if writesAll { part.added.append(entry) }
      } else {
        part.added.append(entry)
      }
    }
    part.removed += before
  }

  func isEqual(_ left: Entry, _ right: Entry) -> Bool {
    let count = left.keyCount + left.valueCount
    guard left.keyCount == right.keyCount, count == right.keyCount + right.valueCount else { return false }
    return withBytes(left.start, count) { left in
      withBytes(right.start, count) { compareKeys(left, $0) == 0 }
    }
  }

  func withBytes<R>(_ start: Int, _ count: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(rebasing: bytes.all[start..<start + count]).bytes)
  }

  // MARK: - Entries

  /// The entries of a record's elements, sorted, each once.
  private func elements(_ part: Part, _ key: RawSpan, _ record: FieldRecord) throws -> [Entry] {
    var entries: [Entry] = []
    let isAbsent = try part.fields.forEachElement(record) { element in
      entries.append(try part.entry(of: element, key, record, &bytes, &wholeValues))
    }
    if isAbsent { part.kinds.noteAbsent(in: 0) }
    entries.sort(by: isBefore)
    var last: Entry?
    return entries.filter { entry in
      defer { last = entry }
      return last.map { !isEqual($0, entry) } ?? true
    }
  }

  /// Notes that every entry of the records goes that could not be read.
  private func removeEntriesOfUnreadable(_ part: Part) throws {
    guard let transaction, !part.unreadableKeys.isEmpty else { return }
    let keys = part.unreadableKeys
    part.unreadableKeys = []
    let found =
      part.isOfReferences
      ? try referenceEntries(part, of: keys, transaction) : try fieldEntries(part, of: keys, transaction)
    for key in found {
      var entry = Entry(start: bytes.count, keyCount: key.bytes.count, valueCount: 0)
      bytes.append(key.bytes.span.bytes)
      entry.order = order(of: entry, behind: part.prefixByteCount)
      part.removed.append(entry)
    }
  }

  /// The keys of the entries that these records have in an index of fields. One scan, however many they are.
  private func fieldEntries(
    _ part: Part, of records: Set<StorageKey>, _ transaction: any ReadTransaction
  ) throws -> [StorageKey] {
    let lengths = Set(records.map { $0.bytes.count - KeyLayout.identifierOffset }).sorted()
    var found: [StorageKey] = []
    for tag in Set(records.map { KeyLayout.tag(inRecordKey: $0.bytes.span.bytes) }) {
      try transaction.scanKeys(KeyLayout.entries(tag: tag, index: part.item.id), .forward) { entry in
        let mayBeOfOne = lengths.contains { length in
          let place = entry.byteCount - length
          return place >= KeyLayout.indexPrefixByteCount
            && records.contains(KeyLayout.record(ofEntry: entry, identifierAt: place))
        }
        if mayBeOfOne { found.append(StorageKey(entry)) }
        return .continue
      }
    }
    // The identifier may be the end of a longer one: where it begins the value says, unless that does not open either.
    return try found.filter { entry in
      try transaction.withReplaceableValue(for: entry.bytes.span.bytes, isSealed: keys.isSealed) { value in
        guard let value, let place = IndexBatch.identifierPlace(value) else { return true }
        return place <= entry.bytes.count
          && records.contains(KeyLayout.record(ofEntry: entry.bytes.span.bytes, identifierAt: place))
      }
    }
  }

  func order(of entry: Entry, behind prefix: Int) -> UInt64 {
    IndexBatch.order(of: entry, behind: prefix, in: bytes.all)
  }

  /// Where in an entry's key the identifier begins; nil where its value is damaged.
  static func identifierPlace(_ value: RawSpan) -> Int? {
    guard value.byteCount > 0 else { return nil }
    return KeyLayout.indexPrefixByteCount + Int(value.unsafeLoad(as: UInt8.self))
  }

  /// The tag of the class that an entry's record is of, as its value tells; nil is the topmost one.
  static func concreteTag(_ value: RawSpan) -> UInt64? {
    guard value.byteCount >= 9 else { return nil }
    return UInt64(bigEndian: value.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt64.self))
  }

  // MARK: - Looking

  /// Lends every entry that was gathered for an index, and begins anew.
  func takeEntries(_ position: Int, _ visit: (RawSpan, RawSpan) throws -> Void) rethrows {
    let all = bytes.all
    for entry in parts[position].added {
      let middle = entry.start + entry.keyCount
      try visit(
        all.bytes.extracting(entry.start..<middle), all.bytes.extracting(middle..<middle + entry.valueCount))
    }
    reset()
  }

  // MARK: - Making

  func isBefore(_ left: Entry, _ right: Entry) -> Bool {
    if left.order != right.order { return left.order < right.order }
    return withBytes(left.start, left.keyCount) { leftKey in
      withBytes(right.start, right.keyCount) { compareKeys(leftKey, $0) < 0 }
    }
  }

  /// Sorts what was gathered; of many, by the first bytes in which they differ at all.
  func sort() throws {
    if isSorted { return }
    for part in parts {
      try removeEntriesOfUnreadable(part)
      sort(&part.added, of: part, orderedAt: &part.orderPlace)
      sort(&part.removed, of: part, orderedAt: &part.removedOrderPlace)
    }
    isSorted = true
  }

  /// Makes the changes, removals first, and begins anew. Returns the catalog if it has to tell more of the entries than before.
  func make(in transaction: any WriteTransaction) throws -> IndexCatalog? {
    defer { reset() }
    var items = catalog.items
    var isChanged = false
    placed.removeAll(keepingCapacity: true)
    try sort()
    for (position, part) in parts.enumerated() {
      try remove(part.removed, in: transaction)
      if !items[position].kinds.isSuperset(of: part.kinds) {
        items[position].kinds.formUnion(part.kinds)
        isChanged = true
      }
    }
    for part in partsInOrder() { try put(part.added, in: transaction) }
    try putOrdered(in: transaction)
    return isChanged ? IndexCatalog(items) : nil
  }

  /// Puts sorted entries. They were gathered in another order, so each is copied behind the one before: drivers look at them
  /// more than once, and need not wait for memory each time.
  private func put(_ entries: [Entry], in transaction: any WriteTransaction) throws {
    for (index, entry) in entries.enumerated() {
      prefetch(entries, behind: index)
      let (start, middle) = (ordered.count, ordered.count + entry.keyCount)
      withBytes(entry.start, entry.keyCount + entry.valueCount) { ordered.append($0) }
      placed.append(PlacedEntry(key: start..<middle, value: middle..<ordered.count))
      if placed.count == Self.blockCount { try putOrdered(in: transaction) }
    }
  }

  /// Removes sorted entries.
  private func remove(_ entries: [Entry], in transaction: any WriteTransaction) throws {
    func removeOrdered() throws {
      try transaction.removeMany(placed, in: ordered.all.bytes)
      placed.removeAll(keepingCapacity: true)
      ordered.truncate(to: 0)
    }
    for (index, entry) in entries.enumerated() {
      prefetch(entries, behind: index)
      let start = ordered.count
      withBytes(entry.start, entry.keyCount) { ordered.append($0) }
      placed.append(PlacedEntry(key: start..<ordered.count, value: ordered.count..<ordered.count))
      if placed.count == Self.blockCount { try removeOrdered() }
    }
    if !placed.isEmpty { try removeOrdered() }
  }

  /// Asks for the memory of an entry that will be looked at soon.
  @inline(__always)
  func prefetch(_ entries: [Entry], behind index: Int) {
    let ahead = 12
    guard index + ahead < entries.count, let all = bytes.all.baseAddress else { return }
    let entry = entries[index + ahead]
    garage_prefetch(all + entry.start)
    garage_prefetch(all + (entry.start + entry.keyCount))
  }

  private func putOrdered(in transaction: any WriteTransaction) throws {
    if placed.isEmpty { return }
    try transaction.putAll(placed, in: ordered.all.bytes)
    placed.removeAll(keepingCapacity: true)
    ordered.truncate(to: 0)
  }

  /// The indexes with something to add, in the order of their entries' keys: drivers put ascending keys faster.
  private func partsInOrder() -> [Part] {
    parts.filter { !$0.added.isEmpty }.sorted { left, right in
      withBytes(left.added[0].start, left.added[0].keyCount) { first in
        withBytes(right.added[0].start, right.added[0].keyCount) { compareKeys(first, $0) < 0 }
      }
    }
  }
}

extension IndexBatch: ShapeTexts {
  func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    guard let transaction else { return nil }
    return try texts.text(TextName(kind: .shape, digest: digest), in: transaction)
  }
}

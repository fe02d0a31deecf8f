internal import GarageCoding
internal import GarageDriver

/// The entries that come and go with a batch of records: gathered first, checked then, and made in key order.
///
/// ```
/// key    | 20 | tag 8 | index 8 | values ≤ 240 | identifier ≤ 240 |    values: OrderedBytes; the rest as in the record's key
/// value  | length of the values 1 | concrete tag, 0 or 8 |             the record's, where it has one
/// ```
/// Where values are hashed, the first 16 bytes of the HMAC-SHA-256 of theirs stand behind 10; where one of them is absent or
/// cannot be told, 0F stands alone. It belongs to one thread, so its properties are not checked for overlapping accesses:
/// the checks took a fifth of the time that gathering takes.
final class IndexBatch {
  static let hashKind: UInt8 = 0x10

  let catalog: IndexCatalog
  /// Whether entries are written although they are there: another process may take them away behind unsaved changes.
  var writesAll = false
  let keys: ObjectKeys
  let texts: StoreTexts
  @exclusivity(unchecked) var parts: [Part]
  @exclusivity(unchecked) var bytes = OrderedBytes()
  /// The entries that are put at once; used again.
  private var placed: [PlacedEntry] = []
  /// Whether what was gathered is in the order of its keys.
  @exclusivity(unchecked) private var isSorted = false
  /// The whole values of entries of unique indexes where they stand cut or hashed, by the place of the entry.
  @exclusivity(unchecked) var wholeValues: [Int: [UInt8]] = [:]

  init(_ catalog: IndexCatalog, _ keys: ObjectKeys, _ texts: StoreTexts) {
    self.catalog = catalog
    self.keys = keys
    self.texts = texts
    parts = catalog.items.map { Part($0) }
  }

  /// Whether records under a tag have entries.
  func concerns(tag: UInt64) -> Bool { !catalog.positions(tag: tag).isEmpty }

  private func reset() {
    bytes.bytes.removeAll(keepingCapacity: bytes.bytes.count < 1 << 20)
    wholeValues.removeAll()
    for index in parts.indices {
      parts[index].added.removeAll(keepingCapacity: true)
      parts[index].removed.removeAll(keepingCapacity: true)
      parts[index].kinds = IndexedFields.Kinds()
    }
  }

  // MARK: - Gathering

  /// Notes that a record takes the place of another, or goes.
  ///
  /// - Parameters:
  ///   - key: that of both.
  ///   - old: nil where there is none; no bytes where it is sealed and does not open.
  ///   - new: one that was just encoded; nil where there will be none.
  func note(_ key: RawSpan, old: RawSpan?, new: RawSpan?, in transaction: any ReadTransaction) throws {
    let positions = catalog.positions(tag: KeyLayout.tag(inRecordKey: key))
    if positions.isEmpty { return }
    isSorted = false
    guard let new else { return try noteOld(key, old, nil, positions, transaction) }
    try FieldRecord.withEncoded(new, typeName: "object", shapeText: { try self.shapeText($0, transaction) }) {
      try noteOld(key, old, $0, positions, transaction)
    }
  }

  private func noteOld(
    _ key: RawSpan, _ old: RawSpan?, _ new: FieldRecord?, _ positions: [Int],
    _ transaction: any ReadTransaction
  ) throws {
    guard let old else {
      for position in positions { try compare(position, key, nil, new) }
      return
    }
    let isReadable = try withFields(key, old, transaction) { old in
      for position in positions { try compare(position, key, old, new) }
    }
    if isReadable { return }
    // What it had cannot be told: its entries are looked for one by one.
    for position in positions {
      try removeAll(position, key, transaction)
      try compare(position, key, nil, new)
    }
  }

  /// Notes the entries of a record that is there, in indexes that are being filled.
  func fill(_ key: RawSpan, _ record: RawSpan, _ positions: [Int], in transaction: any ReadTransaction) throws
  {
    isSorted = false
    let isReadable = try withFields(key, record, transaction) { record in
      for position in positions { try compare(position, key, nil, record) }
    }
    if isReadable { return }
    // Queries meet it, and say what is wrong with it.
    for position in positions where !parts[position].isOfReferences {
      let entry = parts[position].unreadable(key, &bytes)
      parts[position].added.append(entry)
    }
  }

  private func shapeText(_ digest: UInt64, _ transaction: any ReadTransaction) throws -> [UInt8]? {
    try texts.text(TextName(kind: .shape, digest: digest), in: transaction)
  }

  /// Lends the fields of a record; false where it is damaged.
  func withFields(
    _ key: RawSpan, _ record: RawSpan, _ transaction: any ReadTransaction,
    _ body: (FieldRecord) throws -> Void
  ) throws -> Bool {
    if record.byteCount == 0 { return false }
    let count = bytes.bytes.count
    do {
      try keys.withIdentifier(of: key, record, typeName: "object") { identifier in
        try FieldRecord.with(
          tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record,
          typeName: "object", shapeText: { try self.shapeText($0, transaction) }, body)
      }
      return true
    } catch is GraphCodingError {
      forgetEntries(from: count)
      return false
    }
  }

  /// Forgets what was noted behind a place.
  private func forgetEntries(from count: Int) {
    bytes.bytes.removeLast(bytes.bytes.count - count)
    for index in parts.indices {
      while let last = parts[index].added.last, last.start >= count { parts[index].added.removeLast() }
      while let last = parts[index].removed.last, last.start >= count { parts[index].removed.removeLast() }
    }
  }

  /// Notes what differs between the entries of two records with one key.
  private func compare(_ position: Int, _ key: RawSpan, _ old: FieldRecord?, _ new: FieldRecord?) throws {
    if parts[position].isOfMany { return try compareAll(position, key, old, new) }
    guard let old else {
      if let new { parts[position].added.append(try entry(position, key, new)) }
      return
    }
    let start = bytes.bytes.count
    let before = try entry(position, key, old)
    guard let new else { return parts[position].removed.append(before) }
    let after = try entry(position, key, new)
    if isEqual(before, after) {
      if writesAll { return parts[position].added.append(after) }
      bytes.bytes.removeLast(bytes.bytes.count - start)
      return
    }
    parts[position].removed.append(before)
    parts[position].added.append(after)
  }

  /// The same where a record has an entry for each of its elements, or for each that it refers to.
  private func compareAll(
    _ position: Int, _ key: RawSpan, _ old: FieldRecord?, _ new: FieldRecord?
  ) throws {
    let isOfReferences = parts[position].isOfReferences
    if isOfReferences, !writesAll, let old, let new, old.hasSameReferences(as: new) { return }
    func entries(_ position: Int, _ key: RawSpan, _ record: FieldRecord) throws -> [Entry] {
      isOfReferences ? try references(position, key, record) : try elements(position, key, record)
    }
    var before = (try old.map { try entries(position, key, $0) } ?? [])[...]
    for entry in try new.map({ try entries(position, key, $0) }) ?? [] {
      while let first = before.first, isBefore(first, entry) {
        parts[position].removed.append(first)
        before = before.dropFirst()
      }
      if let first = before.first, isEqual(first, entry) {
        before = before.dropFirst()
        if writesAll { parts[position].added.append(entry) }
      } else {
        parts[position].added.append(entry)
      }
    }
    parts[position].removed += before
  }

  func isEqual(_ left: Entry, _ right: Entry) -> Bool {
    let count = left.keyCount + left.valueCount
    guard left.keyCount == right.keyCount, count == right.keyCount + right.valueCount else { return false }
    return withBytes(left.start, count) { left in
      withBytes(right.start, count) { compareKeys(left, $0) == 0 }
    }
  }

  func withBytes<R>(_ start: Int, _ count: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    let all = bytes.bytes
    return try body(all.span.bytes.extracting(start..<start + count))
  }

  // MARK: - Entries

  /// The entry of a record, appended to the bytes.
  @inline(__always)
  private func entry(_ position: Int, _ key: RawSpan, _ record: FieldRecord) throws -> Entry {
    try parts[position].entry(key, record, &bytes, &wholeValues)
  }

  /// The entries of a record's elements, sorted, each once.
  private func elements(_ position: Int, _ key: RawSpan, _ record: FieldRecord) throws -> [Entry] {
    var entries: [Entry] = []
    let fields = parts[position].fields
    let isAbsent = try fields.forEachElement(record) { element in
      entries.append(parts[position].entry(of: element, key, record, &bytes, &wholeValues))
    }
    if isAbsent { parts[position].kinds.noteAbsent(in: 0) }
    entries.sort(by: isBefore)
    var last: Entry?
    return entries.filter { entry in
      defer { last = entry }
      return last.map { !isEqual($0, entry) } ?? true
    }
  }

  /// Notes that every entry of an identifier goes.
  private func removeAll(_ position: Int, _ key: RawSpan, _ transaction: any ReadTransaction) throws {
    let definition = parts[position].item.definition
    let range =
      definition.isOfReferences
      ? KeyLayout.references(isHashed: definition.isHashed)
      : KeyLayout.entries(tag: KeyLayout.tag(inRecordKey: key), index: parts[position].item.id)
    var found: [Entry] = []
    try transaction.scan(range, .forward) { entry, value in
      guard definition.isOfReferences ? isReferrer(key, in: entry) : isOf(key, entry, value) else {
        return .continue
      }
      let start = bytes.bytes.count
      entry.withUnsafeBytes { bytes.bytes.append(contentsOf: $0) }
      found.append(
        Entry(start: start, keyCount: entry.byteCount, valueCount: 0, order: 0, isUnique: false))
      return .continue
    }
    for var entry in found {
      entry.order = order(of: entry, behind: parts[position].prefixByteCount)
      parts[position].removed.append(entry)
    }
  }

  private func isOf(_ key: RawSpan, _ entry: RawSpan, _ value: RawSpan) -> Bool {
    guard let place = IndexBatch.identifierPlace(value), place <= entry.byteCount else { return false }
    return compareKeys(entry.extracting(place...), key.extracting(KeyLayout.identifierOffset...)) == 0
  }

  func order(of entry: Entry, behind prefix: Int) -> UInt64 {
    let all = bytes.bytes
    return IndexBatch.order(of: entry, behind: prefix, in: all.span.bytes)
  }

  /// Where in an entry's key the identifier begins; nil where its value is damaged.
  static func identifierPlace(_ value: RawSpan) -> Int? {
    guard value.byteCount > 0 else { return nil }
    return KeyLayout.indexPrefixByteCount + Int(value.unsafeLoad(as: UInt8.self))
  }

  // MARK: - Looking

  /// Lends every entry that was gathered for an index, and begins anew.
  func takeEntries(_ position: Int, _ visit: (RawSpan, RawSpan) throws -> Void) rethrows {
    let all = bytes.bytes
    for entry in parts[position].added {
      let middle = entry.start + entry.keyCount
      try visit(
        all.span.bytes.extracting(entry.start..<middle),
        all.span.bytes.extracting(middle..<middle + entry.valueCount))
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
  func sort() {
    if isSorted { return }
    for position in parts.indices {
      sort(&parts[position].added, behind: parts[position].prefixByteCount)
      sort(&parts[position].removed, behind: parts[position].prefixByteCount)
    }
    isSorted = true
  }

  private func sort(_ entries: inout [Entry], behind prefix: Int) {
    if entries.count < 2 { return }
    let all = bytes.bytes
    let span = all.span.bytes
    if entries.count >= 32 {
      let place = prefix + commonByteCount(entries, behind: prefix)
      for index in entries.indices {
        entries[index].order = IndexBatch.order(of: entries[index], behind: place, in: span)
      }
    }
    entries.sort { left, right in
      if left.order != right.order { return left.order < right.order }
      return compareKeys(
        span.extracting(left.start..<left.start + left.keyCount),
        span.extracting(right.start..<right.start + right.keyCount)) < 0
    }
  }

  /// How many bytes all keys have in common behind those that they have in any case.
  private func commonByteCount(_ entries: [Entry], behind prefix: Int) -> Int {
    let all = bytes.bytes
    let span = all.span.bytes
    let first = entries[0]
    var count = first.keyCount - prefix
    for entry in entries.dropFirst() {
      count = min(count, entry.keyCount - prefix)
      var place = 0
      while place < count,
        span.unsafeLoad(fromByteOffset: first.start + prefix + place, as: UInt8.self)
          == span.unsafeLoad(fromByteOffset: entry.start + prefix + place, as: UInt8.self)
      { place += 1 }
      count = place
    }
    return max(count, 0)
  }

  /// Makes the changes, those that remove first, and begins anew. Returns the catalog where it has to say more of the entries.
  func make(in transaction: any WriteTransaction) throws -> IndexCatalog? {
    defer { reset() }
    var items = catalog.items
    var isChanged = false
    placed.removeAll(keepingCapacity: true)
    sort()
    for position in parts.indices {
      for entry in parts[position].removed {
        try withBytes(entry.start, entry.keyCount) { try transaction.remove($0) }
      }
      for entry in parts[position].added {
        let middle = entry.start + entry.keyCount
        placed.append(PlacedEntry(key: entry.start..<middle, value: middle..<middle + entry.valueCount))
      }
      if !items[position].kinds.isSuperset(of: parts[position].kinds) {
        items[position].kinds.formUnion(parts[position].kinds)
        isChanged = true
      }
    }
    if !placed.isEmpty {
      let all = bytes.bytes
      try transaction.putAll(placed, in: all.span.bytes)
    }
    return isChanged ? IndexCatalog(items) : nil
  }
}

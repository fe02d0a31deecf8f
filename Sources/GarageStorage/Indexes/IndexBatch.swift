internal import GarageCoding
internal import GarageDriver

/// The entries that come and go with a batch of records: gathered first, checked then, and made in key order.
///
/// ```
/// key    | 20 | tag 8 | index 8 | values ≤ 240 | identifier ≤ 240 |    values: OrderedBytes; the rest as in the record's key
/// value  | length of the values 1 | concrete tag, 0 or 8 |             the record's, where it has one
/// ```
/// Where values are hashed, the first 16 bytes of the HMAC-SHA-256 of theirs stand behind 10; where one of them is absent or
/// cannot be told, 0F stands alone. It belongs to one thread.
final class IndexBatch {
  static let hashKind: UInt8 = 0x10

  /// An entry, among the bytes: its key, and the value behind it.
  struct Entry {
    var start: Int
    var keyCount: Int
    var valueCount: Int
    /// The first bytes of the values, which decide most comparisons.
    var order: UInt64
    /// Whether no other record may have the same: the index is unique, and no value is nil or cannot be told.
    var isUnique: Bool
  }

  /// An index, and what changes of it.
  struct Part {
    let item: IndexCatalog.Item
    let fields: IndexedFields
    let hash: KeyedHash?
    /// Whether a record may have several entries.
    let isOfMany: Bool
    /// What stands in every entry before what decides the order.
    let prefixByteCount: Int
    var added: [Entry] = []
    var removed: [Entry] = []
    var kinds = IndexedFields.Kinds()
  }

  let catalog: IndexCatalog
  /// Whether entries are written although they are there: another process may take them away behind unsaved changes.
  var writesAll = false
  let keys: ObjectKeys
  let texts: StoreTexts
  var parts: [Part]
  var bytes = OrderedBytes()
  /// The entries that are put at once; used again.
  private var placed: [PlacedEntry] = []
  /// The whole values of entries of unique indexes where they stand cut or hashed, by the place of the entry.
  var wholeValues: [Int: [UInt8]] = [:]

  init(_ catalog: IndexCatalog, _ keys: ObjectKeys, _ texts: StoreTexts) {
    self.catalog = catalog
    self.keys = keys
    self.texts = texts
    parts = catalog.items.map { item in
      Part(
        item: item,
        fields: IndexedFields(item.definition.components, typeVersion: item.definition.typeVersion),
        hash: item.definition.isHashed ? KeyedHash(key: item.hashKey) : nil,
        isOfMany: item.definition.isEach || item.definition.isOfReferences,
        prefixByteCount: item.definition.isOfReferences ? 1 : KeyLayout.indexPrefixByteCount)
    }
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
    let isReadable = try withFields(key, record, transaction) { record in
      for position in positions { try compare(position, key, nil, record) }
    }
    if isReadable { return }
    // Queries meet it, and say what is wrong with it.
    for position in positions where !parts[position].item.definition.isOfReferences {
      let entry = begin(position, key)
      appendOther(position)
      parts[position].added.append(end(entry, key, nil, isUnique: false))
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
    let start = bytes.bytes.count
    let before = try old.map { try entry(position, key, $0) }
    let after = try new.map { try entry(position, key, $0) }
    if let before, let after, isEqual(before, after) {
      if writesAll { return parts[position].added.append(after) }
      bytes.bytes.removeLast(bytes.bytes.count - start)
      return
    }
    if let before { parts[position].removed.append(before) }
    if let after { parts[position].added.append(after) }
  }

  /// The same where a record has an entry for each of its elements, or for each that it refers to.
  private func compareAll(
    _ position: Int, _ key: RawSpan, _ old: FieldRecord?, _ new: FieldRecord?
  ) throws {
    let isOfReferences = parts[position].item.definition.isOfReferences
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

  /// Begins an entry; returns where it stands.
  private func begin(_ position: Int, _ key: RawSpan) -> Int {
    let start = bytes.bytes.count
    bytes.bytes.append(KeyLayout.Space.index.rawValue)
    bytes.append(bigEndian: KeyLayout.tag(inRecordKey: key))
    bytes.append(bigEndian: parts[position].item.id)
    return start
  }

  /// Ends an entry, whose values stand there.
  private func end(_ start: Int, _ key: RawSpan, _ record: FieldRecord?, isUnique: Bool) -> Entry {
    let valuesCount = bytes.bytes.count - start - KeyLayout.indexPrefixByteCount
    key.extracting(KeyLayout.identifierOffset...).withUnsafeBytes { bytes.bytes.append(contentsOf: $0) }
    let keyEnd = bytes.bytes.count
    bytes.bytes.append(UInt8(valuesCount))
    if let concreteTag = record?.concreteTag { bytes.append(bigEndian: concreteTag) }
    var entry = Entry(
      start: start, keyCount: keyEnd - start, valueCount: bytes.bytes.count - keyEnd, order: 0,
      isUnique: isUnique)
    entry.order = order(of: entry, behind: KeyLayout.indexPrefixByteCount)
    return entry
  }

  private func appendOther(_ position: Int) {
    let definition = parts[position].item.definition
    for field in 0..<(definition.isHashed ? 1 : definition.components.count) {
      bytes.appendOther()
      parts[position].kinds.note(OrderedBytes.Kind.other, in: field)
    }
  }

  /// The entry of a record, appended to the bytes.
  private func entry(_ position: Int, _ key: RawSpan, _ record: FieldRecord) throws -> Entry {
    let start = begin(position, key)
    let kinds = try parts[position].fields.append(record, to: &bytes)
    return finish(position, start, key, record, kinds)
  }

  private func finish(
    _ position: Int, _ start: Int, _ key: RawSpan, _ record: FieldRecord, _ kinds: IndexedFields.Kinds
  ) -> Entry {
    let valuesStart = start + KeyLayout.indexPrefixByteCount
    let isUnique = parts[position].item.definition.isUnique && !kinds.hasNull && !kinds.hasOther
    let whole = isUnique ? Array(bytes.bytes[valuesStart...]) : []
    var isWhole = true
    if parts[position].hash != nil {
      isWhole = false
      hash(position, from: valuesStart, kinds)
    } else if bytes.cut(from: valuesStart) {
      isWhole = false
    }
    if isUnique && !isWhole { wholeValues[start] = whole }
    parts[position].kinds.formUnion(kinds)
    return end(start, key, record, isUnique: isUnique)
  }

  /// Puts the hash of values in their place.
  private func hash(_ position: Int, from start: Int, _ kinds: IndexedFields.Kinds) {
    let values = Array(bytes.bytes[start...])
    bytes.bytes.removeLast(values.count)
    guard let hash = parts[position].hash, !kinds.hasAbsent, !kinds.hasOther else {
      return bytes.appendOther()
    }
    bytes.bytes += IndexBatch.hashed(values, hash)
  }

  /// What stands in place of values that are hashed.
  static func hashed(_ values: [UInt8], _ hash: KeyedHash) -> [UInt8] {
    [hashKind] + values.withUnsafeBytes { hash.digest(of: $0) }.prefix(KeyedHash.byteCount)
  }

  /// The entries of a record's elements, sorted, each once.
  private func elements(_ position: Int, _ key: RawSpan, _ record: FieldRecord) throws -> [Entry] {
    var entries: [Entry] = []
    let isAbsent = try parts[position].fields.forEachElement(record) { element in
      let start = begin(position, key)
      if let element { bytes.append(element) } else { bytes.appendOther() }
      var kinds = IndexedFields.Kinds()
      kinds.note(bytes.bytes[start + KeyLayout.indexPrefixByteCount], in: 0)
      entries.append(finish(position, start, key, record, kinds))
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

  /// The first bytes of an entry's values as a number. Zeros stand for what is behind the key's end.
  func order(of entry: Entry, behind prefix: Int) -> UInt64 {
    if entry.keyCount >= prefix + 8 {
      return withBytes(entry.start + prefix, 8) { UInt64(bigEndian: $0.unsafeLoadUnaligned(as: UInt64.self)) }
    }
    var order: UInt64 = 0
    for place in prefix..<prefix + 8 {
      order = order << 8 | (place < entry.keyCount ? UInt64(bytes.bytes[entry.start + place]) : 0)
    }
    return order
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

  func sort(_ position: Int) {
    if parts[position].added.count > 1 { parts[position].added.sort(by: isBefore) }
    if parts[position].removed.count > 1 { parts[position].removed.sort(by: isBefore) }
  }

  /// Makes the changes, those that remove first, and begins anew. Returns the catalog where it has to say more of the entries.
  func make(in transaction: any WriteTransaction) throws -> IndexCatalog? {
    defer { reset() }
    var items = catalog.items
    var isChanged = false
    placed.removeAll(keepingCapacity: true)
    for position in parts.indices {
      sort(position)
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

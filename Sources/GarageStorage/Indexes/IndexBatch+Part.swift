internal import GarageCoding
internal import GarageDriver

// One index in a batch, and how its entries are made.

extension IndexBatch {
  /// An entry, among the bytes: its key, and the value behind it.
  struct Entry {
    var start: Int
    var keyCount: Int
    var valueCount: Int
    /// The first bytes of the values, which decide most comparisons; once sorted, the first in which they differ.
    var order: UInt64
    /// Whether no other record may have the same: the index is unique, and no value is nil or cannot be told.
    var isUnique: Bool
  }

  /// An index, and what changes of it.
  struct Part {
    let item: IndexCatalog.Item
    let fields: IndexedFields
    let hash: KeyedHash?
    let isUnique: Bool
    let isOfReferences: Bool
    /// Whether a record may have several entries.
    let isOfMany: Bool
    /// What stands in every entry before what decides the order.
    let prefixByteCount: Int
    var added: [Entry] = []
    var removed: [Entry] = []
    var kinds = IndexedFields.Kinds()
    /// What entries of records under the tag met last begin with.
    private var prefix: (tag: UInt64, bytes: [UInt8]) = (0, [])

    init(_ item: IndexCatalog.Item) {
      let definition = item.definition
      self.item = item
      fields = IndexedFields(definition.components, typeVersion: definition.typeVersion)
      hash = definition.isHashed ? KeyedHash(key: item.hashKey) : nil
      isUnique = definition.isUnique
      isOfReferences = definition.isOfReferences
      isOfMany = definition.isEach || definition.isOfReferences
      prefixByteCount = definition.isOfReferences ? 1 : KeyLayout.indexPrefixByteCount
    }
  }

  /// What stands in place of values that are hashed.
  static func hashed(_ values: [UInt8], _ hash: KeyedHash) -> [UInt8] {
    [hashKind] + values.withUnsafeBytes { hash.digest(of: $0) }.prefix(KeyedHash.byteCount)
  }

  /// The first bytes of an entry's values as a number. Zeros stand for what is behind the key's end.
  static func order(of entry: Entry, behind prefix: Int, in bytes: RawSpan) -> UInt64 {
    if entry.keyCount >= prefix + 8 {
      return UInt64(
        bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: entry.start + prefix, as: UInt64.self))
    }
    var order: UInt64 = 0
    for place in prefix..<prefix + 8 {
      let byte =
        place < entry.keyCount ? bytes.unsafeLoad(fromByteOffset: entry.start + place, as: UInt8.self) : 0
      order = order << 8 | UInt64(byte)
    }
    return order
  }
}

extension IndexBatch.Part {
  typealias Entry = IndexBatch.Entry

  /// The entry of a record, appended to the bytes.
  ///
  /// - Parameter whole: gets the values where they stand cut or hashed and have to be unique.
  mutating func entry(
    _ key: RawSpan, _ record: FieldRecord, _ bytes: inout OrderedBytes, _ whole: inout [Int: [UInt8]]
  ) throws -> Entry {
    let start = begin(key, &bytes)
    let kinds = try fields.append(record, to: &bytes)
    return finish(start, key, record, kinds, &bytes, &whole)
  }

  /// The entry of one element of a record; nil stands for one that cannot be told.
  mutating func entry(
    of element: FieldValue?, _ key: RawSpan, _ record: FieldRecord, _ bytes: inout OrderedBytes,
    _ whole: inout [Int: [UInt8]]
  ) -> Entry {
    let start = begin(key, &bytes)
    if let element { bytes.append(element) } else { bytes.appendOther() }
    var kinds = IndexedFields.Kinds()
    kinds.note(bytes.bytes[start + KeyLayout.indexPrefixByteCount], in: 0)
    return finish(start, key, record, kinds, &bytes, &whole)
  }

  /// The entry of a record that cannot be read.
  mutating func unreadable(_ key: RawSpan, _ bytes: inout OrderedBytes) -> Entry {
    let start = begin(key, &bytes)
    for field in 0..<(hash == nil ? item.definition.components.count : 1) {
      bytes.appendOther()
      kinds.note(OrderedBytes.Kind.other, in: field)
    }
    return end(start, key, nil, isUnique: false, &bytes)
  }

  /// Begins an entry; returns where it stands.
  @inline(__always)
  private mutating func begin(_ key: RawSpan, _ bytes: inout OrderedBytes) -> Int {
    let start = bytes.bytes.count
    let tag = KeyLayout.tag(inRecordKey: key)
    if prefix.tag != tag || prefix.bytes.isEmpty {
      prefix = (tag, KeyLayout.indexPrefix(tag: tag, index: item.id))
    }
    bytes.bytes.append(contentsOf: prefix.bytes)
    return start
  }

  @inline(__always)
  private mutating func finish(
    _ start: Int, _ key: RawSpan, _ record: FieldRecord, _ kinds: IndexedFields.Kinds,
    _ bytes: inout OrderedBytes, _ whole: inout [Int: [UInt8]]
  ) -> Entry {
    let valuesStart = start + KeyLayout.indexPrefixByteCount
    let isUnique = isUnique && !kinds.hasNull && !kinds.hasOther
    if hash != nil || bytes.bytes.count - valuesStart > OrderedBytes.uncutByteCount {
      if isUnique { whole[start] = Array(bytes.bytes[valuesStart...]) }
      shorten(from: valuesStart, kinds, &bytes)
    }
    self.kinds.formUnion(kinds)
    return end(start, key, record, isUnique: isUnique, &bytes)
  }

  /// Puts in the place of values their hash, or as much of them as keys have room for.
  private func shorten(from start: Int, _ kinds: IndexedFields.Kinds, _ bytes: inout OrderedBytes) {
    guard let hash else {
      bytes.cut(from: start)
      return
    }
    let values = Array(bytes.bytes[start...])
    bytes.bytes.removeLast(values.count)
    if kinds.hasAbsent || kinds.hasOther {
      bytes.appendOther()
    } else {
      bytes.bytes += IndexBatch.hashed(values, hash)
    }
  }

  /// Ends an entry, whose values stand there.
  @inline(__always)
  private func end(
    _ start: Int, _ key: RawSpan, _ record: FieldRecord?, isUnique: Bool, _ bytes: inout OrderedBytes
  ) -> Entry {
    let valuesCount = bytes.bytes.count - start - KeyLayout.indexPrefixByteCount
    key.extracting(KeyLayout.identifierOffset...).withUnsafeBytes { bytes.bytes.append(contentsOf: $0) }
    let keyEnd = bytes.bytes.count
    bytes.bytes.append(UInt8(valuesCount))
    if let concreteTag = record?.concreteTag { bytes.append(bigEndian: concreteTag) }
    var entry = Entry(
      start: start, keyCount: keyEnd - start, valueCount: bytes.bytes.count - keyEnd, order: 0,
      isUnique: isUnique)
    entry.order = IndexBatch.order(
      of: entry, behind: KeyLayout.indexPrefixByteCount, in: bytes.bytes.span.bytes)
    return entry
  }
}

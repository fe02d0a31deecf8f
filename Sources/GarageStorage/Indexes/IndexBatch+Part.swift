internal import GarageCoding
internal import GarageDriver

// One index in a batch, and how its entries are made.

extension IndexBatch {
  /// An entry, among the bytes: its key, and the value behind it.
  struct Entry {
    var start: Int
    /// The first bytes of the values, which decide most comparisons; once sorted, the first in which they differ.
    var order: UInt64 = 0
    private let keyLength: UInt16
    private let valueLength: UInt8
    /// How many bytes of the key are the indexed values.
    private let valuesLength: UInt8
    /// Whether no other record may have the same values: the index is unique, and none of its values is nil or unknown.
    var isUnique = false
    /// In the index of references: the place of the target's tag among those met. Only to be compared.
    var target: UInt16 = 0
    static let unknownTarget = UInt16.max

    init(start: Int, keyCount: Int, valueCount: Int, valuesCount: Int = 0) {
      self.start = start
      keyLength = UInt16(keyCount)
      valueLength = UInt8(valueCount)
      valuesLength = UInt8(valuesCount)
    }

    var keyCount: Int { Int(keyLength) }
    var valueCount: Int { Int(valueLength) }
    var valuesCount: Int { Int(valuesLength) }
  }

  /// An index, and what changes of it.
  final class Part {
    let item: IndexCatalog.Item
    private let id: UInt64
    let fields: IndexedFields
    let hash: KeyedHash?
    let isUnique: Bool
    /// Whether values are unique only among the objects of a subclass.
    private let isOfSubclass: Bool
    let isOfReferences: Bool
    /// Whether a record may have several entries.
    let isOfMany: Bool
    /// The bytes that stand in every entry before those that decide the order.
    let prefixByteCount: Int
    /// Whether entries that have different tags in that prefix may meet in a batch.
    let hasSeveralTags: Bool
    @exclusivity(unchecked) var added: [Entry] = []
    @exclusivity(unchecked) var removed: [Entry] = []
    /// Those of records that go or are replaced and could not be read, so that nobody knows their entries.
    @exclusivity(unchecked) var unreadableKeys: Set<StorageKey> = []
    @exclusivity(unchecked) var kinds = IndexedFields.Kinds()
    /// Where in the keys of `added`, once sorted, the bytes stand that are in their `order`; and in those of `removed`.
    @exclusivity(unchecked) var orderPlace: Int
    @exclusivity(unchecked) var removedOrderPlace: Int
    /// The tags that are referred to, in the order in which they are met. Each entry of the index has the place of its own.
    @exclusivity(unchecked) private var targets: [UInt64] = []
    @exclusivity(unchecked) private var lastTarget: (tag: UInt64, place: UInt16)?
    /// Which classes are known to be the one whose values are unique, or below it.
    @exclusivity(unchecked) private var areOfClass: [UInt64: Bool] = [:]
    /// Whether fields that are absent are taken from older keys, which not all classes may do.
    let hasOlderKeys: Bool
    /// Which classes are known to have none of the aliases that the index follows.
    @exclusivity(unchecked) private var areWithoutAliases: [UInt64: Bool] = [:]

    init(_ item: IndexCatalog.Item) {
      let definition = item.definition
      self.item = item
      id = item.id
      fields = IndexedFields(definition.components, typeVersion: definition.typeVersion)
      hash = definition.isHashed ? KeyedHash(key: item.hashKey) : nil
      isUnique = definition.isUnique
      isOfSubclass = !definition.classTags.isEmpty
      hasOlderKeys = definition.hasOlderKeys
      isOfReferences = definition.isOfReferences
      isOfMany = definition.isEach || definition.isOfReferences
      prefixByteCount = definition.isOfReferences ? 1 : KeyLayout.indexPrefixByteCount
      hasSeveralTags = definition.tags.count > 1
      orderPlace = prefixByteCount
      removedOrderPlace = prefixByteCount
    }

    func reset() {
      added.removeAll(keepingCapacity: true)
      removed.removeAll(keepingCapacity: true)
      if !unreadableKeys.isEmpty { unreadableKeys = [] }
      kinds = IndexedFields.Kinds()
      orderPlace = prefixByteCount
      removedOrderPlace = prefixByteCount
    }

    /// The place of a tag among those that are referred to.
    func target(_ tag: UInt64) -> UInt16 {
      if let lastTarget, lastTarget.tag == tag { return lastTarget.place }
      let place = targets.firstIndex(of: tag) ?? targets.count
      // Among more it would take long to find one.
      if place >= 64 { return Entry.unknownTarget }
      if place == targets.count { targets.append(tag) }
      lastTarget = (tag, UInt16(place))
      return UInt16(place)
    }

    /// Whether values are unique among records of the class with that tag; nil is the topmost class. A class that this process
    /// does not know counts as one of those: it is better to refuse a value than to have it twice.
    func isUnique(among concreteTag: UInt64?) -> Bool {
      if !isOfSubclass || !isUnique { return isUnique }
      guard let concreteTag else { return false }
      if let known = areOfClass[concreteTag] { return known }
      guard let isOfClass = TypeTag.isOfClass(concreteTag, item.definition.classTags) else {
        return true
      }
      areOfClass[concreteTag] = isOfClass
      return isOfClass
    }

    /// Whether the values that the index has of a record are those of its object. Each class of a hierarchy has its own aliases, and
    /// an index follows those of the class that declares it. Of a class that this process does not know they count as such.
    func hasOwnValues(_ record: FieldRecord) throws -> Bool {
      guard hasOlderKeys, let concreteTag = record.concreteTag, isWithoutAliases(concreteTag) else {
        return true
      }
      return try fields.haveOwnNames(in: record)
    }

    private func isWithoutAliases(_ concreteTag: UInt64) -> Bool {
      if let known = areWithoutAliases[concreteTag] { return known }
      let types = TypeTag.types(withDigest: concreteTag).map { try? RecordTypeFacts.met($0) }
      if types.isEmpty { return false }
      let isWithout = types.allSatisfy { facts in
        facts.map { item.definition.takesOthers(than: $0) } ?? false
      }
      areWithoutAliases[concreteTag] = isWithout
      return isWithout
    }

    /// Whether the whole values of an entry may be kept beside it, which are those that stand cut or hashed.
    @inline(__always)
    func mayKeepWhole(_ entry: Entry) -> Bool {
      isUnique && (entry.valuesCount > OrderedBytes.uncutByteCount || hash != nil)
    }

    // MARK: - Entries

    /// The entry of a record, appended to the bytes.
    ///
    /// - Parameter whole: gets the values where they stand cut or hashed and have to be unique.
    func entry(
      _ key: RawSpan, _ record: FieldRecord, _ bytes: inout OrderedBytes, _ whole: inout [Int: [UInt8]]
    ) throws -> Entry {
      let identifier = key.extracting(KeyLayout.identifierOffset...)
      let prefix = KeyLayout.entryPrefix(tag: KeyLayout.tag(inRecordKey: key), index: id)
      if hash == nil,
        let plain = try fields.appendPlainEntry(behind: prefix, record, identifier: identifier, to: &bytes)
      {
        kinds.formUnion(plain.kinds)
        return plainEntry(plain.valuesCount, plain.kinds, identifier.byteCount, bytes)
      }
      let start = begin(key, &bytes)
      let kinds = try fields.append(record, to: &bytes)
      return try finish(start, key, record, kinds, &bytes, &whole)
    }

    /// The entry of one element of a record; nil stands for an element whose value is unknown.
    func entry(
      of element: FieldValue?, _ key: RawSpan, _ record: FieldRecord, _ bytes: inout OrderedBytes,
      _ whole: inout [Int: [UInt8]]
    ) throws -> Entry {
      let start = begin(key, &bytes)
      if let element { bytes.append(element) } else { bytes.appendOther() }
      var kinds = IndexedFields.Kinds()
      kinds.note(bytes[start + KeyLayout.indexPrefixByteCount], in: 0)
      return try finish(start, key, record, kinds, &bytes, &whole)
    }

    /// The entry of a record that cannot be read.
    func unreadable(_ key: RawSpan, _ bytes: inout OrderedBytes) -> Entry {
      let start = begin(key, &bytes)
      for field in 0..<(hash == nil ? item.definition.components.count : 1) {
        bytes.appendOther()
        kinds.note(OrderedBytes.Kind.other, in: field)
      }
      return end(start, key, nil, isUnique: false, &bytes)
    }

    /// Begins an entry; returns where it stands.
    private func begin(_ key: RawSpan, _ bytes: inout OrderedBytes) -> Int {
      let start = bytes.count
      KeyLayout.appendIndexPrefix(tag: KeyLayout.tag(inRecordKey: key), index: id, to: &bytes)
      return start
    }

    private func finish(
      _ start: Int, _ key: RawSpan, _ record: FieldRecord, _ kinds: IndexedFields.Kinds,
      _ bytes: inout OrderedBytes, _ whole: inout [Int: [UInt8]]
    ) throws -> Entry {
      let valuesStart = start + KeyLayout.indexPrefixByteCount
      let isUnique =
        try isUnique(among: record.concreteTag) && !kinds.hasNull && !kinds.hasOther && hasOwnValues(record)
      if hash != nil || bytes.count - valuesStart > OrderedBytes.uncutByteCount {
        if isUnique { whole[start] = Array(bytes.all[valuesStart...]) }
        shorten(from: valuesStart, kinds, &bytes)
      }
      self.kinds.formUnion(kinds)
      return end(start, key, record, isUnique: isUnique, &bytes)
    }

    /// Replaces values by their hash, or by as much of them as keys have room for.
    private func shorten(from start: Int, _ kinds: IndexedFields.Kinds, _ bytes: inout OrderedBytes) {
      guard let hash else {
        bytes.cut(from: start)
        return
      }
      let values = Array(bytes.all[start...])
      bytes.truncate(to: start)
      if kinds.hasAbsent || kinds.hasOther {
        bytes.appendOther()
      } else {
        bytes.append(IndexBatch.hashed(values, hash))
      }
    }

    /// The entry that was just appended as a whole.
    @inline(__always)
    private func plainEntry(
      _ valuesCount: Int, _ kinds: IndexedFields.Kinds, _ identifierCount: Int,
      _ bytes: borrowing OrderedBytes
    ) -> Entry {
      let keyCount = KeyLayout.indexPrefixByteCount + valuesCount + identifierCount
      var entry = Entry(
        start: bytes.count - keyCount - 1, keyCount: keyCount, valueCount: 1, valuesCount: valuesCount)
      entry.isUnique = isUnique && !isOfSubclass && !kinds.hasNull
      entry.order = IndexBatch.order(of: entry, behind: KeyLayout.indexPrefixByteCount, in: bytes.all)
      return entry
    }

    /// Ends an entry, whose values stand there.
    private func end(
      _ start: Int, _ key: RawSpan, _ record: FieldRecord?, isUnique: Bool, _ bytes: inout OrderedBytes
    ) -> Entry {
      let valuesCount = bytes.count - start - KeyLayout.indexPrefixByteCount
      bytes.append(key.extracting(KeyLayout.identifierOffset...))
      let keyEnd = bytes.count
      bytes.append(UInt8(valuesCount))
      if let concreteTag = record?.concreteTag { bytes.append(bigEndian: concreteTag) }
      var entry = Entry(
        start: start, keyCount: keyEnd - start, valueCount: bytes.count - keyEnd, valuesCount: valuesCount)
      entry.isUnique = isUnique
      entry.order = IndexBatch.order(of: entry, behind: KeyLayout.indexPrefixByteCount, in: bytes.all)
      return entry
    }
  }

  /// The bytes that stand in place of hashed values.
  static func hashed(_ values: [UInt8], _ hash: KeyedHash) -> [UInt8] {
    [hashKind] + values.withUnsafeBytes { hash.digest(of: $0) }.prefix(KeyedHash.byteCount)
  }

  /// The first bytes of an entry's values as a number. Zeros stand for what is behind the key's end.
  static func order(of entry: Entry, behind prefix: Int, in bytes: UnsafeRawBufferPointer) -> UInt64 {
    if entry.keyCount >= prefix + 8 {
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: entry.start + prefix, as: UInt64.self))
    }
    var order: UInt64 = 0
    for place in prefix..<prefix + 8 {
      order = order << 8 | UInt64(place < entry.keyCount ? bytes[entry.start + place] : 0)
    }
    return order
  }
}

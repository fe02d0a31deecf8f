internal import GarageCoding
internal import GarageDriver

/// What an index is made of, as the store keeps it: every process can maintain it, whatever its types.
///
/// ```
/// | tag 8 | flags 1 | version 4 | f 1 | f former tags of 8 bytes | c 1 | c fields | t 1 | t class tags of 8 bytes |
/// field   | flags 1 | k 1 | k keys | o 1 | o older keys |         keys: | length 2 | UTF-8 |
/// ```
/// Flags: 1 unique, 2 of each element, 4 hashed, 8 of references, 16 of a subclass, where alone class tags follow; of a field: 1
/// upper and lower case alike. Numbers are big-endian. The index of references has no fields, and 0 for a tag: it is of all records.
struct IndexDefinition: Hashable, Sendable {
  /// The identity space.
  var tag: UInt64
  /// Tags of the identity space before, whose records belong to the index as well.
  var formerTags: [UInt64] = []
  /// The version that the type has where the fields stand as they do.
  var typeVersion = 0
  var isUnique = false
  /// If values are unique only among the objects of a subclass: its tags, present and former. Empty for the whole identity
  /// space.
  var classTags: [UInt64] = []
  /// Whether there is an entry for each element of the only field.
  var isEach = false
  /// Whether a keyed hash stands in place of the values.
  var isHashed = false
  /// Whether there is an entry for each object that a record refers to.
  var isOfReferences = false
  var components: [IndexedFields.Component] = []

  /// The tags of the records that have entries; none where all records have.
  var tags: [UInt64] { isOfReferences ? [] : [tag] + formerTags }

  /// Whether it has one entry for each record, of one field as it is.
  var isOfOneField: Bool {
    components.count == 1 && !isEach && !isHashed && !isOfReferences && !components[0].ignoresCase
  }

  /// What names the index in keys: the digest of its definition.
  var id: UInt64 { bytes.withUnsafeBytes { ContentDigest.digest8(of: $0) } }

  /// Whether the other one is of the same fields, and this one of a later version or of other tags.
  func supersedes(_ other: IndexDefinition) -> Bool {
    tag == other.tag && components.map(\.path) == other.components.map(\.path) && isEach == other.isEach
      && isHashed == other.isHashed && components.map(\.ignoresCase) == other.components.map(\.ignoresCase)
      && self != other && typeVersion >= other.typeVersion && classTags.isEmpty == other.classTags.isEmpty
      && Set(classTags).isSuperset(of: other.classTags)
      && Set(formerTags).isSuperset(of: other.formerTags) && isUnique == other.isUnique
      && zip(components, other.components).allSatisfy { Set($0.olderKeys).isSuperset(of: $1.olderKeys) }
  }

  // MARK: - Bytes

  var bytes: [UInt8] {
    var writer = CatalogWriter()
    writer.put(tag)
    let isOfSubclass = !classTags.isEmpty
    writer.put(
      UInt8(
        (isUnique ? 1 : 0) | (isEach ? 2 : 0) | (isHashed ? 4 : 0) | (isOfReferences ? 8 : 0)
          | (isOfSubclass ? 16 : 0)))
    writer.put(UInt32(truncatingIfNeeded: typeVersion))
    writer.put(UInt8(formerTags.count))
    for tag in formerTags { writer.put(tag) }
    writer.put(UInt8(components.count))
    for component in components {
      writer.put(UInt8(component.ignoresCase ? 1 : 0))
      writer.put(component.path.keys)
      writer.put(component.olderKeys)
    }
    if isOfSubclass {
      writer.put(UInt8(classTags.count))
      for tag in classTags { writer.put(tag) }
    }
    return writer.bytes
  }

  /// Nil where the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = CatalogReader(bytes)
    guard let tag = reader.number(UInt64.self), let flags = reader.number(UInt8.self),
      let version = reader.number(UInt32.self), let formerCount = reader.number(UInt8.self)
    else { return nil }
    self.init(tag: tag, typeVersion: Int(version))
    (isUnique, isEach, isHashed) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
    isOfReferences = flags & 8 != 0
    guard let formerTags = reader.tags(formerCount) else { return nil }
    self.formerTags = formerTags
    guard let count = reader.number(UInt8.self) else { return nil }
    for _ in 0..<count {
      guard let flags = reader.number(UInt8.self), let keys = reader.texts(), let older = reader.texts()
      else { return nil }
      components.append(
        IndexedFields.Component(path: FieldPath(keys), olderKeys: older, ignoresCase: flags & 1 != 0))
    }
    if flags & 16 != 0 {
      guard isUnique, let count = reader.number(UInt8.self), count > 0, let classTags = reader.tags(count)
      else { return nil }
      self.classTags = classTags
    }
    if !reader.isAtEnd { return nil }
    let isOfFields = 1...IndexedFields.Kinds.maximumCount ~= components.count && flags & ~16 < 8
    let hasNone = components.isEmpty && formerTags.isEmpty && tag == 0 && (flags == 8 || flags == 12)
    if !isOfFields && !hasNone { return nil }
  }

  init(tag: UInt64, typeVersion: Int) {
    self.tag = tag
    self.typeVersion = typeVersion
  }
}

extension IndexDefinition {
  /// Whether it belongs to a type: to its identity space, and not to a sibling class.
  func concerns(_ facts: RecordTypeFacts) -> Bool {
    if tag != facts.tag { return false }
    return classTags.isEmpty || TypeTag.isOfClass(facts.ownTags[0], classTags) ?? true
      || classTags.contains { TypeTag.isOfClass($0, facts.ownTags) ?? true }
  }

  /// Whether its entries say of records in the present version of a type what objects of the type say.
  func tells(_ facts: RecordTypeFacts) -> Bool {
    typeVersion == facts.ofCoder.currentVersion && followsAliases(of: facts)
  }

  /// Whether what it takes from older keys, where a field is absent, is what objects of a type take from there: those of a type
  /// without the alias take nothing. What the type takes from further keys is absent in the index, and objects are asked for that.
  func followsAliases(of facts: RecordTypeFacts) -> Bool {
    // A loop: this is asked for each index of each query, and mostly there are no older keys.
    for component in components where !component.olderKeys.isEmpty {
      guard component.path.keys.count == 1,
        facts.ofCoder.ownOlderKeys(of: component.path.keys[0]).starts(with: component.olderKeys)
      else { return false }
    }
    return true
  }

  /// Whether objects of a type take nothing from any of the older keys that it takes fields from.
  func takesOthers(than facts: RecordTypeFacts) -> Bool {
    components.allSatisfy { component in
      guard component.path.keys.count == 1 else { return component.olderKeys.isEmpty }
      return Set(facts.ofCoder.olderKeys(of: component.path.keys[0])).isDisjoint(with: component.olderKeys)
    }
  }

  /// Whether it takes fields from older keys.
  var hasOlderKeys: Bool { components.contains { !$0.olderKeys.isEmpty } }

  /// Whether it takes the fields of another definition from the same keys.
  func hasSameKeys(as other: IndexDefinition) -> Bool { components == other.components }

  /// Where the records are that have entries, in the order in which they are filled in.
  var recordRanges: [StorageKeyRange] {
    isOfReferences ? [KeyLayout.allRecords] : tags.map { KeyLayout.records(tag: $0) }
  }

  /// Where the entries of these records are.
  var entryRanges: [StorageKeyRange] {
    if isOfReferences { return [KeyLayout.references(isHashed: isHashed)] }
    let id = id
    return tags.map { KeyLayout.entries(tag: $0, index: id) }
  }
}

/// Writes what the catalog is made of.
struct CatalogWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put<N: FixedWidthInteger>(_ number: N) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// The bytes behind their length, which takes two bytes.
  mutating func put(counted content: [UInt8]) {
    put(UInt16(truncatingIfNeeded: content.count))
    bytes += content
  }

  mutating func put(_ texts: [String]) {
    put(UInt8(truncatingIfNeeded: texts.count))
    for text in texts { put(counted: Array(text.utf8)) }
  }
}

/// Reads it again, and never more than there is.
struct CatalogReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ count: Int) -> [UInt8]? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func number<N: FixedWidthInteger>(_ type: N.Type) -> N? {
    take(N.bitWidth / 8).map { $0.reduce(0) { $0 << 8 | N(truncatingIfNeeded: $1) } }
  }

  mutating func tags(_ count: UInt8) -> [UInt64]? {
    var tags: [UInt64] = []
    for _ in 0..<count {
      guard let tag = number(UInt64.self) else { return nil }
      tags.append(tag)
    }
    return tags
  }

  mutating func counted() -> [UInt8]? { number(UInt16.self).flatMap { take(Int($0)) } }

  mutating func texts() -> [String]? {
    guard let count = number(UInt8.self) else { return nil }
    var texts: [String] = []
    for _ in 0..<count {
      guard let bytes = counted(), let text = String(validating: bytes, as: UTF8.self) else { return nil }
      texts.append(text)
    }
    return texts
  }
}

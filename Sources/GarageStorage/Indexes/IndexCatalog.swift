internal import GarageCoding
internal import GarageDriver

/// The indexes that a store has: one entry among its metadata.
///
/// ```
/// | version 1 | count 2 | indexes | check 8 |
/// index   | state 1 | kinds 16 | name | definition | tag place 1 | last key | hash key |     each | length 2 | bytes |
/// ```
/// States: 0 building, 1 ready, 2 dropping. Kinds are a number of 4 bytes for each of four fields, with a bit for each kind
/// of value that an entry may have there (`OrderedBytes.Kind`), and the highest one where the field may be absent.
/// `last key` is how far a filling has come, in the tag at that place among those of the definition. `check` is the first 8
/// bytes of the SHA-256 of all before it. Numbers are big-endian. The version is 2 where there is an index of references,
/// and 3 where a unique one is of a subclass, so that libraries which know of none do not write there.
final class IndexCatalog: Sendable {
  /// What is done with an index.
  enum State: UInt8, Sendable {
    /// All writes maintain it, and the records from before are being added.
    case building = 0
    /// Every record has its entries.
    case ready = 1
    /// Writes do not maintain it any more, and its entries are being removed.
    case dropping = 2
  }

  /// One index.
  struct Item: Sendable {
    var definition: IndexDefinition
    var id: UInt64
    var name: String
    var state: State
    /// The kinds of values that the entries may have.
    var kinds = IndexedFields.Kinds()
    /// How far the filling has come: in which of the tags, and behind which record's key.
    var tagPlace = 0
    var lastKey: [UInt8] = []
    /// Of the hash, where values are hashed.
    var hashKey: [UInt8] = []

    /// Names its entries. If values are hashed, the entries of the same index, dropped and made anew, have another name.
    var entriesID: UInt64 { hashKey.reduce(id) { $0 &* 31 &+ UInt64($1) } }

    init(_ definition: IndexDefinition, name: String, state: State) {
      self.definition = definition
      id = definition.id
      self.name = name
      self.state = state
    }
  }

  static let key = KeyLayout.metadata("indexes")
  private static let newestVersion: UInt8 = 3

  let bytes: [UInt8]
  let items: [Item]
  /// The indexes that writes maintain, by the tag of the record, as positions among the items.
  let maintained: [UInt64: [Int]]
  /// The indexes that queries use, by the tag of their type.
  let ready: [UInt64: [Item]]
  /// The indexes that are maintained for all tags: that of references.
  let maintainedForAll: [Int]
  /// The unique indexes that are being built: records that are not in them yet may have the values of a new one.
  let unfinishedUnique: [Int]

  private init(bytes: [UInt8], items: [Item]) {
    self.bytes = bytes
    self.items = items
    var maintained: [UInt64: [Int]] = [:]
    let kept = items.indices.filter { items[$0].state != .dropping }
    for index in kept {
      for tag in items[index].definition.tags { maintained[tag, default: []].append(index) }
    }
    let ofAll = kept.filter { items[$0].definition.isOfReferences }
    if !ofAll.isEmpty { for tag in maintained.keys { maintained[tag, default: []] += ofAll } }
    self.maintained = maintained
    ready = Dictionary(grouping: items.filter { $0.state == .ready }, by: \.definition.tag)
    maintainedForAll = ofAll
    unfinishedUnique = kept.filter { items[$0].state == .building && items[$0].definition.isUnique }
  }

  /// The positions of the indexes that writes maintain for records under a tag.
  @inline(__always)
  func positions(tag: UInt64) -> [Int] { maintained[tag] ?? maintainedForAll }

  convenience init(_ items: [Item]) {
    var writer = CatalogWriter()
    writer.put(IndexCatalog.version(of: items))
    writer.put(UInt16(items.count))
    for item in items {
      writer.put(item.state.rawValue)
      for field in 0..<IndexedFields.Kinds.maximumCount { writer.put(item.kinds.bits[field]) }
      writer.put(counted: Array(item.name.utf8))
      writer.put(counted: item.definition.bytes)
      writer.put(UInt8(item.tagPlace))
      writer.put(counted: item.lastKey)
      writer.put(counted: item.hashKey)
    }
    let digest = writer.bytes.withUnsafeBytes { ContentDigest.digest8(of: $0) }
    writer.put(digest)
    self.init(bytes: writer.bytes, items: items)
  }

  private static func version(of items: [Item]) -> UInt8 {
    if items.contains(where: { !$0.definition.classTags.isEmpty }) { return 3 }
    return items.contains { $0.definition.isOfReferences } ? 2 : 1
  }

  /// - Throws: ``GarageError/newerFormat(version:driver:)``, ``GarageError/damagedMetadata(driver:)``.
  convenience init(bytes: [UInt8], driver: String) throws {
    guard let items = IndexCatalog.items(bytes) else {
      if let version = bytes.first, version > IndexCatalog.newestVersion, IndexCatalog.isWhole(bytes) {
        throw GarageError.newerFormat(version: Int(version), driver: driver)
      }
      throw GarageError.damagedMetadata(driver: driver)
    }
    self.init(bytes: bytes, items: items)
  }

  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 11 else { return false }
    let digest = bytes.dropLast(8).withUnsafeBytes { ContentDigest.digest8(of: $0) }
    return withUnsafeBytes(of: digest.bigEndian) { $0.elementsEqual(bytes.suffix(8)) }
  }

  private static func items(_ bytes: [UInt8]) -> [Item]? {
    guard isWhole(bytes) else { return nil }
    var reader = CatalogReader(Array(bytes.dropLast(8)))
    guard let version = reader.number(UInt8.self), 1...newestVersion ~= version,
      let count = reader.number(UInt16.self)
    else { return nil }
    var items: [Item] = []
    for _ in 0..<count {
      guard let state = reader.number(UInt8.self).flatMap(State.init) else { return nil }
      var kinds = IndexedFields.Kinds()
      for field in 0..<IndexedFields.Kinds.maximumCount {
        guard let bits = reader.number(UInt32.self) else { return nil }
        kinds.bits[field] = bits
      }
      guard let name = reader.counted(), let definition = reader.counted().flatMap(IndexDefinition.init),
        let place = reader.number(UInt8.self), let lastKey = reader.counted(), let hashKey = reader.counted()
      else { return nil }
      var item = Item(definition, name: String(decoding: name, as: UTF8.self), state: state)
      item.kinds = kinds
      (item.tagPlace, item.lastKey, item.hashKey) = (Int(place), lastKey, hashKey)
      items.append(item)
    }
    return reader.isAtEnd ? items : nil
  }

  /// Whether it is the one that a transaction sees.
  func isStored(in transaction: any ReadTransaction) throws -> Bool {
    try transaction.withValue(for: IndexCatalog.key) { stored in
      guard let stored else { return false }
      let bytes = bytes
      return compareKeys(bytes.span.bytes, stored) == 0
    }
  }
}

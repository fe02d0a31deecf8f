internal import Synchronization

/// What the decoder knows of an ``Evolving`` type.
final class Evolution: @unchecked Sendable {
  // @unchecked: a metatype, which nothing changes.
  private let type: any Evolving.Type
  let version: Int
  /// The present keys and the older ones.
  private let aliases: [(key: String, older: [String])]
  /// All older keys.
  let olderKeys: [String]
  /// Whether a key without a value means another thing than no key: a mapped object's property is nil then.
  let countsAbsent: Bool
  private let known = Mutex<Prototype?>(nil)

  /// Nil for a type that is not `Evolving`.
  init?(_ type: Any.Type) {
    guard let type = type as? any Evolving.Type else { return nil }
    self.type = type
    version = max(0, type.version)
    aliases = type.propertyAliases.sorted { $0.key < $1.key }.map { (key: $0.key, older: $0.value) }
    olderKeys = aliases.flatMap(\.older)
    countsAbsent = type is any MappableObject.Type
  }

  /// The older keys of one, the preferred one first.
  func olderKeys(of key: String) -> [String] { aliases.first { $0.key == key }?.older ?? [] }

  /// Those of them that belong to no other key. In a value of the present version a key that is used again keeps what it has, and
  /// what two keys had before goes to one of them.
  func ownOlderKeys(of key: String) -> [String] {
    // What an ambiguous key has may come before what the keys behind it have.
    Array(
      olderKeys(of: key).prefix { older in
        !isPresent(older) && !aliases.contains { $0.key != key && $0.older.contains(older) }
      })
  }

  private func isPresent(_ key: String) -> Bool { aliases.contains { $0.key == key } }

  /// Makes the present form of a value of an older version.
  func upgrade(_ value: inout RecordValue, from version: Int) throws {
    var isAsItWas = false
    if version < self.version {
      let former = value
      try type.upgrade(&value, from: version)
      isAsItWas = value == former
    }
    if !aliases.isEmpty { rename(&value, isOfOlderVersion: isAsItWas) }
  }

  /// Gives fields their present keys.
  ///
  /// A key may also be the older key of another field. It counts as that only in values of older versions, or beside a key that
  /// no field has any more. A value that stands under its present key stays there.
  private func rename(_ value: inout RecordValue, isOfOlderVersion: Bool) {
    let isOlder =
      isOfOlderVersion || olderKeys.contains { key in !isPresent(key) && value[key] != nil }
    var filled: Set<String> = []
    var isComplete = !isOlder
    while !isComplete {
      isComplete = true
      for (key, older) in aliases where value[key] == nil && !filled.contains(key) {
        guard let old = older.first(where: { value[$0] != nil && !filled.contains($0) }) else { continue }
        value.rename(old, to: key)
        filled.insert(key)
        isComplete = false
      }
    }
    // The field had no value under its older key.
    if countsAbsent, case .map(var fields) = value {
      for (key, older) in aliases where fields[key] == nil && !fields.isWithoutValue(key) {
        let old = older.first { fields.isWithoutValue($0) && (isOfOlderVersion || !isPresent($0)) }
        if let old { fields.rename(old, to: key) }
      }
      value = .map(fields)
    }
    // The values that a superclass wrote into a container of its own.
    if value[PathKey.super.stringValue]?.fields != nil, var ancestor = value[PathKey.super.stringValue] {
      rename(&ancestor, isOfOlderVersion: isOfOlderVersion)
      value[PathKey.super.stringValue] = ancestor
    }
  }

  /// The type's prototype, encoded when it is first asked for; nil where it has none.
  func prototype(_ userInfo: [CodingUserInfoKey: any Sendable]) throws -> Prototype? {
    if let known = known.withLock({ $0 }) { return known.value == nil ? nil : known }
    // Users' code runs outside the lock.
    let value: (any Encodable)? = type.prototype
    let prototype = try value.map { try Prototype(of: $0, userInfo: userInfo) } ?? Prototype()
    return known.withLock { known in
      if known == nil { known = prototype }
      return known?.value == nil ? nil : known
    }
  }
}

/// The encoding of a prototype.
struct Prototype: Sendable {
  /// Nil where there is no prototype.
  var value: RecordValue?
  /// The objects it refers to: keys, which are tag and identifier, and records.
  var records: [(key: [UInt8], record: [UInt8])] = []

  init() {}

  init(of prototype: any Encodable, userInfo: [CodingUserInfoKey: any Sendable]) throws {
    let encoder = GraphEncoder(userInfo: userInfo)
    try EncodingCore.withCore(userInfo: userInfo) { core in
      let body = try core.body(of: prototype)
      guard let base = body.baseAddress else { return }
      let graph = core.graph
      let reader = BodyReader(
        base: base, shape: { graph.pointee.shapes[$0] },
        reference: { index in
          let reference = graph.pointee.references[index]
          return (graph.pointee.identity(of: reference), reference.kind)
        })
      value = try reader.value(at: 0, end: body.count)
      let behind = try encoder.encodeRecords(core, rootCount: 0) { _ in body }
      records = behind.recordsByKey
    }
  }

  /// The prototype's value at a coding path.
  func value(at path: some Sequence<any CodingKey>) -> RecordValue? {
    var value = value
    for key in path {
      if case .withSyncStatus(_, let inner) = value { value = inner }
      if case .versioned(_, let inner) = value { value = inner }
      if case .array = value, let index = key.intValue {
        value = value?[index]
      } else {
        value = value?[key.stringValue]
      }
    }
    return value
  }
}

/// A value of an `Evolving` type that is being decoded.
struct EvolvingScope {
  var evolution: Evolution
  /// The serial of its record.
  var recordSerial: UInt64
  /// How long the coding path to it is.
  var pathCount: Int
}

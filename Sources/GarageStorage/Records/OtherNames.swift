internal import GarageCoding
internal import GarageDriver

/// The keys that records of one object may have: under the tag of its type, and under those that the type had before.
struct OtherNames {
  /// The tags that were looked for, each with all of its type.
  private var names: [UInt64: [UInt64]] = [:]

  /// The tags under which objects with this one may have records, as far as their types are known.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  mutating func tags(beside tag: UInt64) throws -> [UInt64] {
    if let known = names[tag] { return known }
    var tags = [tag]
    for facts in try RecordTypeFacts.all(withTag: tag) {
      for other in facts.tags where facts.tags.contains(tag) && !tags.contains(other) { tags.append(other) }
    }
    for name in tags { names[name] = tags }
    return tags
  }

  /// The other keys that a record of the object with this one may have.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  mutating func keys(beside key: StorageKey) throws -> [StorageKey] {
    let bytes = key.bytes.span.bytes
    let tag = KeyLayout.tag(inRecordKey: bytes)
    let tags = try tags(beside: tag)
    if tags.count == 1 { return [] }
    return tags.filter { $0 != tag }.map { KeyLayout.record(tag: $0, sameIdentifierAs: bytes) }
  }
}

internal import GarageCoding
internal import GarageDriver

/// Takes the references to what is deleted out of other records, without decoding these.
struct Nullification {
  private let access: WriteAccess
  /// The keys by which what is deleted may be referred to, each with the record's own.
  private let targets: [StorageKey: StorageKey]

  init(_ access: WriteAccess, _ targets: [StorageKey: StorageKey]) {
    self.access = access
    self.targets = targets
  }

  private var reading: ReadAccess { access.reading }

  /// What is to become of one record.
  private struct Change {
    var content: RecordContent
    /// Where references went, in the order of the keys that led to them.
    var places: [[String]]
    /// One of the records that it referred to.
    var target: StorageKey
  }

  private func change(of key: StorageKey) throws -> Change? {
    guard let record = try access.transaction.value(for: key) else { return nil }
    let bytes = key.bytes
    var content = try reading.content(of: bytes.span.bytes, record.span.bytes)
    var found: StorageKey?
    let (rest, places) = try content.value.removingReferences { identity in
      let key = try access.garage.objectKeys.record(tag: identity.tag, identity.identifier)
      guard let target = targets[key] else { return false }
      found = target
      return true
    }
    guard let found else { return nil }
    content.value = rest
    return Change(
      content: content, places: places.sorted { $0.lexicographicallyPrecedes($1) }, target: found)
  }

  /// Who cannot do without a reference, and to which record; nil where all can. To be asked before anything is changed.
  func refusal(of referrers: Set<StorageKey>) throws -> (referrer: String, target: StorageKey)? {
    var needs: [String: Bool] = [:]
    for key in referrers.sorted() {
      guard let change = try change(of: key) else { continue }
      let identity = try reading.identity(ofRecord: key)
      let tag = change.content.header.concreteTag ?? identity.tag
      for place in change.places {
        let need = "\(tag) \(place)"
        let isNeeded = try needs[need] ?? isNeeded(place, tag)
        needs[need] = isNeeded
        if isNeeded {
          let text = try reading.text(ofRecord: key).joined(separator: " ")
          return ("\(text), whose \(FieldPath(place)) has to refer to something", change.target)
        }
      }
      // What identifies it is its content.
      if identity.identifier.kind == .digest {
        let text = try reading.text(ofRecord: key).joined(separator: " ")
        return ("\(text), which is identified by what it holds", change.target)
      }
    }
    return nil
  }

  func run(_ referrers: Set<StorageKey>) throws {
    if referrers.isEmpty { return }
    let time = Int64(access.garage.encoder.time)
    for key in referrers.sorted() {
      guard var change = try change(of: key) else { continue }
      let identity = try reading.identity(ofRecord: key)
      change.content.header.modificationTime = time
      let record = try change.content.record(tag: identity.tag, identifier: identity.identifier)
      let bytes = key.bytes
      try access.putRecord(record.span.bytes, for: bytes.span.bytes)
    }
  }

  /// Whether objects of the type with that tag are known to be none without that field.
  private func isNeeded(_ place: [String], _ tag: UInt64) throws -> Bool {
    func isNeeded<T: Codable>(_ type: T.Type) throws -> Bool {
      let path = FieldPath(place)
      if let isRequired = path.isRequired(in: type) { return isRequired }
      if let facts = try? RecordTypeFacts.of(type) { _ = try reading.takeFieldSample(type, facts) }
      return path.isRequired(in: type) ?? false
    }
    return try access.garage.knownTypes(tag: tag).contains { type in
      guard let type = type as? any Codable.Type else { return false }
      return try isNeeded(type)
    }
  }
}

extension Garage {
  /// The types whose objects bear a tag, as far as they are known.
  func knownTypes(tag: UInt64) -> [Any.Type] {
    (types.type(tag: tag).map { [$0 as Any.Type] } ?? []) + TypeTag.types(withDigest: tag)
  }
}

extension ReadAccess {
  /// The name of a record's type, and its identifier in quotation marks.
  func text(ofRecord key: StorageKey) throws -> [String] {
    let bytes = key.bytes
    let tag = KeyLayout.tag(inRecordKey: bytes.span.bytes)
    let identifier = try transaction.withReplaceableValue(
      for: bytes.span.bytes, isSealed: garage.objectKeys.isSealed
    ) { record in
      garage.objectKeys.identifierText(of: bytes.span.bytes, record)
    }
    return [try name(ofTag: tag) ?? hexadecimal(tag), "\"\(identifier)\""]
  }
}

internal import GarageCoding
internal import GarageDriver

/// Takes the references to what is deleted out of other records, without decoding these where it is known what their types take
/// in place of a reference. Where it is not, each record is decoded as it would be.
struct Nullification {
  private let access: WriteAccess
  /// The keys by which what is deleted may be referred to, each with the record's own.
  private let targets: [StorageKey: StorageKey]
  /// What types take, as far as it was asked for.
  private var substitutes: [Property: FieldPath.Substitute?] = [:]
  /// Where a nil stays in records that were decoded to find out.
  private var nullPlaces: [StorageKey: Set<[String]>] = [:]

  private struct Property: Hashable {
    let tag: UInt64
    let version: Int
    let place: [String]
    let isInPairs: Bool
  }

  init(_ access: WriteAccess, _ targets: [StorageKey: StorageKey]) {
    self.access = access
    self.targets = targets
  }

  private var reading: ReadAccess { access.reading }

  /// What is to become of one record.
  private struct Change {
    let tag: UInt64
    let identifier: Identifier
    var content: RecordContent
    /// Where references went, in the order of the keys that led to them.
    var places: [[String]]
    /// Those of them from where another value went with the reference.
    var pairs: Set<[String]>
    /// One of the records that it referred to.
    var target: StorageKey

    /// The tag of the object's class.
    var concreteTag: UInt64 { content.header.concreteTag ?? tag }

    func record() throws -> [UInt8] { try content.record(tag: tag, identifier: identifier) }
  }

  private func change(of key: StorageKey, leavingNullAt nullPlaces: Set<[String]>) throws -> Change? {
    guard let record = try access.transaction.value(for: key) else { return nil }
    let bytes = key.bytes
    var content = try reading.content(of: bytes.span.bytes, record.span.bytes)
    var found: StorageKey?
    let (rest, places, pairs) = try content.value.removingReferences(leavingNullAt: nullPlaces) { identity in
      let key = try access.garage.objectKeys.record(tag: identity.tag, identity.identifier)
      guard let target = targets[key] else { return false }
      found = target
      return true
    }
    guard let found else { return nil }
    content.value = rest
    let identity = try reading.identity(ofRecord: key)
    return Change(
      tag: identity.tag, identifier: identity.identifier, content: content,
      places: places.sorted { $0.lexicographicallyPrecedes($1) }, pairs: pairs, target: found)
  }

  /// Who cannot do without a reference, and to which record; nil where all can. To be asked before anything is changed.
  mutating func refusal(of referrers: Set<StorageKey>) throws -> (referrer: String, target: StorageKey)? {
    let trial = RecordTrial(reading)
    for key in referrers.sorted() {
      guard var change = try change(of: key, leavingNullAt: []) else { continue }
      func refusal(_ reason: String) throws -> (referrer: String, target: StorageKey) {
        (try reading.text(ofRecord: key).joined(separator: " ") + ", " + reason, change.target)
      }
      // What identifies it is its content.
      if change.identifier.kind == .digest { return try refusal("which is identified by what it holds") }
      var (isKnown, nulls) = (true, Set<[String]>())
      for place in change.places {
        switch try substitute(at: place, change) {
        case .absence: break
        case .null: nulls.insert(place)
        case .refused:
          return try refusal("whose \(FieldPath(place)) has to refer to something")
        case nil: isKnown = false
        }
      }
      if isKnown && nulls.isEmpty { continue }
      if !isKnown {
        let types = access.garage.knownTypes(tag: change.concreteTag)
        func isTaken() throws -> Bool { try trial.isTaken(try change.record(), for: key, as: types) }
        func leaveNull(at places: Set<[String]>) throws {
          if let other = try self.change(of: key, leavingNullAt: places) { change = other }
        }
        if !nulls.isEmpty { try leaveNull(at: nulls) }
        if try !isTaken() {
          nulls.formUnion(change.places.filter { $0.last != FieldPath.element })
          try leaveNull(at: nulls)
          if try !isTaken() {
            let places = change.places.map { "\(FieldPath($0))" }.joined(separator: ", ")
            return try refusal("whose \(places) has to refer to something")
          }
        }
      }
      nullPlaces[key] = nulls.isEmpty ? nil : nulls
    }
    return nil
  }

  mutating func run(_ referrers: Set<StorageKey>) throws {
    if referrers.isEmpty { return }
    let time = Int64(access.garage.encoder.time)
    for key in referrers.sorted() {
      guard var change = try change(of: key, leavingNullAt: nullPlaces[key] ?? []) else { continue }
      change.content.header.modificationTime = time
      let (bytes, record) = (key.bytes, try change.record())
      try access.putRecord(record.span.bytes, for: bytes.span.bytes)
    }
  }

  /// What an object's type takes in place of a field; nil where that is not known of the type.
  private mutating func substitute(at place: [String], _ change: Change) throws -> FieldPath.Substitute? {
    let property = Property(
      tag: change.concreteTag, version: change.content.header.typeVersion, place: place,
      isInPairs: change.pairs.contains(place))
    if let known = substitutes[property] { return known }
    var found: FieldPath.Substitute? = .absence
    for type in access.garage.knownTypes(tag: property.tag) {
      guard let type = type as? any Codable.Type, let facts = try? RecordTypeFacts.of(type) else { continue }
      // Fields of an older version may become others.
      if facts.ofCoder.currentVersion != property.version {
        found = nil
        break
      }
      func substitute<T: Codable>(_ type: T.Type) throws -> FieldPath.Substitute? {
        let path = FieldPath(place)
        return try reading.makingUp(type, facts) {
          if let known = path.substitute(in: type, isInPairs: property.isInPairs) { return known }
          _ = try reading.takeFieldSample(type, facts)
          return path.substitute(in: type, isInPairs: property.isInPairs)
        }
      }
      found = try substitute(type)
      if found != .absence { break }
    }
    substitutes[property] = .some(found)
    return found
  }
}

/// Finds out whether a record that was changed can still be decoded.
private struct RecordTrial {
  private let access: ReadAccess
  private let session: GraphDecodingSession

  init(_ access: ReadAccess) {
    self.access = access
    session = access.makeSessionAndSource().0
  }

  /// Whether it is decoded as these types, or what stands under the key is not either.
  func isTaken(_ record: [UInt8], for key: StorageKey, as types: [Any.Type]) throws -> Bool {
    let old = try access.transaction.value(for: key) ?? []
    return types.allSatisfy { type in
      guard let type = type as? any Codable.Type else { return true }
      return isDecoded(record, key, as: type) || !isDecoded(old, key, as: type)
    }
  }

  private func isDecoded(_ record: [UInt8], _ key: StorageKey, as type: any Codable.Type) -> Bool {
    func decode<T: Codable>(_ type: T.Type) throws {
      let bytes = key.bytes
      session.reset()
      _ = try access.decode(
        type, bytes.span.bytes, record.span.bytes, typeName: RecordTypeFacts.of(type).name, session)
    }
    return (try? decode(type)) != nil
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

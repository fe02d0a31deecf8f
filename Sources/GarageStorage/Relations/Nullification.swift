internal import GarageCoding
internal import GarageDriver

/// Takes the references to what is deleted out of other records, without decoding these where it is known what their types take
/// in place of a reference. Where it is not, each record is decoded as it would be.
struct Nullification {
  private let access: WriteAccess
  /// The keys by which what is deleted may be referred to, each with the record's own.
  private let targets: [StorageKey: StorageKey]
  /// What types take, as far as it was asked for.
  private var substitutes: [Property: FieldPath.Answer?] = [:]
  /// What was found out of the places in a record.
  private var forms: [StorageKey: ReferenceForms] = [:]

  private struct Property: Hashable {
    let tag: UInt64
    let version: Int
    let place: [String]
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
    /// Those of them where keys and values seem to stand in turn.
    var pairs: Set<[String]>
    /// One of the records that it referred to.
    var target: StorageKey

    /// The tag of the object's class.
    var concreteTag: UInt64 { content.header.concreteTag ?? tag }

    func record() throws -> [UInt8] { try content.record(tag: tag, identifier: identifier) }
  }

  private func change(of key: StorageKey, _ forms: ReferenceForms) throws -> Change? {
    guard let record = try access.transaction.value(for: key) else { return nil }
    let bytes = key.bytes
    var content = try reading.content(of: bytes.span.bytes, record.span.bytes)
    var found: StorageKey?
    let (rest, places, pairs) = try content.value.removingReferences(forms) { identity in
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
      guard let change = try change(of: key, ReferenceForms()) else { continue }
      func refusal(_ reason: String) throws -> (referrer: String, target: StorageKey) {
        (try reading.text(ofRecord: key).joined(separator: " ") + ", " + reason, change.target)
      }
      // What identifies it is its content.
      if change.identifier.kind == .digest { return try refusal("which is identified by what it holds") }
      // In a program that does not have the type its values are all there is to go by.
      if access.garage.knownTypes(tag: change.concreteTag).isEmpty { continue }
      var (unsurePlaces, unknown, forms) = (Set<[String]>(), Set<[String]>(), ReferenceForms())
      for place in change.places {
        guard let answer = try substitute(at: place, change) else {
          unknown.insert(place)
          continue
        }
        if !answer.isSure { unsurePlaces.insert(place) }
        switch answer.substitute {
        case .absence: if place.last == FieldPath.element { forms.elements.insert(place) }
        case .entryAbsence: forms.entries.insert(place)
        case .null: forms.nulls.insert(place)
        case .refused: return try refusal("whose \(FieldPath(place)) has to refer to something")
        }
      }
      if !unsurePlaces.isEmpty || !unknown.isEmpty {
        guard let taken = try tried(forms, unknown, change, key, trial) else {
          // Those of which it is known that they can do without are not the reason.
          let unsure = change.places.filter { unknown.contains($0) || unsurePlaces.contains($0) }
          let places = (unsure.isEmpty ? change.places : unsure).map { "\(FieldPath($0))" }
          return try refusal(
            places.count == 1
              ? "whose \(places[0]) has to refer to something"
              : "of whose \(places.joined(separator: ", ")) one has to refer to something")
        }
        forms = taken
      }
      self.forms[key] = forms.isEmpty ? nil : forms
    }
    return nil
  }

  /// The forms with which a record's object can still be decoded; nil where there are none.
  ///
  /// - Parameter unknown: the places of which nothing is known.
  private func tried(
    _ forms: ReferenceForms, _ unknown: Set<[String]>, _ change: Change, _ key: StorageKey,
    _ trial: RecordTrial
  ) throws -> ReferenceForms? {
    let types = access.garage.knownTypes(tag: change.concreteTag)
    func isTaken(_ forms: ReferenceForms) throws -> Bool {
      guard let change = try self.change(of: key, forms) else { return true }
      return try trial.isTaken(try change.record(), for: key, as: types)
    }
    // An element may have its meaning by its place, which it keeps.
    var first = forms
    first.nulls.formUnion(unknown.filter { $0.last == FieldPath.element })
    var second = first
    second.nulls.formUnion(change.places.filter { $0.last != FieldPath.element })
    // What looks like keys and values in turn may be.
    var third = forms
    third.entries.formUnion(unknown.intersection(change.pairs))
    third.nulls.formUnion(first.nulls.subtracting(third.entries))
    var fourth = third
    fourth.nulls.formUnion(second.nulls.subtracting(third.entries))
    return try [first, second, third, fourth].first { try isTaken($0) }
  }

  mutating func run(_ referrers: Set<StorageKey>) throws {
    if referrers.isEmpty { return }
    let time = Int64(access.garage.encoder.time)
    for key in referrers.sorted() {
      guard var change = try change(of: key, forms[key] ?? ReferenceForms()) else { continue }
      change.content.header.modificationTime = time
      let (bytes, record) = (key.bytes, try change.record())
      try access.putRecord(record.span.bytes, for: bytes.span.bytes)
    }
  }

  /// What an object's type takes in place of a field; nil where that is not known of the type.
  private mutating func substitute(at place: [String], _ change: Change) throws -> FieldPath.Answer? {
    let property = Property(
      tag: change.concreteTag, version: change.content.header.typeVersion, place: place)
    if let known = substitutes[property] { return known }
    var found: FieldPath.Answer?
    var types: [any Codable.Type] = []
    for case let type as any Codable.Type in access.garage.knownTypes(tag: property.tag) {
      types.append(type)
    }
    var isSure = true
    for type in types {
      guard let facts = try? RecordTypeFacts.of(type) else { continue }
      func substitute<T: Codable>(_ type: T.Type) throws -> FieldPath.Answer? {
        let path = FieldPath(place)
        return try reading.makingUp(type, facts) {
          if let known = path.substitute(in: type) { return known }
          _ = try reading.takeFieldSample(type, facts)
          return path.substitute(in: type)
        }
      }
      found = try substitute(type)
      // Fields of an older version may become others; a collection is one in any.
      if facts.ofCoder.currentVersion != property.version {
        switch found?.substitute {
        case .absence? where place.last == FieldPath.element, .entryAbsence?: found?.isSure = false
        default: found = nil
        }
      }
      if found?.isSure == false { isSure = false }
      if found?.substitute != .absence && found?.substitute != .entryAbsence { break }
    }
    if !isSure { found?.isSure = false }
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

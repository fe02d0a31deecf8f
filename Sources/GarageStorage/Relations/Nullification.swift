internal import GarageCoding
internal import GarageDriver

/// Takes the references to deleted records out of other records.
///
/// What a type accepts in place of a reference is mostly known without decoding its objects. Whether a certain object can do
/// without the reference is not known, because its `init(from:)` may look at several fields together. So before anything is
/// changed each record is decoded as it would be afterwards, without the objects that it links to.
final class Nullification {
  private let access: WriteAccess
  /// The keys by which deleted records may be referred to, each with the record's own key.
  private let targets: [StorageKey: StorageKey]
  /// The types that objects with a tag may be of, as far as it was asked for.
  private var knownTypes: [UInt64: [any Codable.Type]] = [:]
  /// What types accept, as far as it was asked for.
  private var substitutes: [Property: FieldPath.Answer?] = [:]
  /// What was found out about the places in a record.
  private var forms: [StorageKey: ReferenceForms] = [:]

  /// A property that cannot do without a reference, and the record that this leads to.
  typealias Refusal = (referrer: String, target: StorageKey)

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

  /// How one record is changed.
  private struct Change {
    let tag: UInt64
    let identifier: Identifier
    var content: RecordContent
    /// The places of the removed references, as the keys that lead to them, in order.
    var places: [[String]]
    /// Those of the places where keys and values seem to stand in turn.
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

  /// A property that cannot do without a reference, and the record that this leads to; nil where all can. To be called before
  /// anything is changed.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  func refusal(of referrers: Set<StorageKey>) throws -> Refusal? {
    if referrers.isEmpty { return nil }
    let sorted = referrers.sorted()
    for key in sorted { if let refusal = try plan(key) { return refusal } }
    let trial = RecordTrial(access.reading) { [self] key in
      guard referrers.contains(key) else { return nil }
      return try change(of: key, forms[key] ?? ReferenceForms())?.record()
    }
    for key in sorted { if let refusal = try tryOut(key, trial) { return refusal } }
    return nil
  }

  /// Finds out the forms of the places in a record. Returns why it cannot do without one of them, if that is known.
  private func plan(_ key: StorageKey) throws -> Refusal? {
    guard let change = try change(of: key, ReferenceForms()) else { return nil }
    // The object is identified by its content.
    if change.identifier.kind == .digest {
      return try refusal(key, change, "which is identified by what it holds")
    }
    let places = try look(at: change)
    if let needed = places.needed {
      return try refusal(key, change, "whose \(FieldPath(needed)) has to refer to something")
    }
    let forms = places.forms
    self.forms[key] = forms.isEmpty ? nil : forms
    return nil
  }

  /// Decodes a record as it would be afterwards, and if that fails looks for forms in which it can be decoded. Returns why it
  /// cannot do without a reference, if there are none.
  private func tryOut(_ key: StorageKey, _ trial: RecordTrial) throws -> Refusal? {
    guard let change = try change(of: key, forms[key] ?? ReferenceForms()) else { return nil }
    let types = try types(ofTag: change.concreteTag)
    // In a program that does not have the type, only its values can be looked at.
    if types.isEmpty { return nil }
    // Mapped classes have no code that looks at several fields together.
    if types.allSatisfy({ $0 is any MappableObject.Type }), try look(at: change).areSure { return nil }
    if try trial.isDecodedAmongOthers(change.record(), key, as: types) { return nil }
    // A record that is not readable now need not be readable afterwards.
    let readers = types.filter { trial.isReadable(key, as: $0) }
    // Where nothing is left in place of references, a list that seems to be pairs has to be decided.
    guard let bare = try self.change(of: key, ReferenceForms()) else { return nil }
    let places = try look(at: bare)
    for forms in places.candidates(bare) {
      guard let changed = try self.change(of: key, forms) else { return nil }
      let record = try changed.record()
      guard readers.allSatisfy({ trial.isDecoded(record, key, as: $0) }) else { continue }
      self.forms[key] = forms.isEmpty ? nil : forms
      return nil
    }
    // Places that are known to do without their reference are not the reason.
    let doubtful = change.places.filter { places.unknown.contains($0) || places.unsure.contains($0) }
    let names = (doubtful.isEmpty ? change.places : doubtful).map { "\(FieldPath($0))" }
    return try refusal(
      key, change,
      names.count == 1
        ? "whose \(names[0]) has to refer to something"
        : "of whose \(names.joined(separator: ", ")) one has to refer to something")
  }

  private func refusal(_ key: StorageKey, _ change: Change, _ reason: String) throws -> Refusal {
    (try reading.text(ofRecord: key).joined(separator: " ") + ", " + reason, change.target)
  }

  /// What is known of the places in a record whose references are removed.
  private struct Places {
    /// What is left in these places, as far as that is known.
    var known = ReferenceForms()
    /// The places of which it is not known whether they can do without their reference.
    var unsure: Set<[String]> = []
    /// The places of which nothing is known.
    var unknown: Set<[String]> = []
    /// A place that is known to need its reference.
    var needed: [String]?

    var areSure: Bool { unsure.isEmpty && unknown.isEmpty }

    /// What is tried first in each place. An element may have its meaning by its place, and then keeps it.
    var forms: ReferenceForms {
      var forms = known
      forms.nulls.formUnion(unknown.filter { $0.last == FieldPath.element })
      return forms
    }

    /// The forms in which the record may be decodable, the likely ones first.
    func candidates(_ change: Change) -> [ReferenceForms] {
      let first = forms
      var second = first
      second.nulls.formUnion(change.places.filter { $0.last != FieldPath.element })
      // A list that looks like keys and values in turn may be one.
      var third = known
      third.entries.formUnion(unknown.intersection(change.pairs))
      third.nulls.formUnion(first.nulls.subtracting(third.entries))
      var fourth = third
      fourth.nulls.formUnion(second.nulls.subtracting(third.entries))
      return [first, second, third, fourth]
    }
  }

  private func look(at change: Change) throws -> Places {
    var places = Places()
    let types = try types(ofTag: change.concreteTag)
    if types.isEmpty { return places }
    for place in change.places {
      guard let answer = try substitute(at: place, change, types) else {
        places.unknown.insert(place)
        continue
      }
      if !answer.isSure { places.unsure.insert(place) }
      switch answer.substitute {
      case .absence: if place.last == FieldPath.element { places.known.elements.insert(place) }
      case .entryAbsence: places.known.entries.insert(place)
      case .null: places.known.nulls.insert(place)
      case .refused:
        places.needed = place
        return places
      }
    }
    return places
  }

  /// - Throws: ``GarageError/notMet(_:)``.
  private func types(ofTag tag: UInt64) throws -> [any Codable.Type] {
    if let known = knownTypes[tag] { return known }
    let found = try access.garage.codableTypes(tag: tag)
    knownTypes[tag] = found
    return found
  }

  func run(_ referrers: Set<StorageKey>) throws {
    if referrers.isEmpty { return }
    let time = Int64(access.garage.encoder.time)
    for key in referrers.sorted() {
      guard var change = try change(of: key, forms[key] ?? ReferenceForms()) else { continue }
      change.content.header.modificationTime = time
      let (bytes, record) = (key.bytes, try change.record())
      try access.putRecord(record.span.bytes, for: bytes.span.bytes)
    }
  }

  /// What an object's types accept in place of a field; nil where that is not known.
  private func substitute(
    at place: [String], _ change: Change, _ types: [any Codable.Type]
  ) throws -> FieldPath.Answer? {
    let property = Property(
      tag: change.concreteTag, version: change.content.header.typeVersion, place: place)
    if let known = substitutes[property] { return known }
    var found: FieldPath.Answer?
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
      // Fields of an older version may become others, but a collection is a collection in every version.
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

/// Finds out whether records that are to be changed can still be decoded. The objects that they link to are not decoded,
/// because links are filled in when objects are there.
private final class RecordTrial {
  private let access: ReadAccess
  /// Decodes one record after another. Objects that several of them hold are decoded once.
  private let session: GraphDecodingSession
  private let source: TransactionSource
  private var limit = SessionLimit()

  /// - Parameter changed: the changed form of a record; nil for records that stay as they are, in which the changed ones find
  ///   the objects that they hold.
  init(_ access: ReadAccess, changed: @escaping (StorageKey) throws -> [UInt8]?) {
    self.access = access
    let source = access.makeTrialSource()
    let records = ChangedRecords(changed, source, access.garage.objectKeys)
    self.source = source
    session = access.makeTrialSession(records)
    session.completeLater()
  }

  /// Whether a record can be decoded as these types, when all others are changed.
  func isDecodedAmongOthers(_ record: [UInt8], _ key: StorageKey, as types: [any Codable.Type]) -> Bool {
    types.allSatisfy { type in
      if types.count == 1 {
        limit.resetIfReached(session, source)
      } else {
        // It has to be decodable as each of them.
        session.reset()
      }
      return isDecoded(record, key, as: type, session)
    }
  }

  /// Whether a record can be decoded as a type, when no other one is changed.
  func isDecoded(_ record: [UInt8], _ key: StorageKey, as type: any Codable.Type) -> Bool {
    let session = access.makeTrialSession(access.makeTrialSource())
    session.completeLater()
    return isDecoded(record, key, as: type, session)
  }

  /// Whether the record under a key can be decoded as a type now, with all that it links to.
  func isReadable(_ key: StorageKey, as type: any Codable.Type) -> Bool {
    guard let record = try? access.transaction.value(for: key) else { return false }
    return isDecoded(record, key, as: type, access.makeTrialSession(access.makeTrialSource()))
  }

  private func isDecoded(
    _ record: [UInt8], _ key: StorageKey, as type: any Codable.Type, _ session: GraphDecodingSession
  ) -> Bool {
    func decode<T: Codable>(_ type: T.Type) throws {
      let bytes = key.bytes
      _ = try access.decode(
        type, bytes.span.bytes, record.span.bytes, typeName: RecordTypeFacts.of(type).name, session)
    }
    return (try? decode(type)) != nil
  }
}

/// The records of one state, with the changed forms in place of some.
private final class ChangedRecords: RecordSource {
  private let changed: (StorageKey) throws -> [UInt8]?
  private let source: TransactionSource
  private let keys: ObjectKeys

  init(
    _ changed: @escaping (StorageKey) throws -> [UInt8]?, _ source: TransactionSource, _ keys: ObjectKeys
  ) {
    self.changed = changed
    self.source = source
    self.keys = keys
  }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    let changed = try keys.withStorageKey(tag: tag, keyIdentifier) { try self.changed(StorageKey($0)) }
    guard let record = changed else {
      return try source.withRecord(tag: tag, keyIdentifier: keyIdentifier, body)
    }
    source.countRecord(record.count)
    return try body(record.span.bytes)
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? { try source.shapeText(digest) }
  func tagName(_ digest: UInt64) throws -> String? { try source.tagName(digest) }
}

extension ReadAccess {
  /// Finds records for a trial. One that is sealed and does not open makes the trial fail, and not the transaction.
  fileprivate func makeTrialSource() -> TransactionSource {
    let source = TransactionSource(transaction, of: garage)
    source.toleratesSeals = garage.objectKeys.isSealed
    return source
  }

  fileprivate func makeTrialSession(_ source: some RecordSource) -> GraphDecodingSession {
    GraphDecodingSession(
      source: source, types: garage.types, userInfo: garage.userInfo, dates: garage.dateDecodingStrategy)
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

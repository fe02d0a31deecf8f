internal import GarageCoding
internal import GarageDriver

/// A property that refers to objects.
///
/// Its references stand in a record where the record's own class puts them, and are read from there without the object. If that
/// place cannot be found out, or the record is of an older version of its type, the object is asked.
struct ReferringProperty: @unchecked Sendable {
  // @unchecked: a key path without captured values, closures that have nothing else, and metatypes.
  private let name: String?
  private let isComputed: Bool
  fileprivate let root: any Codable.Type
  private let isOfRoot: (Any.Type) -> Bool
  private let search: (any Codable.Type, ReadAccess) throws -> ReferringField.Place?
  private let ask: (ReadAccess, GraphDecodingSession, RawSpan, RawSpan) throws -> Set<RecordIdentity>
  /// The property's own type.
  fileprivate let valueType: Any.Type
  /// The types of the objects, as far as the property's type tells.
  var targets: [Any.Type] { heldTypes(valueType) }

  /// - Parameter name: the coding keys that lead to it, with points between them; nil where they are to be found.
  init<Root: Codable, Value: Codable>(_ property: KeyPath<Root, Value>, name: String?) {
    self.name = name
    isComputed = ReferringField.isComputed(property)
    root = Root.self
    isOfRoot = { $0 is Root.Type }
    search = { type, access in
      guard let facts = try? RecordTypeFacts.of(type) else { return nil }
      return try access.makingUp(type, facts) {
        if let found = ReferringField.place(of: property, in: type) { return found }
        guard try access.takeFieldSample(type, facts) else { return nil }
        return ReferringField.place(of: property, in: type)
      }
    }
    ask = { access, session, key, record in
      let name = try RecordTypeFacts.of(Root.self).name
      guard let object = try access.decode(Root.self, key, record, typeName: name, session) else { return [] }
      return try access.garage.encoding { try $0.references(in: object[keyPath: property]) }
    }
    valueType = Value.self
  }

  /// Coding keys that lead to what a property refers to.
  struct Field {
    let path: [String]
    /// Whether it is one object with a record of its own.
    var isObject = false
    /// The keys that the type reads beside them, as ``ReferringField/Place/readKeys`` has them; none where it was not found out.
    var readKeys: [Set<String>?] = []
    /// Whether they were named, and the type is not known to read them.
    var isOnlyNamed = false

    /// What stands there. Named keys are those of the property, and may stand behind one for what a superclass writes; those that
    /// were found lead all the way, and a superclass may have the same for another property.
    func value(in value: RecordValue) -> RecordValue? {
      if readKeys.isEmpty { return value.value(at: path) }
      return path.reduce(value as RecordValue?) { value, key in value?[key] }
    }

    /// Whether a record has keys on the way that the type does not read where the property stands there.
    func mayStandElsewhere(in value: RecordValue) -> Bool {
      var value: RecordValue? = value
      for (key, known) in zip(path, readKeys) {
        if let known, let keys = value?.keys, keys.contains(where: { !known.contains($0) }) { return true }
        value = value?[key]
      }
      return false
    }
  }

  /// Where the property stands in the records of a class.
  enum Place {
    case field(Field)
    /// There, in types whose older records may have it elsewhere.
    case evolving(Field)
    /// There, in records of an older version, in which it may be something else.
    case older(Field)
    /// In records of a newer version than the program knows: nobody here can tell.
    case newer
    /// Only the object tells.
    case unknown

    /// Where it stands in the records of the present version; nil where only the object tells.
    var field: Field? {
      switch self {
      case .field(let field), .evolving(let field), .older(let field): field
      case .newer, .unknown: nil
      }
    }
  }

  /// Where records with a tag and of a version have it.
  func place(tag: UInt64, version: Int, _ access: ReadAccess) throws -> Place {
    guard let type = type(tag: tag, access), let facts = try? RecordTypeFacts.of(type) else {
      return .unknown
    }
    if version > facts.ofCoder.currentVersion { return .newer }
    let found = try isComputed ? nil : search(type, access)
    let field: Field
    // Its name says where it stands in the type that it was given for.
    if type == root, let named = try namedPath() {
      if let found, !named.isOnWay(to: found.path), !found.path.isOnWay(to: named) {
        throw misnamed(
          "its objects stand under \"\(found.path)\"",
          "Leave the key out, or name that one: Owned(\"\(found.path)\", …).")
      }
      let isRead = try access.makingUp(type, facts) { ReferringField.isRead(named, by: type) }
      field = Field(path: named.keys, isOnlyNamed: !isRead)
    } else if let found {
      field = Field(path: found.path.keys, isObject: found.isObject, readKeys: found.readKeys)
    } else {
      return .unknown
    }
    if facts.ofCoder.currentVersion != version { return .older(field) }
    return facts.ofCoder.isEvolving ? .evolving(field) : .field(field)
  }

  /// The coding keys of its name; nil where it has none.
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` for a name without a key.
  func namedPath() throws -> FieldPath? {
    guard let name else { return nil }
    let path = FieldPath(name: name)
    if path.keys.isEmpty || path.description != name {
      throw misnamed("a coding key in it is empty", "Name the key under which the property is stored.")
    }
    return path
  }

  fileprivate func misnamed(_ reason: String, _ remedy: String) -> GarageError {
    .invalidQuery(
      type: "\(root)",
      reason: """
        cannot tell what one of them owns: Owned(\"\(name ?? "")\", …) does not name where the property is stored, because \
        \(reason). Nothing was changed. \(remedy)
        """)
  }

  /// The class whose objects bear a tag, if it is the property's or a subclass.
  private func type(tag: UInt64, _ access: ReadAccess) -> (any Codable.Type)? {
    if let facts = try? RecordTypeFacts.of(root), facts.ownTags.contains(tag) { return root }
    return access.garage.knownTypes(tag: tag).first(where: isOfRoot) as? any Codable.Type
  }

  /// What an object refers to by it, told by the object.
  ///
  /// - Throws: what decoding it throws, and encoding what the property has.
  fileprivate func references(
    ofObject key: RawSpan, _ record: RawSpan, _ access: ReadAccess, _ session: GraphDecodingSession
  ) throws -> Set<RecordIdentity> {
    try ask(access, session, key, record)
  }
}

/// Finds what records refer to by one property. Finds out once for each class where the property stands.
struct PropertyReferences {
  let property: ReferringProperty
  private let access: ReadAccess
  private var places: [Writer: ReferringProperty.Place] = [:]
  /// The session in which objects are decoded that have to be asked, so that what several of them lead to is decoded once.
  private var session: GraphDecodingSession?

  /// The class whose `encode(to:)` wrote a record.
  private struct Writer: Hashable {
    let tag: UInt64
    let version: Int
  }

  init(_ property: ReferringProperty, _ access: ReadAccess) {
    (self.property, self.access) = (property, access)
  }

  /// What a record's object refers to by the property.
  ///
  /// - Throws: where the object has to be asked, what decoding it throws; ``GraphCodingError`` for a damaged record.
  mutating func identities(_ key: RawSpan, _ record: RawSpan, _ content: RecordContent) throws -> Set<
    RecordIdentity
  > {
    switch try place(key, content) {
    case .field(let field) where !field.mayStandElsewhere(in: content.value):
      return identities(content, field)
    case .evolving(let field)
    where field.value(in: content.value) != nil && !field.mayStandElsewhere(in: content.value):
      return identities(content, field)
    default: return try askedIdentities(key, record)
    }
  }

  /// The same, told by the object.
  private mutating func askedIdentities(_ key: RawSpan, _ record: RawSpan) throws -> Set<RecordIdentity> {
    let session = self.session ?? access.makeSessionAndSource().0
    self.session = session
    return try property.references(ofObject: key, record, access, session)
  }

  /// The same. Of an object that has to be asked and cannot be decoded it is what stands where the property is now; an error says
  /// what to do where that is not known.
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)``; ``GraphCodingError`` for a record of a newer version of its type.
  mutating func ownedIdentities(_ key: RawSpan, _ record: RawSpan, _ content: RecordContent) throws -> Set<
    RecordIdentity
  > {
    let stored = try place(key, content)
    let found: Set<RecordIdentity>
    do { found = try identities(key, record, content) } catch {
      if let field = stored.field { return identities(content, field) }
      // What it says: which version the program knows.
      if case .newer = stored { throw error }
      throw GarageError.invalidQuery(
        type: "\(property.root)",
        reason: """
          cannot tell what one of them owns: it could not be found out where a property is stored that leads to what it \
          owns, and it cannot be decoded to be asked (\(error)). Nothing was changed. Name the property's coding key: \
          Owned("codingKey", …).
          """)
    }
    if found.isEmpty, case .field(let field) = stored, field.isOnlyNamed {
      try check(field, key, record, content)
    }
    return found
  }

  /// Where nothing stands under a name, looks whether the object has it from elsewhere. Of one that cannot be decoded the name is
  /// all there is.
  private mutating func check(
    _ field: ReferringProperty.Field, _ key: RawSpan, _ record: RawSpan, _ content: RecordContent
  ) throws {
    switch field.value(in: content.value) {
    // What stands inline, or nothing.
    case .null, .array, .map, .reference, .versioned, .withSyncStatus: return
    default: break
    }
    // An object that a type has where the record has none, it does not refer to.
    guard let asked = try? askedIdentities(key, record), !asked.isDisjoint(with: content.value.references)
    else { return }
    throw property.misnamed(
      "a record has nothing there, and its object leads to another one by it",
      "Name the coding keys that lead to the property, with points between them, or none.")
  }

  private func identities(
    _ content: RecordContent, _ field: ReferringProperty.Field
  ) -> Set<RecordIdentity> {
    guard let value = field.value(in: content.value) else { return [] }
    if field.isObject {
      // An object that stands inline instead has references of its own, which are not those of the property.
      if case .reference(let identity, _) = value { return [identity] }
      return []
    }
    var found: Set<RecordIdentity> = []
    value.forEachReference(of: property.valueType) { found.insert($0) }
    return found
  }

  private mutating func place(_ key: RawSpan, _ content: RecordContent) throws -> ReferringProperty.Place {
    let writer = Writer(
      tag: content.header.concreteTag ?? KeyLayout.tag(inRecordKey: key), version: content.header.typeVersion)
    if let known = places[writer] { return known }
    let place = try property.place(tag: writer.tag, version: writer.version, access)
    places[writer] = place
    return place
  }
}

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

  /// Coding keys, and whether they lead to one object with a record of its own.
  struct Field {
    let path: [String]
    let isObject: Bool
  }

  /// Where the property stands in the records of a class.
  enum Place {
    case field(Field)
    /// There, in types whose older records may have it elsewhere.
    case evolving(Field)
    /// There, in records of an older version, in which it may be something else.
    case older(Field)
    /// Only the object tells.
    case unknown

    /// Where it stands in the records of the present version; nil where only the object tells.
    var field: Field? {
      switch self {
      case .field(let field), .evolving(let field), .older(let field): field
      case .unknown: nil
      }
    }
  }

  /// Where records with a tag and of a version have it.
  func place(tag: UInt64, version: Int, _ access: ReadAccess) throws -> Place {
    guard let type = type(tag: tag, access), let facts = try? RecordTypeFacts.of(type) else {
      return .unknown
    }
    // Its name tells where it stands in the type that it was given for.
    let named = type == root ? name.map { FieldPath(name: $0) } : nil
    if named == nil && isComputed { return .unknown }
    let found = try named == nil ? search(type, access) : nil
    guard let path = named ?? found?.path else { return .unknown }
    let field = Field(path: path.keys, isObject: found?.isObject ?? false)
    if facts.ofCoder.currentVersion != version { return .older(field) }
    return facts.ofCoder.isEvolving ? .evolving(field) : .field(field)
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
    case .field(let field): return identities(content, field)
    case .evolving(let field) where content.value.value(at: field.path) != nil:
      return identities(content, field)
    case .evolving, .older, .unknown:
      let session = self.session ?? access.makeSessionAndSource().0
      self.session = session
      return try property.references(ofObject: key, record, access, session)
    }
  }

  /// The same. For an object that has to be asked and cannot be decoded, it is what stands where the property is now. If that
  /// place is not known, the error tells what to do.
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)``.
  mutating func ownedIdentities(_ key: RawSpan, _ record: RawSpan, _ content: RecordContent) throws -> Set<
    RecordIdentity
  > {
    do { return try identities(key, record, content) } catch {
      if let field = try place(key, content).field { return identities(content, field) }
      throw GarageError.invalidQuery(
        type: "\(property.root)",
        reason: """
          cannot tell what one of them owns: it could not be found out where a property is stored that leads to what it \
          owns, and it cannot be decoded to be asked (\(error)). Nothing was changed. Name the property's coding key: \
          Owned("codingKey", …).
          """)
    }
  }

  private func identities(
    _ content: RecordContent, _ field: ReferringProperty.Field
  ) -> Set<RecordIdentity> {
    guard let value = content.value.value(at: field.path) else { return [] }
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

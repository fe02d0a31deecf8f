internal import Synchronization

extension StoredField {
  /// Finds the field that a property is read from; nil where none is known to be the one.
  ///
  /// It runs the type's `init(from:)` with made-up values.
  package static func of<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>
  ) -> StoredField? { of(keyPath, in: Root.self) }

  /// Finds the field of a property that is to be indexed, or of the only scalar in it; nil where none is known to be the one.
  ///
  /// An index needs the field. So values of which the type makes something else are made up, too, if need be. Queries ask objects
  /// if some that are stored make something else of the field.
  package static func ofIndexed<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>
  ) -> StoredField? {
    func find() -> StoredField? { of(keyPath) ?? ofOnlyScalar(keyPath, in: Root.self) }
    if let found = find() { return found }
    var context = ProbeContext.current
    context.usesSurveys = false
    forgetMissing(in: Root.self)
    guard let found = context.run(find) else { return nil }
    let key = FoundField(root: ObjectIdentifier(Root.self), keyPath: keyPath)
    FoundField.known.withLock { $0.searchesForIndexes[key] = { _ = ofIndexed(keyPath) } }
    return found
  }

  /// The same in the records of a subclass.
  package static func of<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> StoredField? {
    let key = FoundField(root: ObjectIdentifier(type), keyPath: keyPath)
    if let recent = RecentField.find(key), isAnswer(recent) { return recent }
    if !ProbeContext.current.isAllowed { return of(keyPath, key, in: type) }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let found = of(keyPath, key, in: type)
    let isKnown =
      ProbeContext.current.usesSurveys || FoundField.known.withLock { ($0.fields[key] ?? nil) != nil }
    if isKnown { RecentField.note(key, found, sampleCount) }
    return found
  }

  /// Finds the field that has a value of any kind exactly if the property has one; nil where none is known to be the one.
  package static func ofOptional<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> StoredField? {
    of(keyPath, FoundField(root: ObjectIdentifier(type), keyPath: keyPath, question: .isNil), in: type)
  }

  /// Finds the field that is there where a property is this case of an enum that is written as a key, without raw values and
  /// without payloads; nil where none is known to be the one.
  package static func ofCase<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ value: Value, in type: any Decodable.Type
  ) -> StoredField? {
    guard let name = KeyedCase.name(of: value),
      let field = of(
        keyPath, FoundField(root: ObjectIdentifier(type), keyPath: keyPath, question: .isCase), in: type)
    else { return nil }
    return StoredField(path: FieldPath(field.path.keys + [name]), absentIsNull: true)
  }

  /// The fields that a property is read from whose values are equal where several scalars are, or one in a map, and the scalars
  /// of a value; nil where none are known to be the ones.
  package static func ofScalars<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ value: Value, in type: any Decodable.Type
  ) -> [(field: StoredField, scalar: FieldValue)]? {
    guard let leaves = PlainEquality.leaves(of: unwrapped(Value.self)), leaves != [[]],
      let scalars = GraphEncoder.leaves(of: value, leaves), let fields = ofLeaves(leaves, keyPath, in: type)
    else { return nil }
    return Array(zip(fields, scalars))
  }

  /// Finds the field of the one scalar that a property's values are written as in a map; nil where none is known to be the one.
  package static func ofOnlyScalar<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> StoredField? {
    guard let leaves = PlainEquality.leaves(of: unwrapped(Value.self)), leaves.count == 1, leaves != [[]]
    else {
      return nil
    }
    return ofLeaves(leaves, keyPath, in: type)?.first
  }

  private static func ofLeaves<Root: Decodable, Value: Encodable>(
    _ leaves: [[String]], _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> [StoredField]? {
    let key = FoundField(root: ObjectIdentifier(type), keyPath: keyPath, question: .areScalars)
    return of(keyPath, key, in: type).map { field in
      leaves.map { StoredField(path: FieldPath(field.path.keys + $0), absentIsNull: field.absentIsNull) }
    }
  }

  /// Whether cases of a type are to be asked for by ``ofCase(_:_:in:)``.
  package static func isKeyedCase(_ type: Any.Type) -> Bool {
    let type = unwrapped(type)
    return TypeAddress(type).plainCaseCount != nil && !(type is any RawRepresentable.Type)
  }

  private static func of<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ key: FoundField, in type: any Decodable.Type
  ) -> StoredField? {
    // No field is ever found for these. A subscript's key path holds its argument, so there may be any number of them: they
    // are not remembered.
    if PropertyForm(keyPath) == .computed { return nil }
    if let known = FoundField.known.withLock({ $0.fields[key] }), isAnswer(known) { return known }
    if !ProbeContext.current.isAllowed { return nil }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let search = FieldSearch(keyPath, in: type)
    let found = search.answer(key.question)
    if key.question == .value, let found, isOnlyIndexed(found, search) { return found }
    FoundField.known.withLock { known in
      if ProbeExperience.isLast(sampleCount) { known.fields[key] = .some(found) }
    }
    return found
  }

  /// Whether what is known needs no further look. That no field was found may be due to a survey, and may have been noted by
  /// another thread just now: an index looks without surveys.
  private static func isAnswer(_ known: StoredField?) -> Bool {
    known != nil || ProbeContext.current.usesSurveys
  }

  /// Whether a field was found without surveys, and stored objects deny it. The index that needs it has it; queries, which share
  /// what is known, never get to see it.
  private static func isOnlyIndexed<Root: Decodable, Value: Encodable>(
    _ field: StoredField, _ search: FieldSearch<Root, Value>
  ) -> Bool {
    var context = ProbeContext.current
    if context.usesSurveys { return false }
    context.usesSurveys = true
    return context.runInside { search.isDenied(field) }
  }

  /// Lets properties of a type be looked for again for which no field was found.
  static func forgetMissing(in type: any Decodable.Type) {
    let root = ObjectIdentifier(type)
    FoundField.known.withLock { known in
      known.fields = known.fields.filter { $0.key.root != root || $0.value != nil }
    }
    RecentField.forgetAll()
  }

  /// Lets all properties of a type be looked for again, because more objects of it are known now. Searches that are running are
  /// not remembered. What only an index found, because it may make up more, is found again here: no query would find it.
  static func forgetAll(in type: any Decodable.Type) {
    ProbeExperience.sampleCount.add(1, ordering: .sequentiallyConsistent)
    let root = ObjectIdentifier(type)
    let searches = FoundField.known.withLock { known in
      known.fields = known.fields.filter { $0.key.root != root }
      return known.searchesForIndexes.filter { $0.key.root == root }.map(\.value)
    }
    RecentField.forgetAll()
    for search in searches { search() }
  }
}

/// A property whose field was looked for.
private struct FoundField: Hashable {
  let root: ObjectIdentifier
  let keyPath: AnyKeyPath
  /// What is asked of it.
  var question = FieldQuestionKind.value

  struct Table: @unchecked Sendable {
    // @unchecked: key paths without captured values, which nothing changes.
    var fields: [FoundField: StoredField?] = [:]
    /// Finds again what an index found without surveys.
    var searchesForIndexes: [FoundField: () -> Void] = [:]
  }
  static let known = Mutex(Table())
}

/// A field that was asked for not long ago. The address of its key path gives it its place, because to hash a key path takes
/// several times as long as finding the field here. A later one replaces an earlier one.
private struct RecentField: @unchecked Sendable {
  // @unchecked: as above.
  /// Holds the key path, so that no other one gets its address.
  private let key: FoundField
  private let field: StoredField?

  private static let places = Mutex([RecentField?](repeating: nil, count: 64))

  private static func place(_ key: FoundField) -> Int {
    let address = ObjectIdentifier(key.keyPath).address ^ key.root.address
    return Int((address >> 4 ^ address >> 10) % 64)
  }

  /// Nil where it is not here; `.some(nil)` where the property has no field.
  static func find(_ key: FoundField) -> StoredField?? {
    let place = place(key)
    return places.withLock { places in
      guard let found = places[place], found.key.keyPath === key.keyPath, found.key.root == key.root else {
        return nil
      }
      return .some(found.field)
    }
  }

  static func forgetAll() {
    // Let go of outside of the lock.
    _ = places.withLock { places in
      defer { places = [RecentField?](repeating: nil, count: places.count) }
      return places
    }
  }

  static func note(_ key: FoundField, _ field: StoredField?, _ sampleCount: Int) {
    let place = place(key)
    // Let go of outside of the lock.
    _ = places.withLock { places in
      defer {
        if ProbeExperience.isLast(sampleCount) { places[place] = RecentField(key: key, field: field) }
      }
      return places[place]
    }
  }
}

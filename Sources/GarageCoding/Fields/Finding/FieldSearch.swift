/// Looks for the field that a property is read from, by the property's values in made-up objects.
struct FieldSearch<Root: Decodable, Value: Encodable> {
  let keyPath: KeyPath<Root, Value>
  private let form: PropertyForm
  /// Whether older records may have fields under other keys, so that the absence of one tells nothing.
  private let isEvolving: Bool
  /// Makes an object up.
  private let object: (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)?
  /// Some stored objects, with what their records have, if there are any. Gets how many values in them may be read.
  let storedObjects: (Int) -> [(object: Root, record: RecordValue)]
  /// The version of the type.
  let version: Int

  /// - Parameter type: `Root`, or a subclass.
  init(_ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type) {
    self.keyPath = keyPath
    form = PropertyForm(keyPath)
    let evolution = TypeFacts.of(type).object.evolution
    (isEvolving, version) = (evolution != nil, evolution?.version ?? 0)
    func maker<T: Decodable>(_ type: T.Type) -> (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)? {
      { leaf in
        let (object, made) = try FieldProbe.object(T.self, leaf)
        return (object as? Root).map { ($0, made) }
      }
    }
    object = maker(type)
    func finder<T: Decodable>(_ type: T.Type) -> (Int) -> [(object: Root, record: RecordValue)] {
      { mostReads in
        TypeSurvey.objects(of: type, mostReads: mostReads).compactMap { found in
          (found.object as? Root).map { (object: $0, record: found.record) }
        }
      }
    }
    storedObjects = finder(type)
  }

  /// The field; nil where none is known to be the one.
  func answer(_ question: FieldQuestionKind) -> StoredField? {
    // It is not known what other code does with made-up values.
    if isComputed { return nil }
    if isOfStatus { return nil }
    if form == .ofCase { return question == .value ? ofValue() : nil }
    switch question {
    case .value: return ofValue()
    case .isNil: return ofNil()
    case .isCase: return isEvolving ? nil : ofCases()
    case .areScalars: return ofScalars()
    }
  }

  /// Whether code computes it, as far as stored objects tell: a property that can be set is stored if it has a value that
  /// stands in them.
  var isComputed: Bool {
    switch form {
    case .computed: return true
    case .stored, .ofCase: return false
    case .settable: break
    }
    // Objects that they refer to are not in them.
    if holdsReferences(Value.self) { return false }
    return !storedObjects(50_000).allSatisfy { object, _ in
      let value = object[keyPath: keyPath]
      return (value as? any OptionalIdentifier)?.isNil ?? false || StoredValues(object).contains(value)
    }
  }

  /// Whether it follows the sync status of its object, which stands beside what is encoded: a field may have what it was when the
  /// object was parked, and the status may be another one since.
  var isOfStatus: Bool {
    guard let (object, _) = try? object(nil), var synced = object as? any Syncable else { return false }
    func value(_ status: SyncStatus) -> Probed? {
      synced.syncStatus = status
      return (synced as? Root).flatMap { Probed($0[keyPath: keyPath]) }
    }
    return value(.synced) != value(.notSynced)
  }

  /// Whether it is the stored property `id`, and of the type that the type is identified by.
  private var isIdentifier: Bool {
    func isIdentified<T: Identifiable>(_: T.Type) -> Bool { Value.self == T.ID.self }
    guard form == .stored, !isEvolving, let type = Root.self as? any Identifiable.Type else { return false }
    switch TypeFacts.of(Value.self).object.kind {
    case .string, .uuid, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8, .uint16, .uint32,
      .uint64,
      .uint128:
      return isIdentified(type) && TypeFacts.of(Root.self).object.mapping == nil
        && "\(keyPath)" == "\\\(Root.self).id"
    default: return false
    }
  }

  private func made(_ path: [String], _ change: FieldProbe.Leaf.Change, form: Int = 0) -> (
    Root, FieldProbe.Made
  )? {
    try? object(FieldProbe.Leaf(path: path, change: change, form: form))
  }

  // MARK: - One scalar, or several in an array

  private func ofValue() -> StoredField? {
    // The inner nil of an optional in an optional is stored as the outer one is.
    if optionalDepth(of: Value.self) > 1 { return nil }
    guard let (first, made) = try? object(nil), let before = Probed(first[keyPath: keyPath]) else {
      return nil
    }
    let paths = FieldProbe.likely(keyPath, among: made.paths)
    let changing = paths.first { path in
      guard let (changed, _) = FieldProbe.different(path, object) else { return false }
      return Probed(changed[keyPath: keyPath]).map { $0 != before } ?? false
    }
    if let path = changing, !isRead(from: path, made) { return nil }
    guard let path = changing ?? paths.first(where: { isOnlyCase(at: $0, made, before) }) else { return nil }
    let isNull = self.made(path, .absent) != nil && isNullWithout(path)
    guard
      var field = self.field(
        FieldPath(path.last == FieldPath.element ? path.dropLast() : path), made, absentIsNull: isNull)
    else { return nil }
    field.isIdentifier = isIdentifier
    if made.caseCounts[path] != nil {
      do {
        _ = try object(FieldProbe.Leaf(path: path, change: .unknownCase))
        field.readsUnknownCases = true
      } catch { field.readsUnknownCases = !(error is FieldProbe.UsualRefusal) }
    }
    return isDenied(field) ? nil : field
  }

  /// Objects that have nothing at a path: the field itself, or a value around it, is absent or nil. The part that a superclass
  /// writes cannot be left out.
  private func objects(without path: [String]) -> some Sequence<Root> {
    (1...path.count).lazy.filter { $0 == path.count || path[$0 - 1] != PathKey.super.stringValue }
      .flatMap { count in
        [FieldProbe.Leaf.Change.absent, .null].lazy.compactMap { made(Array(path.prefix(count)), $0)?.0 }
      }
  }

  /// Whether it is nil where there is no value at a path, whichever of those around it is missing.
  private func isNullWithout(_ path: [String]) -> Bool {
    objects(without: path).allSatisfy { Probed($0[keyPath: keyPath]) == .scalar(.null) }
  }

  /// The field with a path, unless values on the way to it may be of older versions of their types, in which the field may mean
  /// something else.
  private func field(_ path: FieldPath, _ made: FieldProbe.Made, absentIsNull: Bool) -> StoredField? {
    let versions = made.evolvingVersions(on: path.keys)
    if versions.contains(where: { $0 > 0 }) { return nil }
    let isOnlyPlace = !made.hasUnreadKeys(on: path.keys)
    return StoredField(
      path: path, absentIsNull: absentIsNull && !isEvolving && versions.isEmpty && isOnlyPlace)
  }

  /// Whether it always has the very value at a path, whatever the other values are. A property that is made from several
  /// fields, or in another form from one, does not.
  private func isRead(from path: [String], _ made: FieldProbe.Made) -> Bool {
    let changes: [FieldProbe.Leaf.Change] = [.none, .second, .allOthers, .all]
    guard changes.allSatisfy({ holds(path, $0) }),
      made.choices(beside: path).allSatisfy({ holds(path, in: $0) })
    else { return false }
    // Some types write an empty text for nil, and perhaps only few objects have one.
    let emptyCount = Value.self is any OptionalIdentifier.Type ? MadeUpValue.emptyCount : 1
    guard (0..<emptyCount).allSatisfy({ holds(path, .empty($0)) }) else { return false }
    // For an enum every case can be tried.
    if form != .ofCase { return true }
    guard let count = made.caseCounts[path] else { return false }
    return (0..<count).allSatisfy { holds(path, .plainCase($0)) }
  }

  /// Whether it is an enum with only this case, which always has the same value as a field of that type. It may be taken for
  /// that field, if it is not there without it.
  private func isOnlyCase(at path: [String], _ made: FieldProbe.Made, _ before: Probed) -> Bool {
    guard made.caseCounts[path] == 1, form != .ofCase, holds(path, .none) else { return false }
    guard let (object, _) = self.made(path, .absent) ?? self.made(path, .null) else {
      return !(Value.self is any OptionalIdentifier.Type)
    }
    return Probed(object[keyPath: keyPath]) != before
  }

  /// Whether the property has the value at a path, in all made-up objects that its type accepts.
  private func holds(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool {
    (0..<FieldProbe.formCount(of: change)).allSatisfy { form in
      holds(path, in: FieldProbe.Leaf(path: path, change: change, form: form))
    }
  }

  private func holds(_ path: [String], in leaf: FieldProbe.Leaf) -> Bool {
    guard let (object, made) = try? object(leaf) else { return true }
    // A value that the type refuses was never written by it.
    if case .empty = leaf.change, made.refused.contains(where: { path.starts(with: $0) }) { return true }
    return Probed(object[keyPath: keyPath])?.holds(made[path], asElement: path.last == FieldPath.element)
      ?? false
  }

  // MARK: - Nil

  private func ofNil() -> StoredField? {
    guard let (first, made) = try? object(nil), self.isNil(first) == false else { return nil }
    /// Whether the property is nil in an object in which one thing is different. Nil where a type refuses that thing: the value
    /// around it is nil then, which tells nothing of what is stored.
    func isNil(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool? {
      guard let (object, changed) = self.made(path, change) else { return nil }
      let isRefused = changed.refused.contains { path.starts(with: $0) && !made.refused.contains($0) }
      return isRefused ? nil : self.isNil(object)
    }
    func makesNil(_ path: [String]) -> Bool { isNil(path, .null) == true || isNil(path, .absent) == true }
    guard let outer = FieldProbe.likely(keyPath, among: made.containers).first(where: makesNil) else {
      return nil
    }
    // It is also nil without a value around it, of which there may be several. The last one on the way is the field itself.
    let inner = made.asked.filter { $0.count > outer.count && $0.starts(with: outer) && makesNil($0) }
    let count = inner.map(\.count).max() ?? outer.count
    let last = inner.isEmpty ? [outer] : inner.filter { $0.count == count }
    guard last.count == 1, let path = last.first, !path.contains(FieldPath.element),
      isNil(path, .absent) != false, isNil(path, .null) != false, isNil(path, .allOthers) != true,
      isNil(path, .all) != true, objects(without: path).allSatisfy({ self.isNil($0) != false }),
      isSameInAllChoices(beside: path, made), let field = field(FieldPath(path), made, absentIsNull: true),
      !isNilDenied(field)
    else { return nil }
    return field
  }

  /// Whether it has what it has otherwise where an enum or a truth value beside a path is another one. Nothing is left out there:
  /// code may take it for granted in one case.
  private func isSameInAllChoices(beside path: [String], _ made: FieldProbe.Made) -> Bool {
    let changes: [FieldProbe.Leaf.Change] = [.none, .allOthers]
    return changes.allSatisfy { change in
      guard let usual = self.made(path, change) else { return true }
      let value = Probed(usual.0[keyPath: keyPath])
      return made.choices(beside: path, [change]).allSatisfy { leaf in
        guard let (object, changed) = try? object(leaf) else { return true }
        let isRefused = changed.refused.contains { path.starts(with: $0) && !usual.1.refused.contains($0) }
        return isRefused || Probed(object[keyPath: keyPath]) == value
      }
    }
  }

  func isNil(_ object: Root) -> Bool? {
    (object[keyPath: keyPath] as? any OptionalIdentifier)?.isNil
  }

  // MARK: - Cases that are written as keys

  private func ofCases() -> StoredField? {
    let type = unwrapped(Value.self)
    // An enum with only one case is the same whatever is read.
    guard let count = TypeAddress(type).plainCaseCount, count > 1, KeyedCase.areReadBack(type),
      let (_, made) = try? object(nil)
    else { return nil }
    /// Whether the property is the case with that number; nil where its type refuses that.
    func isCase(_ number: Int, in leaf: FieldProbe.Leaf) -> Bool? {
      (try? object(leaf)).map {
        KeyedCase.name(of: $0.0[keyPath: keyPath]) == KeyedCase.name(number, of: type)
      }
    }
    func isCase(_ number: Int, _ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool? {
      isCase(number, in: FieldProbe.Leaf(path: path, change: change))
    }
    let found = FieldProbe.likely(keyPath, among: made.containers).first { path in
      if made.keyedCaseCounts[path] != count { return false }
      let answers = (0..<count).map { isCase($0, path, .plainCase($0)) }
      return !answers.contains(false) && answers.count { $0 == true } > 1
    }
    guard let path = found, isCase(0, path, .allOthers) != false, isCase(1, path, .all) != false,
      made.choices(beside: path, [.plainCase(1)]).allSatisfy({ isCase(1, in: $0) != false }),
      isWithoutValue(without: path), made.evolvingVersions(on: path).isEmpty,
      !made.hasUnreadKeys(on: path), !isCaseDenied(at: path)
    else { return nil }
    return StoredField(path: FieldPath(path), absentIsNull: true)
  }

  // MARK: - Several scalars, or one in a map

  private func ofScalars() -> StoredField? {
    guard let leaves = PlainEquality.leaves(of: unwrapped(Value.self)), let (_, made) = try? object(nil)
    else {
      return nil
    }
    let found = FieldProbe.likely(keyPath, among: made.containers).first { path in
      leaves.allSatisfy { made[path + $0] != nil } && areRead(from: path, leaves, made)
    }
    guard let path = found, isWithoutValue(without: path), !areDenied(at: path, leaves) else { return nil }
    return field(FieldPath(path), made, absentIsNull: true)
  }

  private func areRead(from path: [String], _ leaves: [[String]], _ made: FieldProbe.Made) -> Bool {
    /// Whether it has the scalars of a made-up object; nil where its type refuses them.
    func answer(_ leaf: FieldProbe.Leaf) -> Bool? {
      (try? object(leaf)).map { object, made in
        GraphEncoder.leaves(of: object[keyPath: keyPath], leaves) == leaves.compactMap { made[path + $0] }
      }
    }
    func answers(_ changed: [String], _ change: FieldProbe.Leaf.Change) -> [Bool?] {
      (0..<FieldProbe.formCount(of: change)).map { form in
        answer(FieldProbe.Leaf(path: changed, change: change, form: form))
      }
    }
    let each = leaves.map { answers(path + $0, .second) }
    return each.allSatisfy { $0.contains(true) && !$0.contains(false) }
      && [.none, .allOthers, .all].allSatisfy { !answers(path, $0).contains(false) }
      && made.choices(beside: path).allSatisfy { answer($0) != false }
  }

  /// Whether there is no object without the field, or the property is nil in it. Otherwise the property may have a default.
  private func isWithoutValue(without path: [String]) -> Bool {
    objects(without: path).allSatisfy { isNil($0) == true }
  }
}

/// What is asked of a property.
enum FieldQuestionKind {
  case value
  /// Whether a property with values of any kind is nil.
  case isNil
  /// Which case a property is, of an enum without raw values.
  case isCase
  /// Which scalars a property is, of a type whose values are equal if several scalars are.
  case areScalars
}

/// What a property has in an object that was made up.
enum Probed: Equatable {
  case scalar(FieldValue)
  case elements([FieldValue])
  case other([UInt8])

  /// Nil where the value cannot be encoded.
  init?<Value: Encodable>(_ value: Value) {
    let found = try? GraphEncoder().withField(of: value) { place -> Probed? in
      if let scalar = try place.value() { return .scalar(scalar) }
      var elements: [FieldValue] = []
      let isArray = try place.forEachElement { element in
        if let element { elements.append(element) }
        return true
      }
      return isArray ? .elements(elements) : .other(place.copy)
    }
    guard let found else { return nil }
    self = found
  }

  /// Whether it is this value, which was read from one field.
  func holds(_ value: FieldValue?, asElement: Bool) -> Bool {
    guard let value else { return false }
    return self == (asElement ? .elements([value]) : .scalar(value))
  }
}

/// How many optionals a type is in.
private func optionalDepth(of type: Any.Type) -> Int {
  (type as? any OptionalIdentifier.Type).map { 1 + optionalDepth(of: $0.wrapped) } ?? 0
}

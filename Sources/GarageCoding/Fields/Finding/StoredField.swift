internal import Synchronization

/// Where the values of one property stand in the records of its type.
package struct StoredField: Sendable {
  package var path: FieldPath
  /// Whether an object whose record lacks the field has nil there, and not a default of its own.
  package var absentIsNull: Bool
  /// Whether it is an enum whose type, or whose object, may make something of raw values that no case has: which object is equal
  /// to a case is not told by what is stored.
  package var readsUnknownCases = false

  package init(path: FieldPath, absentIsNull: Bool) {
    self.path = path
    self.absentIsNull = absentIsNull
  }

  /// Nil where only objects can be compared.
  package var comparable: StoredField? { readsUnknownCases ? nil : self }
}

/// What can be asked of a field's bytes, given the type of its property.
package enum FieldComparability: Sendable {
  /// Equality and order of the bytes' values are those of the Swift values.
  case ordered
  /// Equality is.
  case equatable
  /// Only the type knows.
  case none

  /// - Parameter type: that of a property, of its value where it is optional, or of the elements of a collection.
  package init(_ type: Any.Type) {
    if type == Int.self || type == String.self {
      self = .ordered
      return
    }
    let type = unwrapped(type)
    switch TypeFacts.of(type).object.kind {
    case .bool, .string, .double, .float, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8,
      .uint16,
      .uint32, .uint64, .uint128, .date, .decimal:
      self = .ordered
    case .data, .uuid, .url: self = .equatable
    case .own: self = type is any ProbeValue.Type ? .equatable : .none
    default:
      // A case is equal to itself alone, whatever its raw value.
      self =
        FieldComparability.isPlainEnum(type) || PlainEquality.leaves(of: type) == [[]] ? .equatable : .none
    }
  }

  /// Whether it is an enum without payload that has raw values.
  package static func isPlainEnum(_ type: Any.Type) -> Bool {
    TypeAddress(type).plainCaseCount != nil && type is any RawRepresentable.Type
  }
}

extension FieldPath {
  /// In place of a key: each element of an array.
  package static let element = "[]"
}

extension StoredField {
  /// Finds the field that a property is read from; nil where none is known to be the one.
  ///
  /// It runs the type's `init(from:)` with made-up values.
  package static func of<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>
  ) -> StoredField? { of(keyPath, in: Root.self) }

  /// The same in the records of a subclass.
  package static func of<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> StoredField? {
    let key = FoundField(root: ObjectIdentifier(type), keyPath: keyPath)
    if let recent = RecentField.find(key) { return recent }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let found = of(keyPath, key, in: type)
    RecentField.note(key, found, sampleCount)
    return found
  }

  /// Finds the field that a property is read from that has a value where this has one, of whatever kind; nil where none is known
  /// to be the one.
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
      leaves.map { StoredField(path: FieldPath(field.path.keys + $0), absentIsNull: true) }
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
    if let known = FoundField.known.withLock({ $0.fields[key] }) { return known }
    func search<T: Decodable>(_ type: T.Type) -> StoredField? {
      let makeUp = { (leaf: FieldProbe.Leaf?) -> (Root, FieldProbe.Made)? in
        let (object, made) = try FieldProbe.object(T.self, leaf)
        return (object as? Root).map { ($0, made) }
      }
      return switch key.question {
      case .value: self.search(keyPath, in: type, makeUp)
      case .isNil: searchOptional(keyPath, in: type, makeUp)
      case .isCase: isEvolving(type) ? nil : searchCase(keyPath, makeUp)
      case .areScalars: isEvolving(type) ? nil : searchScalars(keyPath, makeUp)
      }
    }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let found = search(type)
    FoundField.known.withLock { known in
      if ProbeExperience.isLast(sampleCount) { known.fields[key] = .some(found) }
    }
    return found
  }

  /// Has properties of a type looked for again that none of its fields was found for.
  static func forgetMissing(in type: any Decodable.Type) {
    let root = ObjectIdentifier(type)
    FoundField.known.withLock { known in
      known.fields = known.fields.filter { $0.key.root != root || $0.value != nil }
    }
    RecentField.forgetAll()
  }

  /// - Parameter object: makes an object up.
  private static func search<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type,
    _ object: (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)?
  ) -> StoredField? {
    // Nobody knows what other code does with values that are made up.
    let form = PropertyForm(keyPath)
    // What is stored for the nil in an optional of an optional is what is stored for the one outside.
    if form == .computed || optionalDepth(of: Value.self) > 1 { return nil }
    guard let (first, made) = try? object(nil), let before = Probed(first[keyPath: keyPath])
    else { return nil }
    /// Whether the property has what objects were made up with at a path, of those that its type takes.
    func holds(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool {
      (0..<FieldProbe.formCount(of: change)).allSatisfy { form in
        guard let (object, made) = try? object(FieldProbe.Leaf(path: path, change: change, form: form)) else {
          return true
        }
        return Probed(object[keyPath: keyPath])?.holds(made[path], asElement: path.last == FieldPath.element)
          ?? false
      }
    }
    /// Whether it is an enum with no other case. What is equal to it wherever it stands may be taken for it, if it is not there
    /// without it.
    func isOnlyCase(_ path: [String]) -> Bool {
      guard made.caseCounts[path] == 1, form != .ofCase, holds(path, .none) else { return false }
      guard let (object, _) = try? object(FieldProbe.Leaf(path: path, change: .absent)) else {
        return !(Value.self is any OptionalIdentifier.Type)
      }
      return Probed(object[keyPath: keyPath]) != before
    }
    var found: [String]?
    let paths = FieldProbe.likely(keyPath, among: made.paths)
    for path in paths {
      guard let (changed, _) = FieldProbe.different(path, object),
        let after = Probed(changed[keyPath: keyPath]), after != before
      else { continue }
      // It has to be the very value, whatever the others are: what is made of several fields, or in another form of one, is not
      // stored.
      let changes: [FieldProbe.Leaf.Change] = [.none, .second, .allOthers, .all]
      guard changes.allSatisfy({ holds(path, $0) }) else { return nil }
      // Of an enum every case can be asked.
      if form == .ofCase {
        guard let count = made.caseCounts[path],
          (0..<count).allSatisfy({ holds(path, .plainCase($0)) })
        else { return nil }
      }
      found = path
      break
    }
    guard let path = found ?? paths.first(where: isOnlyCase) else { return nil }
    let withoutIt = try? object(FieldProbe.Leaf(path: path, change: .absent))?.0
    let isNull = withoutIt.map { Probed($0[keyPath: keyPath]) == .scalar(.null) } ?? false
    var field = StoredField(
      path: FieldPath(path.last == FieldPath.element ? path.dropLast() : path),
      absentIsNull: isNull && !isEvolving(type))
    if made.caseCounts[path] != nil {
      do {
        _ = try object(FieldProbe.Leaf(path: path, change: .unknownCase))
        field.readsUnknownCases = true
      } catch { field.readsUnknownCases = !(error is FieldProbe.UsualRefusal) }
    }
    return field
  }

  private static func searchOptional<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, in type: any Decodable.Type,
    _ object: (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)?
  ) -> StoredField? {
    switch PropertyForm(keyPath) {
    case .computed, .ofCase: return nil
    case .stored, .settable: break
    }
    func isNil(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool? {
      guard let (object, _) = try? object(FieldProbe.Leaf(path: path, change: change)) else { return nil }
      return (object[keyPath: keyPath] as? any OptionalIdentifier)?.isNil
    }
    guard let (_, made) = try? object(nil), isNil([], .none) == false else { return nil }
    guard
      let path = FieldProbe.likely(keyPath, among: made.containers).first(where: {
        isNil($0, .absent) == true
      }),
      isNil(path, .allOthers) ?? false == false, isNil(path, .all) ?? false == false
    else { return nil }
    return StoredField(path: FieldPath(path), absentIsNull: !isEvolving(type))
  }

  private static func searchCase<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ object: (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)?
  ) -> StoredField? {
    switch PropertyForm(keyPath) {
    case .computed, .ofCase: return nil
    case .stored, .settable: break
    }
    let enumType = unwrapped(Value.self)
    guard KeyedCase.areReadBack(enumType), let (_, made) = try? object(nil) else { return nil }
    func holds(_ path: [String], _ change: FieldProbe.Leaf.Change, _ number: Int) -> Bool {
      guard let (object, _) = try? object(FieldProbe.Leaf(path: path, change: change)) else { return true }
      return KeyedCase.name(of: object[keyPath: keyPath]) == KeyedCase.name(number, of: enumType)
    }
    let found = FieldProbe.likely(keyPath, among: made.containers).first { path in
      guard let count = made.keyedCaseCounts[path], count > 1 else { return false }
      return (0..<count).allSatisfy { holds(path, .plainCase($0), $0) }
    }
    // Without the field it may be none of the cases.
    guard let path = found, holds(path, .allOthers, 0), holds(path, .all, 1) else { return nil }
    if let (object, _) = try? object(FieldProbe.Leaf(path: path, change: .absent)),
      KeyedCase.name(of: object[keyPath: keyPath]) != nil
    {
      return nil
    }
    return StoredField(path: FieldPath(path), absentIsNull: true)
  }

  private static func searchScalars<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ object: (FieldProbe.Leaf?) throws -> (Root, FieldProbe.Made)?
  ) -> StoredField? {
    switch PropertyForm(keyPath) {
    case .computed, .ofCase: return nil
    case .stored, .settable: break
    }
    guard let leaves = PlainEquality.leaves(of: unwrapped(Value.self)), let (_, made) = try? object(nil)
    else {
      return nil
    }
    /// Whether the property has the scalars that an object was made up with; nil where it refuses them.
    func holds(_ container: [String], _ leaf: FieldProbe.Leaf) -> Bool? {
      guard let (object, made) = try? object(leaf) else { return nil }
      return GraphEncoder.leaves(of: object[keyPath: keyPath], leaves)
        == leaves.compactMap { made[container + $0] }
    }
    func isRead(from container: [String]) -> Bool {
      let paths = leaves.map { container + $0 }
      if paths.contains(where: { made[$0] == nil }) { return false }
      let isEach = paths.allSatisfy { path in
        let answers = (0..<FieldProbe.formCount(of: .second)).map {
          holds(container, FieldProbe.Leaf(path: path, change: .second, form: $0))
        }
        return answers.contains(true) && !answers.contains(false)
      }
      return isEach
        && [.none, .allOthers, .all].allSatisfy { change in
          (0..<FieldProbe.formCount(of: change)).allSatisfy {
            holds(container, FieldProbe.Leaf(path: container, change: change, form: $0)) ?? true
          }
        }
    }
    guard let path = FieldProbe.likely(keyPath, among: made.containers).first(where: isRead) else {
      return nil
    }
    // Without the field it may have a value all the same.
    if let (object, _) = try? object(FieldProbe.Leaf(path: path, change: .absent)),
      (object[keyPath: keyPath] as? any OptionalIdentifier)?.isNil != true
    {
      return nil
    }
    return StoredField(path: FieldPath(path), absentIsNull: true)
  }

  /// Where older records may have the field under another key, that it is not there says nothing.
  private static func isEvolving(_ type: any Decodable.Type) -> Bool {
    TypeFacts.of(type).object.evolution != nil
  }
}

/// What a property has in an object that was made up.
private enum Probed: Equatable {
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

/// A property whose field was looked for.
private struct FoundField: Hashable {
  let root: ObjectIdentifier
  let keyPath: AnyKeyPath
  /// What is asked of it.
  var question = Question.value

  enum Question { case value, isNil, isCase, areScalars }

  struct Table: @unchecked Sendable {
    // @unchecked: key paths without captured values, which nothing changes.
    var fields: [FoundField: StoredField?] = [:]
  }
  static let known = Mutex(Table())
}

/// A field that was asked for not long ago, at the place that its key path's address gives it: to hash a key path takes several
/// times as long as to find this one. A later one takes an earlier one's place.
private struct RecentField: @unchecked Sendable {
  // @unchecked: as above.
  /// It holds the key path, so that no other one gets its address.
  private let key: FoundField
  private let field: StoredField?

  private static let places = Mutex([RecentField?](repeating: nil, count: 64))

  private static func place(_ key: FoundField) -> Int {
    let address = ObjectIdentifier(key.keyPath).address ^ key.root.address
    return Int((address >> 4 ^ address >> 10) % 64)
  }

  /// Nil where it is not there; nil within where the property has no field.
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

/// How many optionals a type is in.
private func optionalDepth(of type: Any.Type) -> Int {
  (type as? any OptionalIdentifier.Type).map { 1 + optionalDepth(of: $0.wrapped) } ?? 0
}

/// The type inside an optional; any other type itself.
package func unwrapped(_ type: Any.Type) -> Any.Type {
  var type = type
  while let optional = type as? any OptionalIdentifier.Type { type = optional.wrapped }
  return type
}

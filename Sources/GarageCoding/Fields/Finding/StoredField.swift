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
      // It is equal to itself alone, whatever its raw value.
      self = FieldComparability.isPlainEnum(type) ? .equatable : .none
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
    of(keyPath, FoundField(root: ObjectIdentifier(type), keyPath: keyPath, isOptional: true), in: type)
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
      return key.isOptional
        ? searchOptional(keyPath, in: type, makeUp) : self.search(keyPath, in: type, makeUp)
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
    if form == .computed { return nil }
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
    var found: [String]?
    for path in FieldProbe.likely(keyPath, among: made.paths) {
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
    guard let path = found else { return nil }
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
  /// Whether it is asked for nil alone.
  var isOptional = false

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

/// The type inside an optional; any other type itself.
package func unwrapped(_ type: Any.Type) -> Any.Type {
  var type = type
  while let optional = type as? any OptionalIdentifier.Type { type = optional.wrapped }
  return type
}

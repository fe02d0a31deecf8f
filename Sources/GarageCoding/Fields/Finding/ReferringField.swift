internal import Synchronization

/// Finds out where the references of a property stand.
package enum ReferringField {
  /// Whether a property is computed, or reached by a subscript or through an optional that must not be nil.
  package static func isComputed<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> Bool {
    switch PropertyForm(keyPath) {
    case .stored, .settable: false
    case .ofCase, .computed: true
    }
  }

  /// Where the references of a property stand in records.
  package struct Place: Sendable {
    /// The coding keys that lead there.
    package let path: FieldPath
    /// Whether it is one object with a record of its own: a reference to it, unless its type had no identity before.
    package let isObject: Bool
    /// The keys that the type reads in each map on the way, the outermost first; nil of one that it reads whatever keys it has.
    ///
    /// A record that has others was written in another case of what the type tells apart by its own code, where the property may
    /// stand elsewhere.
    package let readKeys: [Set<String>?]
  }

  /// Where the references of a property stand; nil where that is not found.
  ///
  /// Runs the type's `init(from:)` with made-up values, and looks for the only one whose change changes the property's
  /// references.
  ///
  /// - Parameter type: the class in whose records it is looked for: that of the key path, or a subclass.
  package static func place<Root: Decodable, Value: Encodable>(
    of keyPath: KeyPath<Root, Value>, in type: any Decodable.Type
  ) -> Place? {
    let property = Property(keyPath: keyPath, type: ObjectIdentifier(type))
    let known = Known.paths.withLock { $0.byProperty[property] }
    if let known { return known }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let found = search(keyPath, type)
    Known.paths.withLock { known in
      if ProbeExperience.isLast(sampleCount) { known.byProperty[property] = .some(found) }
    }
    return found
  }

  /// Whether a type is known to read a field: it asks for it where an object is made up.
  package static func isRead(_ path: FieldPath, by type: any Decodable.Type) -> Bool {
    func made<T: Decodable>(_ type: T.Type) -> FieldProbe.Made? {
      let leaf = FieldProbe.Leaf(path: path.keys, change: .none)
      return (try? FieldProbe.object(type, leaf, fillsDictionaries: true))?.1
    }
    return made(type)?.asked.contains { FieldPath($0).withoutSuper == path.withoutSuper } ?? false
  }

  /// Has properties looked for again of which it was not found.
  static func forgetMissing() {
    Known.paths.withLock { known in known.byProperty = known.byProperty.filter { $0.value != nil } }
  }

  /// Has all properties of a type looked for again, because more objects of it are known now.
  static func forgetAll(in type: any Decodable.Type) {
    let root = ObjectIdentifier(type)
    Known.paths.withLock { known in known.byProperty = known.byProperty.filter { $0.key.type != root } }
  }

  private static func search<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ type: any Decodable.Type
  ) -> Place? {
    search(keyPath, type, fillsDictionaries: true)
      ?? search(keyPath, type, fillsDictionaries: false)
  }

  private static func search<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ type: any Decodable.Type, fillsDictionaries: Bool
  ) -> Place? {
    func references(_ leaf: FieldProbe.Leaf?) -> (Set<RecordIdentity>, FieldProbe.Made)? {
      func made<T: Decodable>(_ type: T.Type) -> (Any, FieldProbe.Made)? {
        try? FieldProbe.object(type, leaf, fillsDictionaries: fillsDictionaries)
      }
      guard let (object, made) = made(type), let object = object as? Root,
        let found = try? GraphEncoder().references(in: object[keyPath: keyPath])
      else { return nil }
      return (found, made)
    }
    // It is not known what other code does with made-up values.
    guard !isComputed(keyPath), let (before, made) = references(nil), !before.isEmpty else { return nil }
    let paths = FieldProbe.likely(keyPath, among: made.paths)
    let changing = paths.first { FieldProbe.different($0, references).map { $0.0 != before } ?? false }
    guard let changing else { return nil }
    // The value around it may have more references of the property.
    var path = made.wayInRecord(to: changing)
    while !path.isEmpty {
      // If there are two such fields, one alone would not tell all references.
      let beside = references(FieldProbe.Leaf(path: path, change: .allOthers))
      let without = references(FieldProbe.Leaf(path: path, change: .absent))
      if beside.map({ $0.0 == before }) ?? true, without.map({ $0.0.isEmpty }) ?? true {
        if !made.evolvingVersions(on: path).isEmpty { return nil }
        func isSame(_ leaf: FieldProbe.Leaf) -> Bool { references(leaf).map { $0.0 == before } ?? true }
        if !made.choices(beside: path).allSatisfy(isSame) || isDenied(path, keyPath, type) { return nil }
        return Place(
          path: FieldPath(path), isObject: made.objects.contains(path),
          readKeys: path.indices.map { made.readKeys(at: path[..<$0]) })
      }
      path.removeLast()
    }
    return nil
  }

  private struct Property: Hashable {
    let keyPath: AnyKeyPath
    let type: ObjectIdentifier
  }

  private struct Known: @unchecked Sendable {
    // @unchecked: key paths without captured values, which nothing changes.
    var byProperty: [Property: Place?] = [:]
    static let paths = Mutex(Known())
  }
}

extension FieldPath {
  /// The keys without those of containers that classes have for what their superclass writes.
  fileprivate var withoutSuper: [String] { keys.filter { $0 != PathKey.super.stringValue } }

  /// Whether it leads to another one, or to what that is in.
  package func isOnWay(to other: FieldPath) -> Bool { other.withoutSuper.starts(with: withoutSuper) }
}

extension FieldProbe.Made {
  /// The keys that are read in the map at a path; nil where these are whatever it has.
  fileprivate func readKeys(at path: ArraySlice<String>) -> Set<String>? {
    if dictionaries.contains(Array(path)) { return nil }
    let inside = asked.filter { $0.count == path.count + 1 && $0.starts(with: path) }
    return Set(inside.compactMap(\.last))
  }
}

extension GraphEncoder {
  /// The references of a value, and the value itself if it has a record of its own.
  package func references<T: Encodable>(in value: T) throws -> Set<RecordIdentity> {
    try withField(of: value) { place in
      var found: Set<RecordIdentity> = []
      try place.forEachReference { _, tag, identifier in
        found.insert(RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))))
      }
      return found
    }
  }
}

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

  /// Lets properties be looked for again whose place was not found.
  static func forgetMissing() {
    Known.paths.withLock { known in known.byProperty = known.byProperty.filter { $0.value != nil } }
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
        return Place(path: FieldPath(path), isObject: made.objects.contains(path))
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

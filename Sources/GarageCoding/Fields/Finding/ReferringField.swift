internal import Synchronization

/// Finds out where the objects stand that a property refers to.
package enum ReferringField {
  /// Whether a property is computed, or reached by a subscript or through an optional that must not be nil.
  package static func isComputed<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> Bool {
    switch PropertyForm(keyPath) {
    case .stored, .settable: false
    case .ofCase, .computed: true
    }
  }

  /// The coding keys that lead to what a property refers to; nil where they are not found.
  ///
  /// It runs the type's `init(from:)` with made-up values, and looks which of them alone changes what the property refers to.
  ///
  /// - Parameter depth: how many properties the key path goes through.
  package static func path<Root: Decodable, Value: Encodable>(
    of keyPath: KeyPath<Root, Value>, depth: Int
  ) -> FieldPath? {
    let known = Known.paths.withLock { $0.byKeyPath[keyPath] }
    if let known { return known }
    let sampleCount = ProbeExperience.sampleCount.load(ordering: .sequentiallyConsistent)
    let found = search(keyPath, depth)
    Known.paths.withLock { known in
      if ProbeExperience.isLast(sampleCount) { known.byKeyPath[keyPath] = .some(found) }
    }
    return found
  }

  /// Whether `init(from:)` asks for a key at all; true where no object can be made up to find out.
  package static func isAsked<Root: Decodable>(_ path: [String], in type: Root.Type) -> Bool {
    let made = try? FieldProbe.object(type, fillsDictionaries: true).1
    return made?.asked.contains(path) ?? true
  }

  /// Has properties looked for again of which it was not found.
  static func forgetMissing() {
    Known.paths.withLock { known in known.byKeyPath = known.byKeyPath.filter { $0.value != nil } }
  }

  private static func search<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ depth: Int
  ) -> FieldPath? {
    search(keyPath, depth, fillsDictionaries: true) ?? search(keyPath, depth, fillsDictionaries: false)
  }

  private static func search<Root: Decodable, Value: Encodable>(
    _ keyPath: KeyPath<Root, Value>, _ depth: Int, fillsDictionaries: Bool
  ) -> FieldPath? {
    func references(_ leaf: FieldProbe.Leaf?) -> (Set<RecordIdentity>, FieldProbe.Made)? {
      guard
        let (object, made) = try? FieldProbe.object(Root.self, leaf, fillsDictionaries: fillsDictionaries),
        let found = try? GraphEncoder().references(in: object[keyPath: keyPath])
      else { return nil }
      return (found, made)
    }
    // Nobody knows what other code does with values that are made up.
    guard !isComputed(keyPath), let (before, made) = references(nil), !before.isEmpty else { return nil }
    for path in FieldProbe.likely(keyPath, among: made.paths) where path.count >= depth {
      guard let (after, _) = FieldProbe.different(path, references), after != before else { continue }
      let path = Array(path.prefix(depth))
      // Of two fields, one would be half of the truth.
      let beside = references(FieldProbe.Leaf(path: path, change: .allOthers))
      let without = references(FieldProbe.Leaf(path: path, change: .absent))
      guard beside.map({ $0.0 == before }) ?? true, without.map({ $0.0.isEmpty }) ?? true else { return nil }
      return FieldPath(path)
    }
    return nil
  }

  private struct Known: @unchecked Sendable {
    // @unchecked: key paths without captured values, which nothing changes.
    var byKeyPath: [AnyKeyPath: FieldPath?] = [:]
    static let paths = Mutex(Known())
  }
}

extension GraphEncoder {
  fileprivate func references<T: Encodable>(in value: T) throws -> Set<RecordIdentity> {
    try withField(of: value) { place in
      var found: Set<RecordIdentity> = []
      try place.forEachReference { _, tag, identifier in
        found.insert(RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))))
      }
      return found
    }
  }
}

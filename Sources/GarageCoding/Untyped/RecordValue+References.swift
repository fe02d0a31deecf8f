// The references of a tree, and the same tree without some of them.

extension RecordValue {
  /// Visits the references. An object is visited as often as it is referred to.
  package func forEachReference(_ visit: (RecordIdentity, ReferenceKind) throws -> Void) rethrows {
    switch self {
    case .reference(let identity, let kind): try visit(identity, kind)
    case .array(let elements): for element in elements { try element.forEachReference(visit) }
    case .map(let fields): for (_, value) in fields { try value.forEachReference(visit) }
    case .versioned(_, let value), .withSyncStatus(_, let value): try value.forEachReference(visit)
    default: break
    }
  }

  /// The value that coding keys lead to, one after the other; nil if there is none. The fields of a superclass may stand behind
  /// a key of their own.
  package func value(at path: [String]) -> RecordValue? {
    guard let key = path.first else { return self }
    if let next = self[key] { return next.value(at: Array(path.dropFirst())) }
    return self[PathKey.super.stringValue]?.value(at: path)
  }

  /// The tree without the references that `isToGo` names, and their places: the keys that lead to them, with
  /// `FieldPath.element` for the elements of arrays.
  ///
  /// A property is removed as if it had been nil. The elements of an array do not tell for sure how the array is to change.
  /// Unless the forms say otherwise, an element is removed from an array that has only references. If keys and values seem to
  /// stand in turn, the key is removed with its value. In any other array a nil takes the element's place.
  ///
  /// - Parameter forms: what is known about the places.
  /// - Returns: the tree, the places, and those of them where keys and values seem to stand in turn.
  package func removingReferences(
    _ forms: ReferenceForms = ReferenceForms(), where isToGo: (RecordIdentity) throws -> Bool
  ) rethrows -> (value: RecordValue, places: Set<[String]>, pairs: Set<[String]>) {
    var removal = ReferenceRemoval(forms: forms)
    let value = try removal.rest(of: self, [], isToGo)
    return (value ?? .null, removal.places, removal.pairs)
  }
}

/// What is known of places from where references go.
package struct ReferenceForms: Sendable {
  /// Where a nil stays that is encoded as such.
  package var nulls: Set<[String]> = []
  /// Where elements are those of a collection.
  package var elements: Set<[String]> = []
  /// Where they are keys and values in turn.
  package var entries: Set<[String]> = []

  package init() {}

  package var isEmpty: Bool { nulls.isEmpty && elements.isEmpty && entries.isEmpty }
}

/// Takes references out of a tree.
private struct ReferenceRemoval {
  var places: Set<[String]> = []
  var pairs: Set<[String]> = []
  let forms: ReferenceForms

  /// What stays of a value; nil where it goes.
  mutating func rest(
    of value: RecordValue, _ path: [String], _ isToGo: (RecordIdentity) throws -> Bool
  ) rethrows -> RecordValue? {
    switch value {
    case .reference(let identity, _):
      if try !isToGo(identity) { return value }
      places.insert(path)
      return forms.nulls.contains(path) ? .null : nil
    case .map(let fields):
      // Anew: to take one key out of many takes as long as there are others. Those of the shape stay its keys, without a value.
      var rest = RecordFields(shapeOf: fields)
      for (key, inner) in fields {
        if let kept = try self.rest(of: inner, path + [key], isToGo) { rest.add(key, kept) }
      }
      return .map(rest)
    case .array(let elements):
      return .array(try self.elements(of: elements, path + [FieldPath.element], isToGo))
    case .versioned(let version, let inner):
      return try rest(of: inner, path, isToGo).map { .versioned(version, $0) }
    case .withSyncStatus(let status, let inner):
      return try rest(of: inner, path, isToGo).map { .withSyncStatus(status, $0) }
    default: return value
    }
  }

  private mutating func elements(
    of elements: [RecordValue], _ path: [String], _ isToGo: (RecordIdentity) throws -> Bool
  ) rethrows -> [RecordValue] {
    let rest = try elements.map { try self.rest(of: $0, path, isToGo) }
    if !rest.contains(where: { $0 == nil }) { return rest.compactMap { $0 } }
    let make =
      forms.elements.contains(path)
      ? .elements : forms.entries.contains(path) && elements.count % 2 == 0 ? .pairs : ArrayMake(elements)
    switch make {
    case .elements: return rest.compactMap { $0 }
    case .pairs:
      pairs.insert(path)
      return stride(from: 0, to: rest.count, by: 2).flatMap { place -> [RecordValue] in
        guard let key = rest[place], let value = rest[place + 1] else { return [] }
        return [key, value]
      }
    case .places: return rest.map { $0 ?? .null }
    }
  }

  /// What an array is made of, as far as its elements tell.
  private enum ArrayMake {
    /// Elements of one kind.
    case elements
    /// Keys and values in turn.
    case pairs
    /// Values whose places have a meaning.
    case places

    init(_ elements: [RecordValue]) {
      func isReference(_ value: RecordValue) -> Bool { if case .reference = value { true } else { false } }
      if elements.allSatisfy({ isReference($0) || $0.isNull }) {
        self = .elements
        return
      }
      func areAlike(_ first: Int) -> Bool {
        let values = stride(from: first, to: elements.count, by: 2).map { elements[$0] }
        return values.allSatisfy(isReference) || !values.contains(where: isReference)
      }
      self = elements.count % 2 == 0 && areAlike(0) && areAlike(1) ? .pairs : .places
    }
  }
}

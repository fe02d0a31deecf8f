/// Finds out whether values of a type are equal exactly if the scalars are that they are written as: an identifier of its own
/// type around a text or number, a point.
///
/// It cannot be seen whether an `==` is the compiler's, but `Hashable` demands that equal values feed a hasher alike. If the
/// values of a type feed it as their scalars would, one after the other, values of different scalars are not equal. That is
/// tried with many values that differ in something that an `==` of one's own might ignore. It is also tried whether all of them
/// are read back as they were.
enum PlainEquality {
  /// The paths of the scalars, in the order in which they are read; the empty path for a value that is written as one scalar.
  /// Nil where equality is not known to be that of scalars.
  static func leaves(of type: Any.Type) -> [[String]]? {
    func find<T: Decodable & Encodable & Hashable>(_ type: T.Type) -> [[String]]? { search(type) }
    if !ProbeContext.current.isAllowed { return memo.known(for: type) ?? nil }
    return memo.answer(for: type) {
      (type as? any (Decodable & Encodable & Hashable).Type).flatMap { find($0) }
    }
  }

  private static let memo = TypeMemo<[[String]]?>()

  private static func search<T: Decodable & Encodable & Hashable>(_ type: T.Type) -> [[String]]? {
    if TypeFacts.of(type).object.kind == .reference { return nil }
    guard let (first, made) = try? FieldProbe.object(type), isPlain(first, made, made.paths),
      !made.hasConverted, !made.paths.joined().contains(FieldPath.element)
    else { return nil }
    for path in made.paths {
      guard let (second, changed) = FieldProbe.different(path, { try FieldProbe.object(type, $0) }),
        second != first, isPlain(second, changed, made.paths)
      else { return nil }
      var changes = (0..<FieldProbe.formCount(of: .second)).map {
        FieldProbe.Leaf(path: path, change: .second, form: $0)
      }
      changes += (0..<MadeUpValue.variantCount).map { FieldProbe.Leaf(path: path, change: .variant($0)) }
      for change in changes {
        // There is no value that the type does not accept.
        guard let (value, changed) = try? FieldProbe.object(type, change) else { continue }
        if !isPlain(value, changed, made.paths) { return nil }
      }
      // A scalar that can be left out may have a default where none is written.
      let canBeAbsent =
        !path.isEmpty && (try? FieldProbe.object(type, FieldProbe.Leaf(path: path, change: .absent))) != nil
      if canBeAbsent { return nil }
    }
    return made.paths
  }

  /// Whether a value is written as the scalars that it was made of, and is hashed as these are.
  private static func isPlain<T: Encodable & Hashable>(
    _ value: T, _ made: FieldProbe.Made, _ paths: [[String]]
  ) -> Bool {
    guard !paths.isEmpty, made.paths == paths, let written = GraphEncoder.leaves(of: value, paths) else {
      return false
    }
    var (own, scalars) = (Hasher(), Hasher())
    value.hash(into: &own)
    for path in paths { made.hashable(path)?.hash(into: &scalars) }
    return written == paths.map { made[$0] } && own.finalize() == scalars.finalize() && value == value
  }
}

extension GraphEncoder {
  /// The scalars that a value is written as; nil where it is not written as scalars at these places.
  static func leaves(of value: some Encodable, _ paths: [[String]]) -> [FieldValue]? {
    try? GraphEncoder().withRecord(of: value) { record in
      var found: [FieldValue] = []
      for path in paths {
        guard case .value(let place) = try FieldLookup(FieldPath(path)).place(in: record),
          let scalar = try place.value()
        else { return nil }
        found.append(scalar)
      }
      return found
    }
  }
}

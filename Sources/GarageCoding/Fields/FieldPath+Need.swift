extension FieldPath {
  /// What a type takes in place of a field.
  package enum Substitute: Sendable {
    /// Nothing at all.
    case absence
    /// A nil that was encoded as such, and not nothing.
    case null
    /// Neither: they need what was there.
    case refused
  }

  /// With what in place of the field objects of a type decode; nil where that is not found out, as where no object can be made
  /// up, or where it is not known what the type does with the field. It runs the type's `init(from:)` with made-up values.
  ///
  /// - Parameter isInPairs: whether the field is an element that goes with the one beside it.
  package func substitute(in type: any Decodable.Type, isInPairs: Bool) -> Substitute? {
    func made<T: Decodable>(_ type: T.Type, _ leaf: FieldProbe.Leaf? = nil) -> FieldProbe.Made? {
      (try? FieldProbe.object(type, leaf, fillsDictionaries: true))?.1
    }
    func isDecoded(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool {
      made(type, FieldProbe.Leaf(path: path, change: change)) != nil
    }
    guard !keys.isEmpty, !TypeFacts.of(type).object.isEvolving, let first = made(type) else { return nil }
    // Where any key is taken, one stands for all.
    var path: [String] = []
    for key in keys { path.append(first.dictionaries.contains(path) ? FieldProbe.anyKey : key) }
    guard first.asked.contains(path), first.evolvingVersions(on: path).isEmpty else { return nil }
    let outer = Array(path.dropLast())
    if path.last == FieldPath.element {
      // What takes no other number of elements has a meaning for each of them.
      let counts = isInPairs ? [0, 2, 4] : [0, 1, 2, 3]
      return counts.allSatisfy { isDecoded(outer, .elementCount($0)) } ? .absence : nil
    }
    if first.dictionaries.contains(outer) { return isDecoded(outer, .elementCount(0)) ? .absence : nil }
    if isDecoded(path, .absent) { return .absence }
    return isDecoded(path, .null) ? .null : .refused
  }
}

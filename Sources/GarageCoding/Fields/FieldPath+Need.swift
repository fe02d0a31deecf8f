extension FieldPath {
  /// Whether objects of a type do not decode from a record that lacks the field; nil where none can be made up to find out. It
  /// runs the type's `init(from:)` with made-up values.
  package func isRequired(in type: any Decodable.Type) -> Bool? {
    // An element leaves its array, and nothing is left out.
    if keys.isEmpty || keys.last == FieldPath.element { return false }
    func isDecoded<T: Decodable>(_ type: T.Type, _ leaf: FieldProbe.Leaf?) -> Bool {
      (try? FieldProbe.object(type, leaf)) != nil
    }
    return isDecoded(type, nil) ? !isDecoded(type, FieldProbe.Leaf(path: keys, change: .absent)) : nil
  }
}

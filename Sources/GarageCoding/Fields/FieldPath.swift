/// The place of a field in records: the coding keys that lead to it, from the outermost map inwards.
package struct FieldPath: Hashable, Sendable, CustomStringConvertible {
  package var keys: [String]

  package init(_ keys: [String]) { self.keys = keys }

  /// The keys in a name, which has points between them.
  package init(name: String) { self.init(name.split(separator: ".").map(String.init)) }

  /// The keys with points between them.
  package var description: String { keys.joined(separator: ".") }
}

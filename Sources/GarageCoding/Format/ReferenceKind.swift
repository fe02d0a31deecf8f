/// How a record refers to another: what a decoder does with the entry.
public enum ReferenceKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Loaded before the object that refers to it is complete.
  case eager = 0
  /// Loaded with the object and filled in afterwards: may close a cycle.
  case linked = 1
  /// Not loaded: only its identity is kept.
  case lazy = 2
}

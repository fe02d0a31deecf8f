/// How a record refers to another: what a decoder does with the entry.
public enum ReferenceKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Loaded before the object that refers to it is complete.
  case eager = 0
  /// Loaded with the object and filled in afterwards: may close a cycle.
  case linked = 1
  /// Not loaded: only its identity is kept.
  case lazy = 2
}

/// Some kinds of references. Asked for each record on the way through a graph, so not a set.
struct ReferenceKinds: OptionSet {
  let rawValue: UInt8

  static let eager = ReferenceKinds(rawValue: 1 << ReferenceKind.eager.rawValue)
  static let linked = ReferenceKinds(rawValue: 1 << ReferenceKind.linked.rawValue)
  static let lazy = ReferenceKinds(rawValue: 1 << ReferenceKind.lazy.rawValue)

  @inline(__always)
  func contains(_ kind: ReferenceKind) -> Bool { rawValue & 1 << kind.rawValue != 0 }
}

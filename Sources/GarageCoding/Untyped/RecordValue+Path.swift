extension RecordValue {
  /// The first place of a reference to an object in this value, as a coding path: `owner`, `parts[3].maker`. Nil if there is no
  /// such reference.
  package func path(of identity: RecordIdentity) -> String? {
    switch self {
    case .reference(let other, _): return other == identity ? "" : nil
    case .map(let fields):
      for (key, value) in fields {
        if let rest = value.path(of: identity) { return RecordValue.joined(key, rest) }
      }
      return nil
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        if let rest = element.path(of: identity) { return RecordValue.joined("[\(index)]", rest) }
      }
      return nil
    case .versioned(_, let value), .withSyncStatus(_, let value): return value.path(of: identity)
    default: return nil
    }
  }

  private static func joined(_ first: String, _ rest: String) -> String {
    rest.isEmpty || rest.hasPrefix("[") ? first + rest : "\(first).\(rest)"
  }
}

extension RecordValue {
  /// The objects that this value refers to, in their order, each as often as it is referred to.
  public var references: [RecordIdentity] {
    switch self {
    case .reference(let identity, _): [identity]
    case .map(let fields): fields.flatMap { $0.value.references }
    case .array(let elements): elements.flatMap(\.references)
    case .versioned(_, let value), .withSyncStatus(_, let value): value.references
    default: []
    }
  }
}

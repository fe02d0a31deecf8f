/// Tells which of the values that a type has read are kept in the value that it made from them.
struct KeptValues {
  private struct Node {
    let label: String
    let value: Any
    var isTaken = false
  }
  private var nodes: [Node] = []

  init(_ value: Any) {
    var mirror: Mirror? = Mirror(reflecting: value)
    while let some = mirror {
      for child in some.children { add(child.value, label: child.label ?? "", depth: 0) }
      mirror = some.superclassMirror
    }
  }

  /// The reads whose values are not kept. A kept value stands for one read alone, preferably for the one with its name.
  mutating func missing(_ reads: [StoredReads.Read]) -> [StoredReads.Read] {
    let reads = reads.filter { !KeptValues.isNil($0.value) }
    var rest: [StoredReads.Read] = []
    for read in reads where !take(read, label: read.path.last) { rest.append(read) }
    return rest.filter { !take($0, label: nil) }
  }

  /// The reads that found nothing and for which there may be no property to keep a value. To be called after ``missing(_:)``.
  mutating func missing(absent: [[String]: Any.Type?]) -> [[String]] {
    let rest = absent.filter { path, type in
      !take { $0.label == path.last && KeptValues.isPlace($0, for: type) }
    }
    // If several reads match a property, and there are too few properties, it cannot be told whose they are.
    return rest.filter { _, type in
      nodes.count { !$0.isTaken && KeptValues.isPlace($0, for: type) }
        < rest.count { $0.value.map(unwrapped) == type.map(unwrapped) }
    }.map(\.key)
  }

  /// - Parameter type: nil where it is not known.
  private static func isPlace(_ node: Node, for type: Any.Type?) -> Bool {
    type.map { unwrapped(Swift.type(of: node.value)) == unwrapped($0) } ?? false
  }

  private mutating func take(_ read: StoredReads.Read, label: String?) -> Bool {
    take { (label == nil || $0.label == label) && KeptValues.isSame(read.value, $0.value) }
  }

  private mutating func take(_ isWanted: (Node) -> Bool) -> Bool {
    let found = nodes.firstIndex { !$0.isTaken && isWanted($0) }
    if let found { nodes[found].isTaken = true }
    return found != nil
  }

  // MARK: - What is in a value

  private static let maximumCount = 512
  private static let maximumDepth = 4

  private mutating func add(_ value: Any, label: String, depth: Int) {
    guard nodes.count < KeptValues.maximumCount else { return }
    // The property of a wrapper has an underscore before its name.
    let label = label.first == "_" ? String(label.dropFirst()) : label
    nodes.append(Node(label: label, value: value))
    guard depth < KeptValues.maximumDepth else { return }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional, .tuple, .enum, .collection, .set, .dictionary: break
    // A value that is made from several others, such as a range, may trap if these do not go together.
    case .struct: guard !TypeModule.isLibrary(type(of: value)), takesAnything(value) else { return }
    // Where a value is kept in a box.
    case .class: guard !TypeModule.isLibrary(type(of: value)) else { return }
    default: return
    }
    for child in mirror.children {
      add(child.value, label: mirror.displayStyle == .struct ? child.label ?? label : label, depth: depth + 1)
    }
  }

  /// Whether a value can be made from any raw value. If not, it may have been made with a forced unwrap.
  private func takesAnything(_ value: Any) -> Bool {
    func takes<T: RawRepresentable>(_ type: T.Type) -> Bool {
      [false, true].allSatisfy { isSecond in
        (MadeUpValue.of(T.RawValue.self, isSecond: isSecond) as? T.RawValue).map { T(rawValue: $0) != nil }
          ?? true
      }
    }
    return (type(of: value) as? any RawRepresentable.Type).map { takes($0) } ?? true
  }

  // MARK: - Which values are the same

  private static func isNil(_ value: Any) -> Bool { (value as? any OptionalIdentifier)?.isNil ?? false }

  static func isSame(_ read: Any, _ kept: Any) -> Bool {
    let (read, kept) = (withoutOptionals(read), withoutOptionals(kept))
    if let read = read as? any BinaryInteger {
      return (kept as? any BinaryInteger).map { isEqual(read, $0) } ?? false
    }
    guard type(of: read) == type(of: kept) else { return false }
    if type(of: read) is AnyClass { return read as AnyObject === kept as AnyObject }
    return (read as? any Equatable).map { isEqual($0, kept) } ?? true
  }

  private static func isEqual<N: BinaryInteger>(_ left: N, _ right: some BinaryInteger) -> Bool {
    left == right
  }

  private static func isEqual<T: Equatable>(_ left: T, _ right: Any) -> Bool {
    // Values that are not equal to themselves, such as NaN, count as the same.
    left == right as? T || left != left
  }

  private static func withoutOptionals(_ value: Any) -> Any {
    var value = value
    while Mirror(reflecting: value).displayStyle == .optional,
      let inner = Mirror(reflecting: value).children.first
    { value = inner.value }
    return value
  }
}

/// The modules whose types throw where a value does not suit them.
enum TypeModule {
  static func isLibrary(_ type: Any.Type) -> Bool {
    let name = String(reflecting: type)
    return ["Swift.", "Foundation.", "FoundationEssentials.", "__C.", "GarageCoding."].contains {
      name.hasPrefix($0)
    }
  }
}

/// The values that are stored in an object, or in stored values of it. Elements of collections do not count, because no
/// property is stored there.
struct StoredValues {
  private var values: [Any] = []

  /// - Parameter object: only its stored properties are looked at; no code is run.
  init(_ object: Any) {
    var level = StoredValues.children(of: object)
    for _ in 0...StoredValues.maximumDepth where values.count < StoredValues.maximumCount {
      values += level
      level = level.flatMap(StoredValues.children)
    }
  }

  /// Whether one of them is equal to a value, as far as that can be told.
  func contains(_ value: Any) -> Bool { values.contains { KeptValues.isSame(value, $0) } }

  private static let maximumDepth = 4
  private static let maximumCount = 4096

  private static func children(of value: Any) -> [Any] {
    var found: [Any] = []
    var mirror: Mirror? = Mirror(reflecting: value)
    while let some = mirror {
      switch some.displayStyle {
      case .collection, .set, .dictionary: return []
      default: found += some.children.map(\.value)
      }
      mirror = some.superclassMirror
    }
    return found
  }
}

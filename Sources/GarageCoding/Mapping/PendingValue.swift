/// A value, or how to make it when the objects that it holds are there.
enum PendingValue<Value: Decodable> {
  case value(Value)
  /// An object that is to be fetched, and the path of the property that names it.
  case object(Int, path: NotedPath)
  /// The first function fetches, the second one builds. Sets are built when all else is complete.
  case later((GraphWalk) throws -> () -> Value, isHashed: Bool)

  var isHashed: Bool { if case .later(_, let isHashed) = self { isHashed } else { false } }

  /// Fetches the objects, and returns the function that makes the value.
  func make(_ walk: GraphWalk) throws -> () -> Value {
    switch self {
    case .value(let value): return { value }
    case .object(let number, let path):
      guard let object = try find(number, walk) else {
        throw walk.state.missing(Value.self, walk.identities.identity(of: number), walk.keys(of: path))
      }
      return { object }
    case .later(let make, _): return try make(walk)
    }
  }

  /// The same, nil for an object whose record is gone.
  func makeOptional(_ walk: GraphWalk) throws -> () -> Value? {
    guard case .object(let number, _) = self else { return try make(walk) }
    let object = try find(number, walk)
    return { object }
  }

  private func find(_ number: Int, _ walk: GraphWalk) throws -> Value? {
    try walk.object(Value.self, walk.state.types.facts(of: Value.self).0, number)
  }
}

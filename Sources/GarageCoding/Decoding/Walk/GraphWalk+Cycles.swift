// What is said of plain properties that close a circle: no decoder can complete such objects.

extension GraphWalk {
  /// The error for an object that, through plain properties, is needed to complete itself.
  func cycle(to target: Int) throws -> GraphCodingError {
    let asking = state.record.number
    // Links and lazy references are followed only if there is no other way: their properties have become plain ones.
    var path = asking >= 0 ? try path(from: target, to: asking, [.eager]) : [target]
    if path.first != target { path = try self.path(from: target, to: asking, [.eager, .linked, .lazy]) }
    path.append(target)
    let names =
      path.count <= 24
      ? path.map(name)
      : path.prefix(12).map(name) + ["… \(path.count - 20) more …"] + path.suffix(8).map(name)
    return GraphCodingError.cycle(path: names.joined(separator: " → "))
  }

  /// A shortest way along references of these kinds; without one, the end alone.
  private func path(from start: Int, to end: Int, _ kinds: ReferenceKinds) throws -> [Int] {
    var cameFrom: [Int: Int] = [start: start]
    var queue = [start]
    var next = 0
    while next < queue.count, cameFrom[end] == nil {
      let number = queue[next]
      next += 1
      try forEachReference(of: number, kinds) { child in
        if cameFrom[child] == nil {
          cameFrom[child] = number
          queue.append(child)
        }
      }
    }
    var path = [end]
    while let last = path.last, last != start, let before = cameFrom[last] { path.append(before) }
    return path.reversed()
  }
}

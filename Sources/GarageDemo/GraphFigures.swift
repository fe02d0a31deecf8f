import DebianPackages

/// Figures of a graph of packages, counted from the objects only.
struct GraphFigures {
  /// How many packages there are.
  let packages: Int
  /// How many links there are from one package to another, or to itself.
  let references: Int
  /// The strongly connected components with more than one package: sets of packages that all reach one another. Members are
  /// sorted by name, sets by their first member.
  let cycles: [[Package]]
  /// The package that reaches most others; if there are several, the first by name. Nil if there are no packages.
  let farthestReaching: Package?

  /// Counts the figures of `packages`.
  ///
  /// Throws ``DemoError`` if one of them links to an object that is not among them, which would mean that a record came back as
  /// two objects.
  init(of packages: [Package]) throws {
    let graph = try IndexedGraph(packages)
    let components = graph.components()
    self.packages = packages.count
    references = graph.targets.count
    cycles = components.members.filter { $0.count > 1 }
      .map { members in members.map { packages[$0] }.sorted { $0.name < $1.name } }
      .sorted { $0[0].name < $1[0].name }
    farthestReaching = graph.farthestReaching(components) { packages[$0].name }.map { packages[$0] }
  }
}

/// The packages that one package reaches, found by following its objects.
struct Reach {
  /// The packages at each distance from the first, which stands alone at distance 0.
  let levels: [[Package]]

  init(of root: Package) {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(root)]
    var levels = [[root]]
    while true {
      let next = levels[levels.count - 1].flatMap(\.depends).filter { package in
        seen.insert(ObjectIdentifier(package)).inserted
      }
      if next.isEmpty { break }
      levels.append(next)
    }
    self.levels = levels
  }

  var packages: [Package] { levels.flatMap { $0 } }
  /// How many packages it reaches, without itself.
  var count: Int { levels.reduce(0) { $0 + $1.count } - 1 }
}

/// The strongly connected components of a graph.
private struct Components {
  /// The nodes of each component.
  var members: [[Int]] = []
  /// The component of each node.
  var ofNode: [Int]
}

/// A graph of numbered nodes: node `i` links to `targets[offsets[i]..<offsets[i + 1]]`.
private struct IndexedGraph {
  var offsets: [Int] = [0]
  var targets: [Int] = []

  var count: Int { offsets.count - 1 }

  init(_ packages: [Package]) throws {
    var positions: [ObjectIdentifier: Int] = [:]
    positions.reserveCapacity(packages.count)
    for (position, package) in packages.enumerated() { positions[ObjectIdentifier(package)] = position }
    for package in packages {
      for dependency in package.depends {
        guard let position = positions[ObjectIdentifier(dependency)] else {
          throw DemoError.failed(
            "\(package.name) links to an object for \(dependency.name) that is not the one retrieved with it."
          )
        }
        targets.append(position)
      }
      offsets.append(targets.count)
    }
  }

  /// The strongly connected components, by the path-based algorithm of H. N. Gabow (Information Processing
  /// Letters 74, 2000), in linear time and without recursion.
  func components() -> Components {
    var result = Components(ofNode: [Int](repeating: -1, count: count))
    var order = [Int](repeating: -1, count: count)
    var visited = 0
    var next = offsets
    var path: [Int] = []  // the nodes on the way down
    var open: [Int] = []  // visited nodes whose component is not known yet
    var roots: [Int] = []  // of those, the ones that may still be the first of their component

    func enter(_ node: Int) {
      order[node] = visited
      visited += 1
      path.append(node)
      open.append(node)
      roots.append(node)
    }
    for start in 0..<count where order[start] < 0 {
      enter(start)
      while let node = path.last {
        if next[node] < offsets[node + 1] {
          let target = targets[next[node]]
          next[node] += 1
          if order[target] < 0 {
            enter(target)
          } else if result.ofNode[target] < 0 {
            while let root = roots.last, order[root] > order[target] { roots.removeLast() }
          }
          continue
        }
        path.removeLast()
        guard roots.last == node else { continue }
        roots.removeLast()
        var members: [Int] = []
        repeat {
          members.append(open.removeLast())
          result.ofNode[members[members.count - 1]] = result.members.count
        } while members[members.count - 1] != node
        result.members.append(members)
      }
    }
    return result
  }

  /// The node that reaches most other nodes; if there are several, the first by name.
  ///
  /// A node's targets are also reached by every node that links to it. So only components without links from outside can reach
  /// most, and only from these is the graph walked. All nodes of a component reach the same nodes.
  func farthestReaching(_ components: Components, name: (Int) -> String) -> Int? {
    var isLinkedTo = [Bool](repeating: false, count: components.members.count)
    for node in 0..<count {
      for target in targets[offsets[node]..<offsets[node + 1]]
      where components.ofNode[target] != components.ofNode[node] {
        isLinkedTo[components.ofNode[target]] = true
      }
    }

    var best: (reach: Int, name: String, node: Int)?
    var lastSeenFrom = [Int](repeating: -1, count: count)
    var queue: [Int] = []
    for (component, members) in components.members.enumerated() where !isLinkedTo[component] {
      queue.removeAll(keepingCapacity: true)
      queue.append(members[0])
      lastSeenFrom[members[0]] = component
      var head = 0
      while head < queue.count {
        let node = queue[head]
        head += 1
        for position in offsets[node]..<offsets[node + 1] where lastSeenFrom[targets[position]] != component {
          lastSeenFrom[targets[position]] = component
          queue.append(targets[position])
        }
      }
      if let best, queue.count < best.reach { continue }
      for node in members {
        let name = name(node)
        if let best, queue.count == best.reach, best.name <= name { continue }
        best = (queue.count, name, node)
      }
    }
    return best?.node
  }
}

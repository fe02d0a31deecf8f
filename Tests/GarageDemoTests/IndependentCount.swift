/// Counts what is in a package database, without a garage and in another way than the demo does: line by line
/// from text, with dictionaries, Tarjan's algorithm, and a walk from every single package.
struct IndependentCount {
  private(set) var dependencies: [String: [String]] = [:]

  var packages: Int { dependencies.count }
  var references: Int { dependencies.values.reduce(0) { $0 + $1.count } }

  init(text: String) {
    var fields: [String: String] = [:]
    var lastField = ""
    var stanzas: [[String: String]] = []
    for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false) {
      var line = line
      if line.last == 13 { line.removeLast() }
      if line.allSatisfy({ $0 == 32 || $0 == 9 }) {
        stanzas.append(fields)
        fields = [:]
        lastField = ""
      } else if line.first == 32 || line.first == 9 {
        fields[lastField]?.append(" " + String(Substring(line)))
      } else if let colon = line.firstIndex(of: 58) {
        lastField = Substring(line[..<colon]).lowercased()
        if !["package", "depends", "pre-depends"].contains(lastField) || fields[lastField] != nil {
          lastField = ""
        } else {
          fields[lastField] = String(Substring(line[line.index(after: colon)...]))
        }
      }
    }
    stanzas.append(fields)
    link(stanzas)
  }

  private mutating func link(_ stanzas: [[String: String]]) {
    var wanted: [String: [String]] = [:]
    for stanza in stanzas {
      guard let name = stanza["package"].map(IndependentCount.trim), !name.isEmpty, wanted[name] == nil else {
        continue
      }
      wanted[name] = [stanza["pre-depends"], stanza["depends"]].flatMap { field in
        (field ?? "").split(separator: ",").map { entry in
          let alternative = entry.split(separator: "|", omittingEmptySubsequences: false)[0]
          let name = alternative.prefix { !"([<:".contains($0) }
          return IndependentCount.trim(String(name))
        }
      }
    }
    for (name, others) in wanted {
      var unique: [String] = []
      for other in others where wanted[other] != nil && !unique.contains(other) { unique.append(other) }
      dependencies[name] = unique
    }
  }

  private static func trim(_ text: String) -> String {
    var text = Substring(text)
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  /// How many packages `name` reaches, itself not counted.
  func reach(of name: String) -> Int {
    var seen: Set<String> = [name]
    var rest = [name]
    while let next = rest.popLast() {
      for other in dependencies[next] ?? [] where seen.insert(other).inserted { rest.append(other) }
    }
    return seen.count - 1
  }

  /// The largest reach of any package, and every package that has it.
  func farthest() -> (reach: Int, names: Set<String>) {
    let names = Array(dependencies.keys)
    let numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    let links = names.map { dependencies[$0]!.map { numbers[$0]! } }
    var seenFrom = [Int](repeating: -1, count: names.count)
    var best: (reach: Int, names: Set<String>) = (-1, [])
    for start in links.indices {
      var found = [start]
      seenFrom[start] = start
      var position = 0
      while position < found.count {
        for next in links[found[position]] where seenFrom[next] != start {
          seenFrom[next] = start
          found.append(next)
        }
        position += 1
      }
      if found.count - 1 > best.reach { best = (found.count - 1, []) }
      if found.count - 1 == best.reach { best.names.insert(names[start]) }
    }
    return best
  }

  /// The strongly connected components with more than one member (R. Tarjan, SIAM Journal on Computing 1, 1972).
  func cycles() -> Set<Set<String>> {
    var index: [String: Int] = [:]
    var low: [String: Int] = [:]
    var stack: [String] = []
    var onStack: Set<String> = []
    var cycles: Set<Set<String>> = []
    var work: [(name: String, next: Int)] = []

    for root in dependencies.keys where index[root] == nil {
      work.append((root, 0))
      while let (name, next) = work.popLast() {
        if next == 0 {
          index[name] = index.count
          low[name] = index[name]
          stack.append(name)
          onStack.insert(name)
        }
        let others = dependencies[name]!
        if next > 0 { low[name] = min(low[name]!, low[others[next - 1]]!) }
        if next < others.count {
          work.append((name, next + 1))
          let other = others[next]
          if index[other] == nil {
            work.append((other, 0))
          } else if !onStack.contains(other) {
            // Its component is complete: it has no say in this one.
            low[other] = Int.max
          }
          continue
        }
        guard low[name] == index[name] else { continue }
        var members: Set<String> = []
        while let member = stack.popLast() {
          onStack.remove(member)
          members.insert(member)
          if member == name { break }
        }
        if members.count > 1 { cycles.insert(members) }
      }
    }
    return cycles
  }
}

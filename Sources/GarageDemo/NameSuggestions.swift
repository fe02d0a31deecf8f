/// Names that were perhaps meant by a name that does not exist.
enum NameSuggestions {
  /// Up to `limit` of `names`, the most similar first: those that need the fewest insertions, deletions and replacements of a
  /// byte (Levenshtein's distance). Names that need more than a third of the name's length are left out.
  static func nearest(
    to name: String, in names: some Sequence<String>, limit: Int = 3
  ) -> [String] {
    let wanted = Array(name.utf8)
    let farthest = max(2, wanted.count / 3)
    var found: [(distance: Int, name: String)] = []
    for candidate in names {
      let bytes = Array(candidate.utf8)
      guard abs(bytes.count - wanted.count) <= farthest else { continue }
      let distance = distance(wanted, bytes)
      if distance <= farthest { found.append((distance, candidate)) }
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
  }

  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, byte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let replaced = diagonal + (byte == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[right.count]
  }
}

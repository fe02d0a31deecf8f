extension FieldProbe.Made {
  /// So many are made at most, so that types which have enums in each other do not take long.
  private static let maximumChoiceCount = 512

  /// Objects in which something beside the value at a path is another one by which a type's code may decide under which key it reads
  /// a property, or what it makes of it: each case of each enum, and each truth value, once for each of some changes at the path.
  /// Those nearest to the object come first.
  ///
  /// Those of other objects are not in the record. A text, a number or a missing value may decide it, too, but nobody knows
  /// which: objects that are stored may show it.
  func choices(
    beside path: [String], _ changes: [FieldProbe.Leaf.Change] = [.none, .allOthers]
  ) -> [FieldProbe.Leaf] {
    var counts = caseCounts.merging(keyedCaseCounts) { first, _ in first }
    for place in truthValues { counts[place] = 2 }
    let places = counts.keys.filter { place in
      !place.starts(with: path) && !place.indices.contains { objects.contains(Array(place[...$0])) }
    }
    let sorted = places.sorted {
      $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count
    }
    var leaves: [FieldProbe.Leaf] = []
    for place in sorted {
      for number in 0..<(counts[place] ?? 0) {
        leaves += changes.map {
          FieldProbe.Leaf(path: path, change: $0, enumCase: .init(path: place, number: number))
        }
      }
      if leaves.count >= Self.maximumChoiceCount { break }
    }
    return leaves
  }
}

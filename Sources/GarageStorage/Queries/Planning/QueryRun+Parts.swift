internal import GarageCoding
internal import GarageDriver

// What a query finds, where all of it is wanted.

extension QueryRun {
  /// Visits what the query finds, and says in which order it is to stand.
  ///
  /// Where all are wanted in an order that no index has, matches are visited as they are met, and the caller sorts what it made
  /// of them. To get each record once more by its key, in the order of the query, would take longer.
  ///
  /// - Parameters:
  ///   - keepsObjects: as for ``forEachMatch(keepsObjects:_:)``.
  ///   - visit: returns whether it took the match: it does not where the record is of another class.
  /// - Returns: which of them is to stand at each place (`Array.arrange`); nil where they come in the order of the query.
  func forEachPart(
    keepsObjects: Bool = false, _ visit: (RawSpan, RawSpan, DecodedObject<Root>?) throws -> Bool
  ) throws -> [Int]? {
    if !sortsParts {
      try forEachMatch(keepsObjects: keepsObjects) { key, record, known in
        _ = try visit(key, record, known)
        return .continue
      }
      return nil
    }
    let sorting = RowSorting(limit: nil, behind: nil)
    let fields = sortedFields
    try forEachUnsorted(keepsObjects: keepsObjects) { key, record, known in
      if try visit(key, record, known) { try appendRow(fields, key, record, known, to: sorting) }
      return .continue
    }
    return sorting.places()
  }

  /// Whether parts are visited before they are sorted.
  var sortsParts: Bool {
    query.maximumCount == nil && start == nil && way.order == nil && !query.sortKeys.isEmpty
      && query.sortKeys.allSatisfy { $0.isOrderOfFields }
  }
}

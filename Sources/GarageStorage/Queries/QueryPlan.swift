/// How a query is answered: what is read for it, and what is decided where.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// The plan in words, a line for each step.
  public let description: String
  /// The names of the indexes that are used.
  public let indexes: [String]
  /// Whether every record of the type is read.
  public let readsAllRecords: Bool
}

extension Query {
  /// How the query is answered. Reads nothing.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, and what encoding the query's constants throws.
  public func explain() throws -> QueryPlan {
    try run { run in
      var lines = ["reads the records of \(Root.self) in the order of their identifiers"]
      let (ofFields, ofObjects) = run.filterTexts
      if !ofFields.isEmpty { lines.append("decides from their bytes: \(ofFields.joined(separator: ", "))") }
      if !ofObjects.isEmpty {
        lines.append("decodes objects to decide: \(ofObjects.joined(separator: ", "))")
      }
      if !sortKeys.isEmpty {
        let ways = sortKeys.map { "\($0.text)\($0.isAscending ? "" : ", descending")" }
        lines.append(
          "sorts what it found by \(ways.joined(separator: ", then "))"
            + (maximumCount.map { ", and keeps \($0)" } ?? ""))
      } else if let maximumCount {
        lines.append("ends when \(maximumCount) are found")
      }
      return QueryPlan(
        description: lines.joined(separator: "\n"), indexes: [],
        readsAllRecords: maximumCount == nil || !sortKeys.isEmpty)
    }
  }
}

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
  /// How the query is answered. This finds nothing. But like any first query of a type it reads up to 16 of its objects, and
  /// makes the indexes that the type declares (`Indexed`), where they are missing.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, and what encoding the query's constants throws.
  public func explain() throws -> QueryPlan {
    try run(isExplained: true) { run in
      let way = run.way
      var lines: [String] = []
      let scans = way.order.map { [$0] } ?? way.plan?.scans ?? []
      let others = way.order == nil ? way.plan?.others ?? [] : []
      let names = (scans + others).map(\.item.name)
      if let identifiers = way.identifiers {
        lines.append(QueryPlan.text(identifiers, "\(Root.self)"))
      } else if scans.isEmpty {
        lines.append("reads the records of \(Root.self) in the order of their identifiers")
      } else {
        for scan in scans {
          let isAnswer = scan.stretches.allSatisfy(\.isExact)
          lines.append(
            "reads \(QueryPlan.text(scan)) of the index \"\(scan.item.name)\""
              + (isAnswer ? ", which answers the condition" : ", and the records that these lead to"))
        }
        for other in others {
          lines.append(
            "reads \(QueryPlan.text(other)) of the index \"\(other.item.name)\" beside it: the shorter one leads, and what it"
              + " alone leads to is left out where the longer one is up to twice as long")
        }
        if way.isUnsaved { lines.append("asks each record, because there are unsaved changes") }
      }
      let (ofFields, ofObjects) = run.filterTexts
      if !ofFields.isEmpty { lines.append("decides from their bytes: \(ofFields.joined(separator: ", "))") }
      if !ofObjects.isEmpty {
        lines.append("decodes objects to decide: \(ofObjects.joined(separator: ", "))")
      }
      let isInOrder = way.order != nil || way.isOrderOfIdentifiers
      if isInOrder {
        lines.append(
          "finds them in their order" + (maximumCount.map { ", and ends when \($0) are found" } ?? ""))
      } else if !sortKeys.isEmpty {
        let ways = sortKeys.map { "\($0.text())\($0.isAscending ? "" : ", descending")" }
        lines.append(
          "sorts what it found by \(ways.joined(separator: ", then "))"
            + (maximumCount.map { ", and keeps \($0)" } ?? ""))
      } else if let maximumCount {
        lines.append("ends when \(maximumCount) are found")
      }
      if scans.isEmpty, way.identifiers == nil, let index = run.helpfulIndex {
        lines.append("would read less with \(index)")
      }
      return QueryPlan(
        description: lines.joined(separator: "\n"), indexes: names,
        readsAllRecords: scans.isEmpty && way.identifiers == nil
          && (maximumCount == nil || !sortKeys.isEmpty && !isInOrder))
    }
  }
}

extension QueryPlan {
  fileprivate static func text(_ identifiers: ValueRanges, _ type: String) -> String {
    let ranges = identifiers.ranges
    if ranges.allSatisfy(\.isPoint) {
      return ranges.count == 1
        ? "reads one record of \(type) by its identifier"
        : "reads \(ranges.count) records of \(type) by their identifiers"
    }
    return
      "reads the records of \(type) in \(ranges.count == 1 ? "a range" : "\(ranges.count) ranges") of identifiers"
  }

  fileprivate static func text(_ scan: IndexPlan.Scan) -> String {
    if scan.stretches.count == 1, scan.stretches[0].isPoint { return "one value" }
    // Those that touch differ only in what the records are asked.
    let touching = zip(scan.stretches, scan.stretches.dropFirst()).count { $0.upper == $1.lower }
    let count = scan.stretches.count - touching
    return count == 1 ? "a range" : "\(count) ranges"
  }
}

extension QueryRun {
  /// The declaration of an index that would lead to what is found; nil where none would.
  var helpfulIndex: String? {
    var texts: [String] = []
    var findsEqual = true
    for term in filter.map({ QueryPlanner.terms($0.node) }) ?? [] {
      guard case .field(let field) = term, field.isSameInSubclasses, !field.isPart else { continue }
      let property = String(field.text().prefix { $0 != " " })
      switch field.test {
      case .containsElement: return declaration([property], label: "each: ", findsEqual: true)
      case .equalsIgnoringCase: return declaration([property], option: ".caseInsensitive", findsEqual: false)
      case .text: continue
      // No index may be of such a property.
      case .isNull, .isThere: continue
      case .equals, .isOneOf:
        if !texts.contains(property) { texts.insert(property, at: 0) }
      case .isLess, .isGreater, .hasPrefix:
        findsEqual = false
        if !texts.contains(property) { texts.append(property) }
      }
    }
    if texts.isEmpty, !way.isOrderOfIdentifiers, zip(query.sortKeys, sortFields).allSatisfy({ $1 != nil }) {
      findsEqual = false
      texts = query.sortKeys.map { $0.text() }
    }
    return declaration(Array(texts.prefix(3)), findsEqual: findsEqual)
  }

  /// - Parameter findsEqual: whether equal values alone are asked for. On a sealed storage an index of hashes then does; for
  ///   anything else the values have to be readable.
  private func declaration(
    _ properties: [String], label: String = "", option: String? = nil, findsEqual: Bool
  ) -> String? {
    // Swift does not tell the name of a computed property.
    if properties.isEmpty || properties.contains(where: { $0.contains("<") }) { return nil }
    var parts = properties
    if let option { parts.append(option) }
    if access.garage.objectKeys.isSealed { parts.append(findsEqual ? ".hashed" : ".readable") }
    return "Index(\(label)\(parts.joined(separator: ", ")))"
  }
}

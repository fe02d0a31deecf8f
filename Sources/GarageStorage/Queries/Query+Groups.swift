internal import GarageCoding
internal import GarageDriver

// Values that the entries of an index tell, so that one record is read for each different value, and not one for each object.

extension Query {
  /// The different values that a property has among all objects, in the order in which they are found first, and how many
  /// objects have each. Nil where the entries of no index tell them, or tell them in another order than that of the query.
  @usableFromInline
  func groups<Value: Hashable & Codable>(
    _ property: KeyPath<Root, Value>, counting: Bool
  ) throws -> [(value: Value, count: Int)]? {
    if condition != nil || maximumCount != nil || !counting && !sortKeys.isEmpty { return nil }
    return try unsorted.run { run in
      let column = try run.column(property)
      guard let field = column.storedField?.comparable, let entries = try run.entryGroups(of: field),
        var groups = try entries.all(counting: counting)
      else { return nil }
      var found: [(value: Value, count: Int)] = []
      if groups.contains(where: { !$0.isFirstKnown }) {
        guard let rest = try run.groupsBehindFirstValues(of: column, groups, entries, &found) else {
          return found
        }
        groups = rest
      }
      groups.sort { $0.isBefore($1) }
      for group in groups {
        // What is not equal to itself is counted one by one.
        guard let value = try run.value(of: column, group), value == value else { return nil }
        found.append((value, group.count))
      }
      return found
    }
  }

  /// The least or greatest value of a property among the objects found, where an index has them in that order; `.some(nil)`
  /// where no object is found. Nil where no index has them, and where the first value is NaN or nil: the caller then reads them
  /// all.
  @usableFromInline func extremeByIndex<Value: Comparable & Codable>(
    _ property: KeyPath<Root, Value>, _ direction: SortDirection
  ) throws -> Value?? {
    guard maximumCount == nil else { return nil }
    return try unsorted.sorted(by: property, direction).limit(1).firstByIndex(property) { $0 == $0 }
  }

  /// The same for a property that may be nil.
  @usableFromInline func extremeByIndex<Value: Comparable & Codable>(
    _ property: KeyPath<Root, Value?>, _ direction: SortDirection
  ) throws -> Value?? {
    guard maximumCount == nil else { return nil }
    let found = try unsorted.sorted(by: property, direction).limit(1).firstByIndex(property) { value in
      value.map { $0 == $0 } ?? false
    }
    return found.map { $0 ?? nil }
  }

  private func firstByIndex<Value: Codable>(
    _ property: KeyPath<Root, Value>, _ isOrdered: (Value) -> Bool
  ) throws -> Value?? {
    try run { run -> Value?? in
      guard run.way.order != nil else { return nil }
      let column = try run.column(property)
      var (first, isThere) = (nil as Value?, false)
      try run.forEachMatch(keepsObjects: false) { key, record, known in
        isThere = true
        first = try column.value(run, key, record, known)
        return .stop
      }
      if !isThere { return .some(nil) }
      guard let first, isOrdered(first) else { return nil }
      return .some(first)
    }
  }
}

extension QueryRun {
  /// The groups of an index whose entries tell what all objects have in a field, which is the first of its fields; nil where there
  /// is none.
  fileprivate func entryGroups(of field: StoredField) throws -> EntryGroups? {
    let tags = try access.presentTags(of: facts)
    guard tags.count == 1, !facts.ofCoder.isOfClass, query.condition == nil,
      let catalog = try access.garage.indexing.catalog(in: access)
    else { return nil }
    if access.unsavedChanges?.hasChange(in: KeyLayout.allRecords) == true { return nil }
    var found: IndexCatalog.Item?
    for item in catalog.items where item.state == .ready && item.definition.tag == tags[0] {
      let definition = item.definition
      guard !definition.isOfReferences, !definition.isEach, !definition.isHashed,
        definition.tells(facts), let component = definition.components.first,
        component.path == field.path, !component.ignoresCase, !item.kinds.has(OrderedBytes.Kind.other, in: 0),
        field.absentIsNull || !item.kinds.hasAbsent(in: 0)
      else { continue }
      // Of one field the first entry of a value is that of the first record.
      if found.map({ definition.components.count < $0.definition.components.count }) ?? true { found = item }
    }
    return found.map { EntryGroups(access.transaction, $0, typeName: facts.name) }
  }

  /// What the records of a group have in its field.
  fileprivate func value<Value: Codable>(
    of column: QueryColumn<Root, Value>, _ group: EntryGroup
  ) throws -> Value? {
    let bytes = group.key.bytes
    return try access.transaction.withValue(for: bytes.span.bytes) { record -> Value? in
      guard let record else { return nil }
      return try column.value(self, bytes.span.bytes, record, nil)
    }
  }

  /// Finds out by the first records which value comes first: mostly all are met soon.
  ///
  /// - Parameter found: gets the values that are met, in their order.
  /// - Returns: the groups whose values are not met there, and the first record of each; nil where there are none.
  fileprivate func groupsBehindFirstValues<Value: Hashable & Codable>(
    of column: QueryColumn<Root, Value>, _ groups: [EntryGroup], _ entries: EntryGroups,
    _ found: inout [(value: Value, count: Int)]
  ) throws -> [EntryGroup]? {
    var known = Set<Value>()
    // So many that of values which are about as frequent as each other all are among them.
    var restCount = Swift.max(1024, 16 * groups.count)
    try forEachMatch(keepsObjects: false) { key, record, object in
      try column.visit(self, key, record, object) {
        if known.insert($0).inserted { found.append(($0, 0)) }
      }
      restCount -= 1
      return known.count < groups.count && restCount > 0 ? .continue : .stop
    }
    if known.count >= groups.count || restCount > 0 { return nil }
    var rest: [EntryGroup] = []
    for group in groups {
      if let value = try value(of: column, group), known.contains(value) { continue }
      rest.append(try entries.withFirst(group))
    }
    return rest
  }
}

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
      guard let field = column.storedField?.comparable, let item = try run.index(of: field),
        var groups = try run.groups(of: item, counting: counting)
      else { return nil }
      groups.sort {
        let (left, right) = ($0.key.bytes.span.bytes, $1.key.bytes.span.bytes)
        return compareKeys(
          left.extracting(KeyLayout.identifierOffset...), right.extracting(KeyLayout.identifierOffset...)) < 0
      }
      var found: [(value: Value, count: Int)] = []
      for group in groups {
        let bytes = group.key.bytes
        let value = try run.access.transaction.withValue(for: bytes.span.bytes) { record -> Value? in
          guard let record else { return nil }
          return try column.value(run, bytes.span.bytes, record, nil)
        }
        // A value that is not equal to itself, such as NaN, makes no group: each object with it counts by itself.
        guard let value, value == value else { return nil }
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
  /// One of the different values in an index: the first record, by identifier, that has it, and how many records have it.
  struct Group {
    var key: StorageKey
    var count: Int
  }

  /// An index of one field whose entries tell what all objects have there; nil where there is none.
  fileprivate func index(of field: StoredField) throws -> IndexCatalog.Item? {
    let tags = try access.presentTags(of: facts)
    guard tags.count == 1, !facts.ofCoder.isOfClass, query.condition == nil,
      let catalog = try access.garage.indexing.catalog(in: access)
    else { return nil }
    if access.unsavedChanges?.hasChange(in: KeyLayout.allRecords) == true { return nil }
    return catalog.items.first { item in
      let definition = item.definition
      guard item.state == .ready, definition.tag == tags[0], !definition.isOfReferences, !definition.isEach,
        !definition.isHashed, definition.components.count == 1,
        definition.typeVersion == facts.ofCoder.currentVersion
      else { return false }
      let component = definition.components[0]
      let hasNull = item.kinds.hasNull || item.kinds.hasAbsent
      return component.path == field.path && !component.ignoresCase && !item.kinds.hasOther
        && (field.absentIsNull || !hasNull)
    }
  }

  /// The groups of entries with the same values; nil where some are cut.
  fileprivate func groups(of item: IndexCatalog.Item, counting: Bool) throws -> [Group]? {
    var range = KeyLayout.entries(tag: item.definition.tag, index: item.id)
    var groups: [Group] = []
    var values: [UInt8] = []
    var isCut = false
    var isAtEnd = false
    while !isAtEnd && !isCut {
      isAtEnd = true
      try access.transaction.scan(range, .forward) { entry, value in
        guard let place = IndexBatch.identifierPlace(value), place < entry.byteCount else {
          throw GarageError.corruptRecord(
            type: facts.name, identifier: "index entry \(StorageKey(entry))", reason: "it has no identifier")
        }
        let isSame = compareKeys(entry.extracting(..<place), values.span.bytes) == 0
        if isSame {
          groups[groups.count - 1].count += 1
          // Of a large group the rest is passed over.
          if counting || groups[groups.count - 1].count < 32 { return .continue }
          isAtEnd = false
          return .stop
        }
        isCut = place == KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount
        if isCut { return .stop }
        values = [UInt8](copying: entry.extracting(..<place))
        groups.append(Group(key: KeyLayout.record(ofEntry: entry, identifierAt: place), count: 1))
        return .continue
      }
      if !isAtEnd { range.lowerBound = StorageKeyRange.prefix(values).upperBound ?? values }
    }
    return isCut ? nil : groups
  }
}

internal import GarageCoding
internal import GarageDriver

/// How indexes, or the order of identifiers, lead to what a query finds.
struct IndexWay {
  /// To all that may be found, in no order; nil where every record is to be looked at.
  var plan: IndexPlan?
  /// To what is found in the order of the query, where that is better.
  var order: IndexPlan.Scan?
  /// The ranges of identifiers among which all that may be found stands; nil where it may stand anywhere.
  var identifiers: ValueRanges?
  /// Whether records stand in the order of the query, or against it.
  var isOrderOfIdentifiers = false
  /// Whether records have changes that are not saved, so that no entry answers for its record.
  var isUnsaved = false
  /// The tags under which there are records.
  var tags: [UInt64] = []
}

extension QueryRun {
  /// Looks for indexes.
  func findWay() throws -> IndexWay {
    var way = IndexWay()
    if filter == nil && query.sortKeys.isEmpty { return way }
    try findIdentifiers(&way)
    // No index leads to less.
    if way.identifiers?.ranges.allSatisfy(\.isPoint) ?? false { return way }
    try findIndexes(&way)
    if way.plan != nil || way.order != nil { way.identifiers = nil }
    return way
  }

  private func findIndexes(_ way: inout IndexWay) throws {
    guard let catalog = try access.garage.indexing.catalog(in: access) else { return }
    way.tags = try access.presentTags(of: facts)
    guard var items = catalog.ready[facts.tag] else { return }
    func isOfUse(_ definition: IndexDefinition) -> Bool {
      definition.tells(facts) && (subclasses.isEmpty || tellsOfSubclasses(definition))
        && way.tags.allSatisfy { $0 == definition.tag || definition.formerTags.contains($0) }
    }
    // Mostly all are, and nothing is copied.
    if !items.indices.allSatisfy({ isOfUse(items[$0].definition) }) {
      items.removeAll { !isOfUse($0.definition) }
    }
    if let changes = access.unsavedChanges, changes.hasChange(in: KeyLayout.allRecords) {
      way.isUnsaved = true
      items.removeAll { !(changes.indexes?.contains($0.entriesID) ?? false) }
    }
    if items.isEmpty { return }
    if query.sortKeys.isEmpty, !way.isUnsaved, case .field(let field)? = filter?.node,
      field.isSameInSubclasses,
      case .equals(let constant) = field.test
    {
      way.plan = IndexPlan.toEqual(
        field.path, constant.value, absentIsNull: field.absentIsNull, items)
      if way.plan != nil { return }
    }
    let planner = QueryPlanner(items: items, kindsAreUnknown: way.isUnsaved)
    way.plan = filter.flatMap { planner.plan($0.node) }
    way.order = way.isUnsaved || way.tags.count > 1 ? nil : try orderedScan(planner, way.plan)
  }

  /// Whether the subclasses have the aliases that an index follows: each class has its own.
  private func tellsOfSubclasses(_ definition: IndexDefinition) -> Bool {
    if !definition.hasOlderKeys { return true }
    return subclasses.allSatisfy { type in
      guard let type = type as? any Codable.Type, let facts = try? RecordTypeFacts.of(type) else {
        return false
      }
      return definition.followsAliases(of: facts)
    }
  }

  /// The stretches of an index that has the order of the query, where these are fewer or end sooner than others.
  private func orderedScan(_ planner: QueryPlanner, _ plan: IndexPlan?) throws -> IndexPlan.Scan? {
    // Loops, and no key paths or pairs: generic code would ask the runtime for the type of each, which takes as long as many
    // entries.
    if query.sortKeys.isEmpty { return nil }
    let isAscending = query.sortKeys[0].isAscending
    var order: [QueryPlanner.Order] = []
    for index in query.sortKeys.indices {
      guard let field = sortFields[index], query.sortKeys[index].isAscending == isAscending else {
        return nil
      }
      let isSame =
        try subclasses.isEmpty
        || access.makingUp(Root.self, facts, subclasses: subclasses) {
          subclasses.allSatisfy { field.isSame(as: query.sortKeys[index].field($0)) }
        }
      order.append(
        QueryPlanner.Order(
          field: field, isSameInSubclasses: isSame, kind: query.sortKeys[index].kind))
    }
    guard let scan = planner.ordered(by: order, filter?.node) else { return nil }
    let isShort = query.maximumCount.map { $0 <= 10_000 } ?? false
    guard let plan else { return isShort ? scan : nil }
    return scan.cost <= plan.cost || isShort && plan.cost > IndexPlan.Cost.long ? scan : nil
  }

  /// Whether an entry's record is of the query's type, as the entry's value tells; nil where it does not.
  private func isOfType(_ value: RawSpan) -> Bool? {
    if !isOfClass { return true }
    // Without a tag of its own it is of the topmost class.
    if value.byteCount < 9 { return !facts.sharesSpaceWithSuperclass }
    let tag = UInt64(bigEndian: value.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt64.self))
    if facts.ownTags.contains(tag) { return true }
    return access.garage.types.type(tag: tag).map { $0 is Root.Type }
  }

  /// What an entry says of its record: where in the key the identifier begins, and whether it is found; nil where the
  /// record is of another class.
  func reading(_ key: RawSpan, _ value: RawSpan, _ isExact: Bool) throws -> (
    place: Int, isMatch: Bool
  )? {
    guard let place = IndexBatch.identifierPlace(value), place < key.byteCount else {
      throw GarageError.corruptRecord(
        type: facts.name, identifier: "index entry \(StorageKey(key))", reason: "it has no identifier")
    }
    let isOfType = isOfType(value)
    if isOfType == false { return nil }
    let isCut = place == KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount
    return (place, isExact && !isCut && isOfType == true && !way.isUnsaved && way.tags.count == 1)
  }

  func range(_ item: IndexCatalog.Item, _ tag: UInt64, _ stretch: IndexPlan.Stretch) -> StorageKeyRange {
    let prefix = KeyLayout.indexPrefix(tag: tag, index: item.id)
    return StorageKeyRange(from: prefix + stretch.lower, to: prefix + stretch.upper)
  }

  // MARK: - In the order of identifiers

  /// Lends the records to which a plan leads, in the order of identifiers, and whether each is known to match.
  ///
  /// - Parameter areDecoded: whether the records that match are going to be decoded.
  /// - Returns: false, and lends none, where all records are read sooner.
  func forEachCandidate(
    of plan: IndexPlan, areDecoded: Bool, _ visit: (RawSpan, RawSpan, Bool) throws -> ScanStep
  ) throws -> Bool {
    let start = query.sortKeys.isEmpty ? self.start?.identifier : nil
    // Held once, and not with every record.
    let transaction = access.transaction
    let wantsFirst = query.sortKeys.isEmpty && query.maximumCount != nil
    let readsEach = start == nil && !access.garage.store.roundTripsAreExpensive
    let point = onlyPoint(of: plan, wantsFirst: wantsFirst)
    if readsEach, plan.others.isEmpty, let point {
      try forEachKey(ofPoint: point, .forward, behind: nil) { key, isMatch in
        try lend(key, isMatch, transaction, visit)
      }
      return true
    }
    var block =
      readsEach && point != nil
      ? RecordBlock(atMost: query.maximumCount) : RecordBlock(first: query.maximumCount ?? 16)
    func take(_ key: RawSpan, _ isMatch: Bool) throws -> ScanStep {
      if !readsBlocks { return try lend(key, isMatch, transaction, visit) }
      block.append(key, isMatch)
      return block.isFull ? try lend(&block, areDecoded: areDecoded, visit) : .continue
    }
    func lendRest() throws -> ScanStep {
      block.isEmpty ? .continue : try lend(&block, areDecoded: areDecoded, visit)
    }
    // The identifier up to which records were lent when this way turned out to be the longer one.
    var place: [UInt8]?
    var patience = plan.others.isEmpty ? Int.max : self.patience
    let areFirst = try forEachFirstKey(of: plan, behind: start) { key, isMatch in
      let step = try take(key, isMatch)
      if !isMatch { patience -= 1 }
      if step == .stop || patience > 0 { return step }
      place = [UInt8](copying: key.extracting(KeyLayout.identifierOffset...))
      return .stop
    }
    if areFirst, try lendRest() == .stop || place == nil { return true }
    block = RecordBlock(atMost: query.sortKeys.isEmpty ? query.maximumCount : nil)
    let behind = place ?? start
    let found = try plan.others.isEmpty ? candidates(of: plan, behind: behind) : sharedCandidates(of: plan)
    guard var candidates = found else {
      if place == nil { return false }
      _ = try forEachFirstKey(of: plan, behind: place, take)
      _ = try lendRest()
      return true
    }
    candidates.sort(areOfOneTag: way.tags.count == 1)
    try candidates.forEachOnce { key, isMatch in
      if let behind {
        let identifier = key.extracting(KeyLayout.identifierOffset...)
        if compareKeys(identifier, behind.span.bytes) <= 0 { return .continue }
      }
      if way.tags.count > 1, try !access.isCurrent(key, facts.tags) { return .continue }
      return try take(key, isMatch)
    }
    _ = try lendRest()
    return true
  }

  /// Lends the records of a block, and makes room for the next one.
  private func lend(
    _ block: inout RecordBlock, areDecoded: Bool, _ visit: (RawSpan, RawSpan, Bool) throws -> ScanStep
  ) throws -> ScanStep {
    let step = try withRecords(of: block.keys, 0..<block.count, areDecoded: areDecoded) {
      index, key, record in
      // What cannot be asked is told in its turn.
      block.areMatches[index] || (try? answer(key, record)) != .no
    } _: { index, key, record in
      try visit(key, record, block.areMatches[index])
    }
    block.removeAll()
    return step
  }

  private func lend(
    _ key: RawSpan, _ isMatch: Bool, _ transaction: any ReadTransaction,
    _ visit: (RawSpan, RawSpan, Bool) throws -> ScanStep
  ) throws -> ScanStep {
    try transaction.withValue(for: key) { record in
      guard let record else { return .continue }
      return try visit(key, record, isMatch)
    }
  }
}

/// Records that are read at once. It stands outside of the run, which is generic: inside, each use would ask the runtime for its type.
struct RecordBlock {
  private(set) var keys = KeyList()
  private(set) var areMatches: [Bool] = []
  // A caller who wants few records must not wait for many, so blocks begin small and grow.
  private var size: Int

  init(atMost limit: Int?) { size = max(1, min(limit ?? 16, 16)) }

  /// - Parameter count: how many records are mostly all that are wanted.
  init(first count: Int) { size = max(1, min(count, 1024)) }

  var count: Int { keys.count }
  var isEmpty: Bool { keys.isEmpty }
  var isFull: Bool { keys.count >= size }

  mutating func append(_ key: RawSpan, _ isMatch: Bool) {
    keys.append(key)
    areMatches.append(isMatch)
  }

  /// Lends each key with its record, nil where there is none, and whether that is known to match, until `visit` says stop.
  func forEachRecord(
    in transaction: any ReadTransaction,
    _ visit: (_ key: RawSpan, _ record: RawSpan?, _ isMatch: Bool) throws -> ScanStep
  ) throws {
    try keys.forEachRecord(0..<keys.count, in: transaction) { index, key, record in
      try visit(key, record, areMatches[index])
    }
  }

  mutating func removeAll() {
    keys.removeAll()
    areMatches.removeAll(keepingCapacity: true)
    size = min(1024, 4 * size)
  }
}

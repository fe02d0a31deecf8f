internal import GarageCoding
internal import GarageDriver

// How many objects a query finds, from the entries of indexes as far as these tell.

extension QueryRun {
  /// How many objects are found, and no more than are wanted: from the entries alone where they tell. Nil where
  /// records are to be read for many.
  func countByEntries() throws -> Int? {
    guard let plan = way.plan else { return nil }
    // A plan may lead to a record twice, so those counted are held: not more than this.
    if let most = query.maximumCount, most <= 10_000 {
      return try FirstEntries(self, most, plan).count(of: plan)
    }
    guard plan.scans.count == 1, plan.others.isEmpty, way.tags.count == 1, !way.isUnsaved,
      let scan = plan.scans.first, !scan.item.definition.isEach || scan.stretches.count == 1
    else { return query.maximumCount == nil ? try keysByEntries()?.count : nil }
    let most = query.maximumCount ?? .max
    var count = 0
    // Entries that do not decide. Their records are asked one by one; where each question is a round trip, none is.
    var rest: [(entry: StorageKey, isExact: Bool)] = []
    let mostAsked = asksForMany ? 0 : 4096
    for stretch in scan.stretches where count < most {
      func take(_ key: RawSpan, isCounted: Bool) -> ScanStep {
        if isCounted { count += 1 } else { rest.append((StorageKey(key), stretch.isExact)) }
        return rest.count <= mostAsked && count < most ? .continue : .stop
      }
      let range = range(scan.item, way.tags[0], stretch)
      let isUncut = scan.isUncut(stretch)
      if isOfClass {
        try access.transaction.scan(range, .forward) { key, value in
          guard let (_, isMatch) = try reading(key, value, stretch.isExact) else { return .continue }
          return take(key, isCounted: isMatch)
        }
      } else if query.maximumCount == nil, stretch.isExact, isUncut {
        count += try access.transaction.keyCount(in: range)
      } else {
        try access.transaction.scanKeys(range, .forward) { key in
          take(key, isCounted: stretch.isExact && (isUncut || key.byteCount < cutEntryByteCount))
        }
      }
      if rest.count > mostAsked { return nil }
    }
    for (entry, isExact) in rest where try count < most && isFound(entry, isExact) { count += 1 }
    return count
  }

  /// The key of an entry that is shorter has no values that are cut.
  fileprivate var cutEntryByteCount: Int { KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount + 1 }

  /// Whether the object of an entry is found.
  fileprivate func isFound(_ entry: StorageKey, _ isExact: Bool) throws -> Bool {
    let key = entry.bytes
    let reading = try access.transaction.withValue(for: entry) { value -> (place: Int, isMatch: Bool)? in
      guard let value else { return nil }
      return try self.reading(key.span.bytes, value, isExact)
    }
    guard let reading else { return false }
    return try reading.isMatch
      || isFound(KeyLayout.record(ofEntry: key.span.bytes, identifierAt: reading.place))
  }

  /// Whether a record is that of an object that is found.
  fileprivate func isFound(_ record: StorageKey) throws -> Bool {
    let key = record.bytes
    return try access.transaction.withValue(for: record) { bytes in
      guard let bytes else { return false }
      return try isMatch(key.span.bytes, bytes)
    }
  }
}

/// The objects to which entries lead, counted as they come until there are as many as are wanted. Where few are wanted the
/// first entries mostly suffice, in whatever order they stand.
///
/// A class, because the methods of a generic struct would ask the runtime for its type with each entry. Its properties
/// are not checked for exclusive access: none is read while it is changed.
private final class FirstEntries<Root: Codable> {
  private let run: QueryRun<Root>
  private let most: Int
  /// Whether no object has a second entry among those that are read.
  private let isOnce: Bool
  @exclusivity(unchecked) private var count = 0
  /// The records counted so far, where they may be met again.
  @exclusivity(unchecked) private var counted: Set<StorageKey> = []
  /// How many more records may be asked. Read one by one, in another order than their own, they cost several times as much as a
  /// scan of all in their order.
  @exclusivity(unchecked) private var patience: Int
  /// Records that are asked at once.
  @exclusivity(unchecked) private var block: RecordBlock

  init(_ run: QueryRun<Root>, _ most: Int, _ plan: IndexPlan) {
    (self.run, self.most) = (run, most)
    // With unsaved changes, an object may have an entry from before its change, too.
    isOnce =
      plan.scans.count == 1 && run.way.tags.count == 1 && !run.way.isUnsaved
      && (!plan.scans[0].item.definition.isEach || plan.scans[0].stretches.count <= 1)
    patience = 2000 + 20 * most
    block = RecordBlock(atMost: most)
  }

  /// How many there are, up to as many as are wanted; nil where so many records are to be asked that they are read
  /// sooner in their order.
  func count(of plan: IndexPlan) throws -> Int? {
    if most == 0 { return 0 }
    // `plan.others` are not used: what several indexes share is less than each leads to, but it is known only when all are
    // read.
    for scan in plan.scans {
      for tag in run.way.tags {
        for stretch in scan.stretches where !isAtEnd {
          try visit(
            run.range(scan.item, tag, stretch), stretch.isExact, isUncut: scan.isUncut(stretch))
        }
      }
    }
    if !isAtEnd { try askBlock() }
    return count == most || patience > 0 ? count : nil
  }

  private var isAtEnd: Bool { count == most || patience <= 0 }

  /// - Parameter isUncut: whether no value there is cut.
  private func visit(_ range: StorageKeyRange, _ isExact: Bool, isUncut: Bool) throws {
    let run = run
    // Those that are cut are asked one by one here.
    if isOnce && isExact && !run.isOfClass && (isUncut || !run.asksForMany) {
      let cutCount = isUncut ? Int.max : run.cutEntryByteCount
      try run.access.transaction.scanKeys(range, .forward) { key in
        if key.byteCount < cutCount {
          count += 1
        } else {
          patience -= 1
          if try run.isFound(StorageKey(key), isExact) { count += 1 }
        }
        return isAtEnd ? .stop : .continue
      }
      return
    }
    try run.access.transaction.scan(range, .forward) { key, value in
      guard let (place, isMatch) = try run.reading(key, value, isExact) else { return .continue }
      if isMatch && isOnce {
        count += 1
      } else {
        try take(KeyLayout.record(ofEntry: key, identifierAt: place), isMatch: isMatch)
      }
      return isAtEnd ? .stop : .continue
    }
  }

  private func take(_ record: StorageKey, isMatch: Bool) throws {
    if counted.contains(record) { return }
    let key = record.bytes
    if run.way.tags.count > 1, try !run.access.isCurrent(key.span.bytes, run.facts.tags) { return }
    if isMatch { return note(record) }
    if run.readsBlocks {
      block.append(key.span.bytes, false)
      if block.isFull { try askBlock() }
    } else {
      patience -= 1
      if try run.isFound(record) { note(record) }
    }
  }

  private func note(_ record: StorageKey) {
    count += 1
    if !isOnce { counted.insert(record) }
  }

  private func askBlock() throws {
    let run = run
    if block.isEmpty { return }
    patience -= block.count
    try block.forEachRecord(in: run.access.transaction) { key, record, _ in
      // It may stand twice in one block.
      guard let record, isOnce || !counted.contains(StorageKey(key)) else { return .continue }
      if try run.isMatch(key, record) { note(StorageKey(key)) }
      return count < most ? .continue : .stop
    }
    block.removeAll()
  }
}

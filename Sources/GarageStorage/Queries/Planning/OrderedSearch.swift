internal import GarageCoding
internal import GarageDriver

/// The keys of what a query finds, as they are gathered in the order of an index.
///
/// A class, because the methods of a generic struct would ask the runtime for its type with each entry. Its properties are not
/// checked for exclusive access: none is read while it is changed.
final class OrderedSearch<Root: Codable> {
  private let run: QueryRun<Root>
  private let access: ReadAccess
  private let most: Int
  @exclusivity(unchecked) private var found = KeyList()
  /// How many more records may be read in vain. Records that are read one by one, in another order than their own, cost several
  /// times as much as a scan of all in their order.
  @exclusivity(unchecked) private var patience: Int
  /// Long values that begin alike: their entries are in the order of digests.
  @exclusivity(unchecked) private var cut: [(key: StorageKey, values: [UInt8])] = []
  /// Records that are asked at once, where each question is a trip.
  @exclusivity(unchecked) private var block: RecordBlock
  private let asksForMany: Bool

  init(_ run: QueryRun<Root>) {
    self.run = run
    access = run.access
    most = run.query.maximumCount ?? .max
    patience = most == .max ? Int.max : 2000 + 20 * Swift.min(most, 10_000)
    block = RecordBlock(first: run.query.maximumCount ?? 16)
    asksForMany = run.asksForMany
    found.reserve(run.query.roomCount)
  }

  /// The keys; nil where the index leads to too much that is not found.
  func keys(of scan: IndexPlan.Scan) throws -> KeyList? {
    let isAscending = run.query.sortKeys[0].isAscending
    let start = run.startPlace(in: scan)
    for stretch in isAscending ? scan.stretches : scan.stretches.reversed() {
      let range = run.range(scan.item, run.way.tags[0], stretch)
      if isAscending {
        try visitForward(start?.rest(of: range) ?? range, stretch.isExact)
      } else {
        try visitDescending(range, behind: start, stretch.isExact)
      }
      if isAtEnd { break }
    }
    try askBlock()
    if patience <= 0 && found.count < most { return nil }
    if found.count < most { try takeCut() }
    return found
  }

  private var isAtEnd: Bool { found.count >= most || patience <= 0 }

  private func visitForward(_ range: StorageKeyRange, _ isExact: Bool) throws {
    if range.isEmpty { return }
    try access.transaction.scan(range, .forward) { try visit($0, $1, isExact) }
  }

  private func visitDescending(_ range: StorageKeyRange, behind start: EntryPlace?, _ isExact: Bool) throws {
    var range = range
    if let start {
      let rest = start.restDescending(of: range)
      if let ties = rest.ties { try visitForward(ties, isExact) }
      if isAtEnd { return }
      range = rest.less
    }
    if range.isEmpty { return }
    try run.forEachDescending(range) { try visit($0, $1, isExact) }
  }

  private func visit(_ key: RawSpan, _ value: RawSpan, _ isExact: Bool) throws -> ScanStep {
    guard let (place, isMatch) = try run.reading(key, value, isExact) else { return .continue }
    if place == KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount {
      let values = [UInt8](
        copying: key.extracting(
          KeyLayout.indexPrefixByteCount..<KeyLayout.indexPrefixByteCount + OrderedBytes.uncutByteCount))
      if let last = cut.last, last.values != values { try takeCut() }
      cut.append((KeyLayout.record(ofEntry: key, identifierAt: place), values))
    } else {
      if !cut.isEmpty { try takeCut() }
      if found.count < most { try take(recordOf: key, identifierAt: place, isMatch: isMatch) }
    }
    return isAtEnd ? .stop : .continue
  }

  private func take(recordOf entry: RawSpan, identifierAt place: Int, isMatch: Bool) throws {
    // The record is not looked up here: the caller does so anyway, and an entry that decides by itself has one.
    if isMatch && block.isEmpty { return found.append(recordOf: entry, identifierAt: place) }
    try take(KeyLayout.record(ofEntry: entry, identifierAt: place), isMatch: isMatch)
  }

  /// Takes a record if it matches, at once or together with others.
  private func take(_ key: StorageKey, isMatch: Bool) throws {
    if !asksForMany { return try ask(key) }
    let bytes = key.bytes
    block.append(bytes.span.bytes, isMatch)
    if block.isFull { try askBlock() }
  }

  /// Takes those of the records that wait to be asked which match.
  private func askBlock() throws {
    if block.isEmpty || found.count >= most { return }
    patience -= block.areMatches.count { !$0 }
    _ = try run.forEachFound(in: &block) { key in
      found.append(key)
      return found.count < most ? .continue : .stop
    }
  }

  /// Takes a record that matches.
  private func ask(_ key: StorageKey) throws {
    patience -= 1
    let run = run
    let isFound = try access.transaction.withValue(for: key) { record -> Bool in
      guard let record else { return false }
      return try run.isMatch(key.bytes.span.bytes, record)
    }
    if isFound { found.append(key.bytes.span.bytes) }
  }

  private func takeCut() throws {
    if cut.isEmpty { return }
    // The records in the block come before those that are cut.
    try askBlock()
    let run = run
    var ranked: [(key: StorageKey, values: [FieldValue])] = []
    let keys = cut.map(\.key)
    try access.transaction.withValues(for: keys) { index, record in
      guard let record else { return }
      let bytes = keys[index].bytes
      ranked.append((keys[index], try run.sortValues(bytes.span.bytes, record, nil)))
    }
    ranked.sort {
      run.isBefore(
        $0.values, $0.key.bytes[KeyLayout.identifierOffset...], $1.values,
        $1.key.bytes[KeyLayout.identifierOffset...])
    }
    cut = []
    // Entries were read from the first one whose values are cut as the cursor's are, so some records may stand before the
    // cursor.
    for (key, values) in ranked where found.count < most && run.isBehindStart(values, key) {
      try take(key, isMatch: false)
    }
    try askBlock()
  }
}

internal import GarageCoding
internal import GarageDriver

/// Makes new indexes complete and takes dropped ones away, a block at a time, each in a write of its own: nobody waits long
/// for it. How far it has come is committed with each block, so that whoever comes next goes on, in any process.
struct IndexFilling {
  /// How long a block may gather records. Writing what it gathered takes as long again, or twice.
  private static let gatheringTime = Duration.milliseconds(15)
  private static let largestBlock = 20_000
  private static let smallestBlock = 32
  private static let largestByteCount = 16 << 20

  /// What one block did.
  struct Step {
    var indexes: [String] = []
    var recordCount = 0
    /// Whether an index was made ready or was wholly removed.
    var isComplete = false
  }

  let indexing: Indexing
  /// How often this block was begun and refused, since others had changed what it read. Each time it reads a quarter of what
  /// it read before: so little that between two changes there is time for it, however many there are.
  var tryCount = 0

  private var largestCount: Int { max(Self.smallestBlock, Self.largestBlock >> min(2 * tryCount, 16)) }

  /// Does one block; nil where nothing is left to do.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)`` where records that were there have the same value.
  func step(in transaction: any WriteTransaction) throws -> Step? {
    let before = try indexing.catalog(in: transaction)
    guard let catalog = try indexing.catalogForWriting(in: transaction) else { return nil }
    // What is declared is committed by itself: filling may turn out to be impossible.
    if catalog !== before { return Step() }
    if let place = catalog.items.firstIndex(where: { $0.state == .dropping }) {
      return try drop(place, catalog, transaction)
    }
    guard let first = catalog.items.first(where: { $0.state == .building }) else { return nil }
    // Those that have come equally far are filled together.
    let positions = catalog.items.indices.filter { index in
      let item = catalog.items[index]
      return item.state == .building && item.definition.recordRanges == first.definition.recordRanges
        && item.tagPlace == first.tagPlace && item.lastKey == first.lastKey
    }
    return try fill(positions, first, catalog, transaction)
  }

  /// Makes those unique indexes complete that records under some tags are to have entries in: nobody would see that a new record
  /// has the same values as one that is not in them yet. All in this transaction.
  ///
  /// One that cannot be completed, since records that are there have the same values, stays as it is: a new record is compared
  /// with those that are in it.
  ///
  /// - Returns: the catalog by then; nil where there was nothing to do.
  func completeUnique(
    _ catalog: IndexCatalog, _ tags: Set<UInt64>, in transaction: any WriteTransaction
  ) throws -> IndexCatalog? {
    var (catalog, isChanged) = (catalog, false)
    while let place = catalog.unfinishedUnique.first(where: { place in
      let item = catalog.items[place]
      return !tags.isDisjoint(with: item.definition.tags) && !indexing.isKnownToCollide(item.id)
    }) {
      do {
        _ = try fill([place], catalog.items[place], catalog, transaction)
      } catch GarageError.notUnique {
        indexing.noteCollision(catalog.items[place].id)
        continue
      }
      guard let updated = try indexing.catalog(in: transaction) else { break }
      (catalog, isChanged) = (updated, true)
    }
    return isChanged ? catalog : nil
  }

  // MARK: - Filling

  private func fill(
    _ positions: [Int], _ first: IndexCatalog.Item, _ catalog: IndexCatalog,
    _ transaction: any WriteTransaction
  ) throws -> Step {
    let ranges = first.definition.recordRanges
    var step = Step(indexes: positions.map { catalog.items[$0].name })
    let batch = IndexBatch(catalog, indexing.keys, indexing.texts)
    var range = ranges[min(first.tagPlace, ranges.count - 1)]
    if !first.lastKey.isEmpty { range.lowerBound = first.lastKey + [0] }
    let last = try gather(range, &step) { key, record in
      try batch.fill(key, record, positions, in: transaction)
    } in: {
      transaction
    }
    try batch.checkUnique(in: transaction)
    var items = (try batch.make(in: transaction) ?? catalog).items
    for position in positions {
      if let last {
        items[position].lastKey = last
      } else {
        items[position].tagPlace += 1
        items[position].lastKey = []
      }
    }
    if items[positions[0]].tagPlace >= ranges.count {
      step.isComplete = true
      for position in positions { makeReady(position, &items) }
    }
    try indexing.put(IndexCatalog(items), in: transaction)
    return step
  }

  private func makeReady(_ position: Int, _ items: inout [IndexCatalog.Item]) {
    items[position].state = .ready
    (items[position].tagPlace, items[position].lastKey) = (0, [])
    for other in items.indices where items[position].definition.supersedes(items[other].definition) {
      items[other].state = .dropping
    }
  }

  /// Lends records to `visit` until the block is large enough. Returns the last key; nil where the range ended.
  private func gather(
    _ range: StorageKeyRange, _ step: inout Step, _ visit: (RawSpan, RawSpan) throws -> Void,
    in transaction: () -> any WriteTransaction
  ) throws -> [UInt8]? {
    let start = ContinuousClock.now
    var last: [UInt8]?
    var (count, byteCount) = (0, 0)
    func isLong(_ size: Int) -> Bool {
      count += 1
      byteCount += size
      if count % 32 != 0 && byteCount < IndexFilling.largestByteCount { return false }
      return count >= largestCount || byteCount >= IndexFilling.largestByteCount
        || ContinuousClock.now - start > IndexFilling.gatheringTime
    }
    if indexing.keys.isSealed {
      // A scan does not go on behind a value that does not open.
      var keys: [StorageKey] = []
      try transaction().scanKeys(range, .forward) { key in
        keys.append(StorageKey(key))
        return keys.count < min(2_000, largestCount) ? .continue : .stop
      }
      for key in keys {
        let size = try transaction().withReplaceableValue(for: key.bytes.span.bytes, isSealed: true) {
          record in
          guard let record else { return 0 }
          try visit(key.bytes.span.bytes, record)
          return record.byteCount
        }
        last = key.bytes
        if isLong(size) { break }
      }
      step.recordCount = count
      return last
    }
    try transaction().scan(range, .forward) { key, record in
      try visit(key, record)
      guard isLong(record.byteCount) else { return .continue }
      last = [UInt8](copying: key)
      return .stop
    }
    step.recordCount = count
    return last
  }

  // MARK: - Dropping

  private func drop(_ place: Int, _ catalog: IndexCatalog, _ transaction: any WriteTransaction) throws -> Step
  {
    let item = catalog.items[place]
    var step = Step(indexes: [item.name])
    var keys: [StorageKey] = []
    for range in item.definition.entryRanges where keys.count < largestCount {
      try transaction.scanKeys(range, .forward) { key in
        keys.append(StorageKey(key))
        return keys.count < largestCount ? .continue : .stop
      }
    }
    let start = ContinuousClock.now
    var isDone = keys.count < largestCount
    for (index, key) in keys.enumerated() {
      try transaction.remove(key)
      if index % 64 == 63, index + 1 < keys.count, ContinuousClock.now - start > .milliseconds(25) {
        isDone = false
        break
      }
    }
    if isDone {
      var items = catalog.items
      items.remove(at: place)
      step.isComplete = true
      try indexing.put(IndexCatalog(items), in: transaction)
    }
    return step
  }
}

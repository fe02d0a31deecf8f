internal import GarageCoding
internal import GarageDriver

/// Makes new indexes complete and removes dropped ones, a block at a time, each in a write of its own, so that other writes do
/// not wait long. How far it has come is committed with each block, so that the next call continues, in any process.
struct IndexFilling {
  /// How long a block may gather records. Writing what it gathered takes as long again, or three times.
  private static let gatheringTime = Duration.milliseconds(12)
  /// The entries of each block go to all parts of an index, and most of its pages are then written anew. So a few blocks of
  /// many records take less time than many blocks of few.
  private static let largestBlock = 100_000
  private static let smallestBlock = 32
  private static let largestByteCount = 16 << 20
  /// How long a block may take entries of a dropped index away.
  private static let droppingTime = Duration.milliseconds(25)

  /// What one block did.
  struct Step {
    var indexes: [String] = []
    var recordCount = 0
    /// Whether an index was made ready or was wholly removed.
    var isComplete = false
  }

  let indexing: Indexing
  /// How often this block was begun and refused, because others had changed what it read. Each time it reads a quarter of what
  /// it read before, until that is so little that it fits between two changes of others.
  var tryCount = 0

  private var largestCount: Int { max(Self.smallestBlock, Self.largestBlock >> min(2 * tryCount, 16)) }

  /// Does one block; nil where nothing is left to do.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)`` where records that were there have the same value, and
  ///   nothing else is left to do.
  func step(in transaction: any WriteTransaction) throws -> Step? {
    let before = try indexing.catalog(in: transaction)
    guard let catalog = try indexing.catalogForWriting(in: transaction) else { return nil }
    // Declarations are committed by themselves, because filling may turn out to be impossible.
    if catalog !== before { return Step() }
    if let step = try drop(in: catalog, transaction) { return step }
    var places: [Int] = []
    var known: Indexing.Collision?
    for place in catalog.items.indices where catalog.items[place].state == .building {
      if let collision = try collision(place, catalog, in: transaction) {
        known = known ?? collision
      } else {
        places.append(place)
      }
    }
    guard let place = places.first else {
      if let known { throw known.error }
      return nil
    }
    let first = catalog.items[place]
    // Those that have come equally far are filled together.
    let positions = places.filter { index in
      let item = catalog.items[index]
      return item.definition.recordRanges == first.definition.recordRanges
        && item.tagPlace == first.tagPlace && item.lastKey == first.lastKey
    }
    // If one of them collides, the others are filled without it.
    return try fill(positions, first, catalog, transaction) ?? Step()
  }

  /// Removes a block of a dropped index; nil where nothing is left.
  func dropStep(in transaction: any WriteTransaction) throws -> Step? {
    guard let catalog = try indexing.catalog(in: transaction) else { return nil }
    return try drop(in: catalog, transaction)
  }

  /// Completes the unique indexes that records under some tags have entries in, all in this transaction: otherwise a new record
  /// could have the same values as one that is not in them yet, unnoticed.
  ///
  /// An index that cannot be completed, because records that are there have the same values, stays as it is: a new record is
  /// compared with those that are in it. It is tried again when these records have other values.
  ///
  /// - Returns: the catalog by then; nil where there was nothing to do.
  func completeUnique(
    _ catalog: IndexCatalog, _ tags: Set<UInt64>, in transaction: any WriteTransaction
  ) throws -> IndexCatalog? {
    var (catalog, isChanged) = (catalog, false)
    while let place = try catalog.unfinishedUnique.first(where: { place in
      if tags.isDisjoint(with: catalog.items[place].definition.tags) { return false }
      return try collision(place, catalog, in: transaction) == nil
    }) {
      if try fill([place], catalog.items[place], catalog, transaction) == nil { continue }
      guard let updated = try indexing.catalog(in: transaction) else { break }
      (catalog, isChanged) = (updated, true)
    }
    return isChanged ? catalog : nil
  }

  // MARK: - Filling

  /// Adds a block to indexes; nil, and a collision is noted, where one of them is unique and cannot take it.
  private func fill(
    _ positions: [Int], _ first: IndexCatalog.Item, _ catalog: IndexCatalog,
    _ transaction: any WriteTransaction
  ) throws -> Step? {
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
    do { try batch.checkUnique(in: transaction) } catch let error as GarageError {
      try noteCollision(error, batch, positions, transaction)
      return nil
    }
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

  // MARK: - Collisions

  /// The known collision that keeps a unique index from being completed, if it still does. Only the records are looked at that
  /// had the same values when completing it was tried last.
  private func collision(
    _ place: Int, _ catalog: IndexCatalog, in transaction: any ReadTransaction
  ) throws -> Indexing.Collision? {
    guard let known = indexing.knownCollision(of: catalog.items[place].id) else { return nil }
    return try known.keys.isEmpty || collide(known.keys, place, catalog, transaction) ? known : nil
  }

  /// Whether records have the same values in a unique index, or those of others that are in it.
  private func collide(
    _ keys: [StorageKey], _ place: Int, _ catalog: IndexCatalog, _ transaction: any ReadTransaction
  ) throws -> Bool {
    let batch = indexing.takeBatch(catalog)
    defer {
      batch.takeEntries(place) { _, _ in }
      indexing.giveBack(batch)
    }
    for key in keys {
      try transaction.withReplaceableValue(
        for: key.bytes.span.bytes, isSealed: indexing.keys.isSealed
      ) { record in
        guard let record else { return }
        try batch.fill(key.bytes.span.bytes, record, [place], in: transaction)
      }
    }
    do { try batch.checkUnique(in: transaction) } catch GarageError.notUnique { return true }
    return false
  }

  /// Notes the records that a unique index cannot take.
  ///
  /// - Parameters:
  ///   - error: what checking `batch`, which holds the entries of a block, has thrown; any other error is thrown on.
  private func noteCollision(
    _ error: GarageError, _ batch: IndexBatch, _ positions: [Int], _ transaction: any ReadTransaction
  ) throws {
    guard case .notUnique(let index, let value, _) = error else { throw error }
    let places = positions.filter { batch.parts[$0].isUnique && batch.parts[$0].item.name == index }
    for place in places {
      guard let keys = try collidingKeys(value, place, batch, transaction) else { continue }
      let collision = Indexing.Collision(keys: keys, error: error)
      return indexing.noteCollision(collision, of: batch.parts[place].item.id)
    }
    // The index is not tried again before `buildIndexes`.
    let collision = Indexing.Collision(keys: [], error: error)
    for place in places { indexing.noteCollision(collision, of: batch.parts[place].item.id) }
  }

  /// The keys of records that have the same values, given in words: of two records in a batch, or of one and those that are in
  /// the index already.
  private func collidingKeys(
    _ value: String, _ place: Int, _ batch: IndexBatch, _ transaction: any ReadTransaction
  ) throws -> [StorageKey]? {
    let prefix = KeyLayout.indexPrefixByteCount
    var last: (key: StorageKey, values: [UInt8])?
    // Sorted by now, so that the same values are neighbours. Different ones may be the same in words.
    for entry in batch.parts[place].added where entry.isUnique {
      let stored = batch.withBytes(entry.start + prefix, entry.valuesCount) { [UInt8](copying: $0) }
      let values = batch.wholeValues[entry.start] ?? stored
      if OrderedBytes.text(of: values) != value { continue }
      let key = batch.withBytes(entry.start, entry.keyCount) {
        KeyLayout.record(ofEntry: $0, identifierAt: prefix + stored.count)
      }
      if let last, last.values == values { return [last.key, key] }
      last = (key, values)
      if try !collide([key], place, batch.catalog, transaction) { continue }
      let others = try keys(ofEntriesWith: stored, batch.parts[place].item, transaction)
      return [key] + others.filter { $0 != key }
    }
    return nil
  }

  /// The keys of the first records that have entries with these values, as these stand there.
  private func keys(
    ofEntriesWith values: [UInt8], _ item: IndexCatalog.Item, _ transaction: any ReadTransaction
  ) throws -> [StorageKey] {
    let identifierPlace = KeyLayout.indexPrefixByteCount + values.count
    var keys: [StorageKey] = []
    for tag in item.definition.tags where keys.count < 8 {
      let range = StorageKeyRange.prefix(KeyLayout.indexPrefix(tag: tag, index: item.id) + values)
      try transaction.scanKeys(range, .forward) { entry in
        keys.append(KeyLayout.record(ofEntry: entry, identifierAt: identifierPlace))
        return keys.count < 8 ? .continue : .stop
      }
    }
    return keys
  }

  // MARK: - Dropping

  /// Removes a block of the indexes that the catalog has as dropped; nil where there is none.
  private func drop(in catalog: IndexCatalog, _ transaction: any WriteTransaction) throws -> Step? {
    guard let place = catalog.items.firstIndex(where: { $0.state == .dropping }) else { return nil }
    let item = catalog.items[place]
    var step = Step(indexes: [item.name])
    let start = ContinuousClock.now
    var count = 0
    var isDone = true
    for range in item.definition.entryRanges where isDone {
      isDone = try removeEntries(in: range, transaction) {
        count += 1
        if count >= largestCount { return false }
        return count % 64 != 0 || ContinuousClock.now - start <= IndexFilling.droppingTime
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

  /// Removes entries, some at a time. If time runs out, the last of them were looked up in vain.
  ///
  /// - Parameter mayGoOn: called after each of them.
  /// - Returns: whether none is left.
  private func removeEntries(
    in range: StorageKeyRange, _ transaction: any WriteTransaction, while mayGoOn: () -> Bool
  ) throws -> Bool {
    var rest = range
    var blockCount = 64
    while true {
      var keys: [StorageKey] = []
      try transaction.scanKeys(rest, .forward) { key in
        keys.append(StorageKey(key))
        return keys.count < blockCount ? .continue : .stop
      }
      for key in keys {
        try transaction.remove(key)
        if !mayGoOn() { return false }
      }
      guard keys.count == blockCount, let last = keys.last else { return true }
      rest.lowerBound = last.bytes + [0]
      blockCount = min(2 * blockCount, 4096)
    }
  }
}

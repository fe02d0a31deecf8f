import GarageDriver

/// A reader's view: the entries of one commit.
class ReferenceReadTransaction: ReadTransaction {
  fileprivate let store: ReferenceStore
  fileprivate let info: StorageInfo
  fileprivate let mutation: Mutation?
  fileprivate var state: TransactionState
  private var snapshot: [ReferenceEntry]?
  /// What the mutant that lends from one place lends from.
  private let shared = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)

  init(_ store: ReferenceStore, _ snapshot: [ReferenceEntry]?, _ info: StorageInfo, _ mutation: Mutation?) {
    self.store = store
    self.snapshot = snapshot
    self.info = info
    self.mutation = mutation
    state = TransactionState(driver: info.name)
  }

  deinit { shared.deallocate() }

  func end() {
    if mutation != .usableAfterItsEnd { state.end() }
  }

  /// What this transaction sees, in order.
  var entries: [ReferenceEntry] {
    get throws {
      if mutation == .driftingSnapshot { return try store.current() }
      if let snapshot { return snapshot }
      let first = try store.current()
      snapshot = first
      return first
    }
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    let entries = try entries
    let key = [UInt8](copying: key)
    let position = position(of: key, in: entries)
    guard position < entries.count, entries[position].key == key else {
      return try lending(nothing: true) { try body(nil) }
    }
    return try lend(entries[position].value, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    let entries = try entries
    let start = position(of: range.lowerBound, in: entries)
    let end = range.upperBound.map { position(of: $0, in: entries) } ?? entries.count
    guard start < end else { return }
    let positions =
      direction == .forward
      ? Array(start..<end) : Array((start..<end).reversed())
    for position in positions {
      let entry = entries[position]
      let step = try lend(entry.value) { value in try visit(entry.key.span.bytes, value!) }
      if step == .stop { return }
    }
  }

  /// Runs `body` with a value that no change is allowed to touch.
  private func lend<R>(_ value: [UInt8], _ body: (RawSpan?) throws -> R) throws -> R {
    try lending {
      if mutation == .aliasedLentBytes && value.count <= shared.count {
        shared.copyBytes(from: value)
        return try body(UnsafeRawBufferPointer(rebasing: shared[..<value.count]).bytes)
      }
      return try body(value.span.bytes)
    }
  }

  private func lending<R>(nothing: Bool = false, _ body: () throws -> R) throws -> R {
    if mutation == .changeWhileLent || (nothing && mutation == .changeWhileNothingIsLent) {
      return try body()
    }
    state.lend()
    do {
      let result = try body()
      state.takeBack()
      return result
    } catch {
      if mutation != .lentForever { state.takeBack() }
      if mutation == .visitorsErrorPoisons, let error = error as? StorageError { _ = state.failed(error) }
      throw error
    }
  }

  /// Where `key` is, or would be.
  fileprivate func position(of key: [UInt8], in entries: [ReferenceEntry]) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(entries[middle].key, key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    switch mutation {
    case .signedByteOrder:
      return left.lexicographicallyPrecedes(right) { Int8(bitPattern: $0) < Int8(bitPattern: $1) }
    case .shortKeysFirst where left.count != right.count:
      return left.count < right.count
    default:
      return compareKeys(left.span.bytes, right.span.bytes) < 0
    }
  }
}

/// The writer's view: the last commit, and its own changes.
final class ReferenceWriteTransaction: ReferenceReadTransaction, WriteTransaction {
  /// The last commit, without own changes.
  let before: [ReferenceEntry]
  private var changed: [ReferenceEntry]
  private var lastError: StorageError?
  /// How many bytes of values were put, and how many values.
  private var byteCount = 0
  private var putCount = 0

  init(_ store: ReferenceStore, _ snapshot: [ReferenceEntry], _ info: StorageInfo, _ mutation: Mutation?) {
    before = snapshot
    changed = snapshot
    super.init(store, [], info, mutation)
  }

  override var entries: [ReferenceEntry] { changed }

  /// The failure that forbids the commit.
  var poison: StorageError? { mutation == .lastErrorInsteadOfFirst ? lastError : state.firstError }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try change {
      try state.beginChange(.put)
      try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
      try state.checkValue(value, limit: info.maximumValueByteCount)
    }
    try checkRoom(for: value.byteCount)
    let entry = ReferenceEntry(key: [UInt8](copying: key), value: [UInt8](copying: value))
    let position = position(of: entry.key, in: changed)
    if position < changed.count, changed[position].key == entry.key {
      changed[position] = entry
    } else {
      changed.insert(entry, at: position)
    }
    putCount += 1
    showWhatIsLarge()
    if mutation == .dirtyRead { store.show(changed) }
  }

  /// Breaks the rules on what others see, once the write has become large.
  private func showWhatIsLarge() {
    switch mutation {
    // Once: each time takes a copy of all entries.
    case .dirtyReadBeyond5000 where putCount == mutation?.threshold: store.show(changed)
    case .dirtyReadBeyond20MB where byteCount > mutation?.threshold ?? 0: store.show(changed)
    case .readersWaitBeyond5000 where putCount == mutation?.threshold: store.keepsReadersOut = true
    default: break
    }
  }

  func remove(_ key: RawSpan) throws {
    try change {
      try state.beginChange(.remove)
      try state.checkKey(key, .remove, limit: info.maximumKeyByteCount)
    }
    let key = [UInt8](copying: key)
    let position = position(of: key, in: changed)
    if position < changed.count, changed[position].key == key { changed.remove(at: position) }
    if mutation == .dirtyRead { store.show(changed) }
  }

  /// Asks for room with every MiB, as an engine does that writes before the commit.
  private func checkRoom(for count: Int) throws {
    let before = byteCount >> 20
    byteCount += count
    if byteCount >> 20 == before { return }
    do { try store.checkRoom(for: byteCount) } catch let error as StorageError {
      throw mutation == .unnotedEngineError ? error : state.failed(error)
    }
  }

  private func change(_ check: () throws -> Void) throws {
    do { try check() } catch let error as StorageError {
      lastError = error
      throw error
    }
  }
}

// The example of Docs/WritingADriver.md, which quotes the parts between the marks.

// example: store
import GarageDriver
import Synchronization

/// What all values on one store share: the last commit, and who may write.
private final class ArrayStore: Sendable {
  let gate = WriterGate()
  let entries = Mutex<[(key: StorageKey, value: [UInt8])]>([])

  /// What is closed when the last value on a store is: here there is nothing to close.
  static let stores = SharedStores<ArrayStore> { _ in }
}
// end

// example: storage
/// Keeps keys and values in a sorted array, in memory.
public final class ArrayStorage: StorageDriver {
  /// Nothing survives the process, and no other sees it.
  public let info = StorageInfo(
    name: "Array", maximumKeyByteCount: 511, maximumValueByteCount: .max,
    isDurable: false, readsDuringWrite: true, isSharedAcrossProcesses: false)
  private let store: SharedStore<ArrayStore>
  private let lifetime: StorageLifetime

  /// Opens the store of that name, or makes it.
  public init(named name: String) {
    store = ArrayStore.stores.open(name) { ArrayStore() }
    lifetime = StorageLifetime(driver: info.name, gate: store.connection.gate)
  }

  /// Runs `body` on the last commit.
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      // A copy of the array is the snapshot; it costs nothing until a writer changes its own.
      let transaction = ArrayTransaction(store.connection.entries.withLock(\.self), info)
      defer { transaction.state.end() }
      return try body(transaction)
    }
  }

  /// Runs `body` as the only writer.
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try lifetime.withWrite {
      let transaction = ArrayTransaction(store.connection.entries.withLock(\.self), info)
      return try runWrite(body, in: transaction) {
        transaction.state.finish()
      } commit: {
        store.connection.entries.withLock { $0 = transaction.entries }
      } rollBack: {
        // What is not published is forgotten.
      }
    }
  }

  /// Ends the use of the store by this value.
  public func close() throws { try lifetime.close { try store.close() } }
}
// end

// example: reading
private final class ArrayTransaction: ReadTransaction {
  fileprivate var entries: [(key: StorageKey, value: [UInt8])]
  fileprivate var state: TransactionState
  private let info: StorageInfo

  init(_ entries: [(key: StorageKey, value: [UInt8])], _ info: StorageInfo) {
    self.entries = entries
    self.info = info
    state = TransactionState(driver: info.name)
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    state.lend()
    defer { state.takeBack() }
    let key = StorageKey(key)
    let position = position(of: key)
    guard isKey(key, at: position) else { return try body(nil) }
    let value = entries[position].value
    return try body(value.span.bytes)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    let start = position(of: StorageKey(range.lowerBound))
    let end = range.upperBound.map { position(of: StorageKey($0)) } ?? entries.count
    for offset in 0..<max(0, end - start) {
      let entry = entries[direction == .forward ? start + offset : end - 1 - offset]
      state.lend()
      defer { state.takeBack() }
      if try visit(entry.key.bytes.span.bytes, entry.value.span.bytes) == .stop { return }
    }
  }

  /// The number of entries before `key`.
  private func position(of key: StorageKey) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isKey(_ key: StorageKey, at position: Int) -> Bool {
    position < entries.count && entries[position].key == key
  }
}
// end

// example: writing
extension ArrayTransaction: WriteTransaction {
  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
    try state.checkValue(value, limit: info.maximumValueByteCount)
    let entry = (key: StorageKey(key), value: [UInt8](copying: value))
    let position = position(of: entry.key)
    let count = isKey(entry.key, at: position) ? 1 : 0
    entries.replaceSubrange(position..<(position + count), with: CollectionOfOne(entry))
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: info.maximumKeyByteCount)
    let key = StorageKey(key)
    let position = position(of: key)
    if isKey(key, at: position) { entries.remove(at: position) }
  }
}
// end

/// Facts that a driver states about itself. The conformance suite holds it to each of them; to ``isReadOnly`` where it is told how
/// to open a store so, and not to ``roundTripsAreExpensive``, which is advice.
public struct StorageInfo: Sendable, Hashable {
  /// The driver's name as it appears in errors and benchmarks, for instance `SQLite`.
  public var name: String
  /// The longest key, in bytes. At least 511 (LMDB's limit), and a garage uses no longer ones.
  public var maximumKeyByteCount: Int
  /// The largest value, in bytes. At least 512 MiB.
  public var maximumValueByteCount: Int
  /// Whether a committed write survives the end of the process that made it.
  public var isDurable: Bool
  /// Whether readers go on, on the last committed state, while a write transaction is open.
  public var readsDuringWrite: Bool
  /// Whether several processes may use one store at a time.
  public var isSharedAcrossProcesses: Bool
  /// Whether one call costs about a microsecond or more beyond the work itself, as over a network.
  /// A garage then fetches in few large calls.
  public var roundTripsAreExpensive: Bool
  /// Whether this value only reads; every `write` then throws ``StorageError/Kind/readOnly``.
  public var isReadOnly: Bool
  /// Whether values are sealed before they are stored: encrypted, and bound to their keys.
  public var isSealed: Bool
  /// Whether several writes run at a time, on one store, and one that fits into no order with the others throws
  /// ``StorageError/Kind/conflict``, to be made again. Where it is false, a write has the store's writing to itself.
  public var writersConflict: Bool

  /// The facts; see the properties.
  public init(
    name: String, maximumKeyByteCount: Int, maximumValueByteCount: Int, isDurable: Bool,
    readsDuringWrite: Bool, isSharedAcrossProcesses: Bool, roundTripsAreExpensive: Bool = false,
    isReadOnly: Bool = false, isSealed: Bool = false, writersConflict: Bool = false
  ) {
    self.name = name
    self.maximumKeyByteCount = maximumKeyByteCount
    self.maximumValueByteCount = maximumValueByteCount
    self.isDurable = isDurable
    self.readsDuringWrite = readsDuringWrite
    self.isSharedAcrossProcesses = isSharedAcrossProcesses
    self.roundTripsAreExpensive = roundTripsAreExpensive
    self.isReadOnly = isReadOnly
    self.isSealed = isSealed
    self.writersConflict = writersConflict
  }

  /// The longest key that every driver takes.
  public static let guaranteedKeyByteCount = 511
  /// The largest value that every driver takes: 512 MiB.
  public static let guaranteedValueByteCount = 512 << 20
}

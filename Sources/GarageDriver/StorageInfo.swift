/// Facts that a driver states about itself. The conformance suite checks each of them, with two exceptions: ``isReadOnly`` only
/// if the suite is told how to open a store so, and ``roundTripsAreExpensive`` not at all, because it is advice.
public struct StorageInfo: Sendable, Hashable {
  /// The driver's name as it appears in errors and benchmarks, for instance `SQLite`.
  public var name: String
  /// The longest key, in bytes. At least 511, which is LMDB's limit. A garage uses no longer keys than 511 bytes.
  public var maximumKeyByteCount: Int
  /// The largest value, in bytes. At least 512 MiB.
  public var maximumValueByteCount: Int
  /// Whether a committed write survives the end of the process that made it.
  public var isDurable: Bool
  /// Whether readers go on reading the last committed state while a write transaction is open.
  public var readsDuringWrite: Bool
  /// Whether several processes may use one store at a time.
  public var isSharedAcrossProcesses: Bool
  /// Whether one call costs about a microsecond or more beyond the work itself, for instance over a network. A garage then
  /// fetches in few large calls.
  public var roundTripsAreExpensive: Bool
  /// Whether this value only reads. Every `write` then throws ``StorageError/Kind/readOnly``.
  public var isReadOnly: Bool
  /// Whether values are sealed before they are stored: encrypted, and bound to their keys.
  public var isSealed: Bool
  /// Whether several writes run on one store at a time. A write that fits into no order with the others then throws
  /// ``StorageError/Kind/conflict``, and is to be made again. If it is false, one write runs at a time.
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

  /// The longest key that every driver accepts: 511 bytes.
  public static let guaranteedKeyByteCount = 511
  /// The largest value that every driver accepts: 512 MiB.
  public static let guaranteedValueByteCount = 512 << 20
}

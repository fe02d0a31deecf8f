/// What may stand before an inline value: the sync status of the object that it is, and the version of its type. Not in
/// canonical bodies.
///
/// ```
/// | 1D | status 1 | 1E | varint version, other than 0 | value |
/// ```
enum InlinePrefix {
  /// Room for both.
  static let maximumByteCount = 3 + Varint.maximumByteCount
  private static let statusByteCount = 2

  // MARK: - Writing

  /// Writes what there is of them to where there is room for ``maximumByteCount``; returns how many bytes they are.
  ///
  /// - Parameter version: 0 where there is none.
  static func write(_ status: SyncStatus?, version: Int, to place: UnsafeMutableRawPointer) -> Int {
    var count = 0
    if let status {
      place.storeBytes(of: BodyTag.syncStatus, as: UInt8.self)
      place.storeBytes(of: UInt8(truncatingIfNeeded: status.rawValue), toByteOffset: 1, as: UInt8.self)
      count = statusByteCount
    }
    if version > 0 {
      place.storeBytes(of: BodyTag.versioned, toByteOffset: count, as: UInt8.self)
      count += 1
      count += Varint.write(version, to: place + count)
    }
    return count
  }

  // MARK: - Reading

  /// Reads the status that begins at `offset`, and where its value does.
  static func readSyncStatus(
    _ base: UnsafeRawPointer, _ offset: Int, end: Int
  ) throws -> (status: SyncStatus, content: Int) {
    let number = Int(try BodyScanner.loadNumber(base, offset + 1, width: 1, end: end))
    guard let status = SyncStatus(rawValue: number) else {
      throw DamagedBytes(reason: "there is no sync status \(number)", offset: offset)
    }
    return (status, offset + statusByteCount)
  }

  /// Reads the version that begins at `offset`, and where its value does.
  static func readVersion(
    _ base: UnsafeRawPointer, _ offset: Int, end: Int
  ) throws -> (version: Int, content: Int) {
    var at = offset + 1
    let version = try Varint.read(base, &at, end: end)
    // Each would take a frame of the stack.
    guard at < end, base.load(fromByteOffset: at, as: UInt8.self) != BodyTag.versioned else {
      throw DamagedBytes(reason: "a version has no value", offset: offset)
    }
    return (version, at)
  }

  /// Where the value behind sync statuses and versions begins. A loop, so that however many take no stack.
  static func skip(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws -> Int {
    var at = offset
    while at < end {
      switch base.load(fromByteOffset: at, as: UInt8.self) {
      case BodyTag.syncStatus: at += statusByteCount
      case BodyTag.versioned: at = try readVersion(base, at, end: end).content
      default: return at
      }
    }
    return at
  }

  /// Where the value at `offset` begins, not counting the sync status that may stand before it.
  static func skipSyncStatus(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> Int {
    var at = offset
    while at < end, base.load(fromByteOffset: at, as: UInt8.self) == BodyTag.syncStatus {
      at += statusByteCount
    }
    return at
  }
}

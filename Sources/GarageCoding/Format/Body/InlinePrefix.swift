/// Parts that may stand in front of an inline value: the sync status of the object, and the version of its type. Canonical
/// bodies have neither.
///
/// ```
/// | 1D | status 1 | 1E | varint version, other than 0 | value |
/// ```
enum InlinePrefix {
  /// The largest size of both together, in bytes.
  static let maximumByteCount = 3 + Varint.maximumByteCount
  private static let statusByteCount = 2

  // MARK: - Writing

  /// Writes the existing parts to a place with room for ``maximumByteCount`` bytes. Returns how many bytes they take.
  ///
  /// - Parameter version: 0 if there is none.
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

  /// Reads the status at `offset`, and the place where its value begins.
  static func readSyncStatus(
    _ base: UnsafeRawPointer, _ offset: Int, end: Int
  ) throws -> (status: SyncStatus, content: Int) {
    let number = Int(try BodyScanner.loadNumber(base, offset + 1, width: 1, end: end))
    guard let status = SyncStatus(rawValue: number) else {
      throw DamagedBytes(reason: "there is no sync status \(number)", offset: offset)
    }
    return (status, offset + statusByteCount)
  }

  /// Reads the version at `offset`, and the place where its value begins.
  static func readVersion(
    _ base: UnsafeRawPointer, _ offset: Int, end: Int
  ) throws -> (version: Int, content: Int) {
    var at = offset + 1
    let version = try Varint.read(base, &at, end: end)
    // A second version is refused, because each would take a frame of the stack.
    guard at < end, base.load(fromByteOffset: at, as: UInt8.self) != BodyTag.versioned else {
      throw DamagedBytes(reason: "a version has no value", offset: offset)
    }
    return (version, at)
  }

  /// The place of the value behind sync statuses and versions. A loop, so that any number of these takes no stack.
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

  /// The place of the value at `offset`, behind the sync status that may precede it.
  static func skipSyncStatus(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> Int {
    var at = offset
    while at < end, base.load(fromByteOffset: at, as: UInt8.self) == BodyTag.syncStatus {
      at += statusByteCount
    }
    return at
  }
}

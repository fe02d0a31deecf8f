internal import GarageCoding
internal import GarageDriver

/// What tells a garage from any other store: one entry, written when the garage is made.
///
/// ```
/// 0   | "Garage" | 6
/// 6   | format   | 2   version of the key layout and of everything under it: 2 in stores that have, or had, an index
/// 8   | created  | 8   milliseconds since 1970-01-01 UTC
/// 16  | check    | 8   the first 8 bytes of SHA-256 of bytes 0 to 15
/// ```
/// Numbers are big-endian. The first 8 bytes keep their meaning in every version; a newer format may change
/// all else.
struct StoreMetadata: Equatable {
  /// The newest format that this library reads and writes: that of stores with indexes, which everybody who writes has
  /// to know of.
  static let formatVersion = 2

  static let key = KeyLayout.metadata("garage")
  private static let magic = Array("Garage".utf8)
  private static let byteCount = 24

  /// Milliseconds since 1970-01-01 UTC.
  var creationTime: UInt64

  /// 1, or 2 where the store has, or had, an index.
  var version = 1

  init(creationTime: UInt64) { self.creationTime = creationTime }

  /// What this store says about itself; nil where it is empty.
  ///
  /// - Throws: ``GarageError/notAGarage(driver:)``, ``GarageError/newerFormat(version:driver:)``,
  ///   ``GarageError/damagedMetadata(driver:)``, ``GarageError/sealed(driver:)``.
  init?(in transaction: any ReadTransaction, driver: String) throws {
    guard let bytes = try transaction.value(for: StoreMetadata.key) else {
      var isEmpty = true
      try transaction.scan(.all, .forward) { _, _ in
        isEmpty = false
        return .stop
      }
      if isEmpty { return nil }
      throw GarageError.notAGarage(driver: driver)
    }
    if SealedMark.begins(bytes.span.bytes) { throw GarageError.sealed(driver: driver) }
    guard bytes.starts(with: StoreMetadata.magic), bytes.count >= 8 else {
      let isSealed = try StoreMetadata.isSealed(transaction)
      throw isSealed ? GarageError.sealed(driver: driver) : GarageError.damagedMetadata(driver: driver)
    }
    let version = StoreMetadata.number(bytes[6..<8])
    // If all fits the check with one of the versions that we know, only the version is damaged.
    let fitting = (1...StoreMetadata.formatVersion).first { version in
      var known = bytes
      known.replaceSubrange(6..<8, with: StoreMetadata.versionBytes(version))
      return bytes.count == StoreMetadata.byteCount
        && StoreMetadata.check(known) == StoreMetadata.number(bytes[16..<24])
    }
    if version > StoreMetadata.formatVersion, fitting == nil {
      throw GarageError.newerFormat(version: Int(version), driver: driver)
    }
    guard let fitting, version == fitting else { throw GarageError.damagedMetadata(driver: driver) }
    creationTime = StoreMetadata.number(bytes[8..<16])
    self.version = fitting
  }

  var bytes: [UInt8] {
    var bytes = StoreMetadata.magic
    bytes += StoreMetadata.versionBytes(version)
    withUnsafeBytes(of: creationTime.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: StoreMetadata.check(bytes).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  private static func versionBytes(_ version: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt16(version).bigEndian) { Array($0) }
  }

  /// Whether other entries bear the mark of sealed values: this one's may be damaged.
  private static func isSealed(_ transaction: any ReadTransaction) throws -> Bool {
    var (isSealed, count) = (false, 0)
    try transaction.scan(.all, .forward) { _, value in
      isSealed = SealedMark.begins(value)
      count += 1
      return isSealed || count == 16 ? .stop : .continue
    }
    return isSealed
  }

  private static func check(_ bytes: [UInt8]) -> UInt64 {
    bytes[..<16].withUnsafeBytes { ContentDigest.digest8(of: $0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

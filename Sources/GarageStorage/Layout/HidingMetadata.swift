#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import GarageCoding
internal import GarageDriver

/// Says that a garage hides identifiers, and how: one entry beside the garage's metadata, written with it.
///
/// ```
/// 0   | version | 1    1: HMAC-SHA-256, cut to 16 bytes
/// 1   | key     | 32   of the hash: random
/// 33  | check   | 8    the first 8 bytes of SHA-256 of bytes 0 to 32
/// ```
/// It is a value, and so sealed as all values are.
struct HidingMetadata: Equatable {
  static let key = KeyLayout.metadata("hiding")
  private static let version: UInt8 = 1
  private static let checkOffset = 1 + KeyedHash.keyByteCount

  /// The key of the hash.
  var hidingKey: [UInt8]

  init(hidingKey: [UInt8]) { self.hidingKey = hidingKey }

  /// What this garage says about hiding; nil where identifiers stand in keys as they are.
  ///
  /// - Throws: ``GarageError/newerFormat(version:driver:)``, ``GarageError/damagedMetadata(driver:)``.
  init?(in transaction: any ReadTransaction, driver: String) throws {
    guard let bytes = try transaction.value(for: HidingMetadata.key) else { return nil }
    let offset = HidingMetadata.checkOffset
    // If all fits the check with the version that we know, only the version is damaged.
    let isKnown =
      bytes.count == offset + 8
      && Array(bytes[offset...]) == HidingMetadata.check(([HidingMetadata.version] + bytes[1..<offset])[...])
    if let version = bytes.first, version > HidingMetadata.version, !isKnown {
      throw GarageError.newerFormat(version: Int(version), driver: driver)
    }
    guard isKnown, bytes[0] == HidingMetadata.version else {
      throw GarageError.damagedMetadata(driver: driver)
    }
    hidingKey = Array(bytes[1..<offset])
  }

  var bytes: [UInt8] {
    let bytes = [HidingMetadata.version] + hidingKey
    return bytes + HidingMetadata.check(bytes[...])
  }

  private static func check(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let digest = bytes.withUnsafeBytes { ContentDigest.digest8(of: $0) }
    return withUnsafeBytes(of: digest.bigEndian) { Array($0) }
  }
}

/// Whether a garage is to hide identifiers.
package enum IdentifierHiding: Sendable {
  /// As the store has it; a new one does not.
  case asStored
  /// The store has to, and is made so where it is new.
  case required
  /// As ``required``, with this hash key where the store is new, and also without a seal: for bytes that are
  /// compared.
  case withKey([UInt8])
}

extension ObjectKeys {
  /// Makes sure that a store is a garage of a format we know, and makes one of it where it is empty.
  ///
  /// - Throws: ``GarageError``, as `Garage.init`; the store then is as it was.
  init(opening driver: any StorageDriver, _ hiding: IdentifierHiding, fixedTime: UInt64?) throws {
    let (name, isSealed) = (driver.info.name, driver.info.isSealed)
    let newKey: [UInt8]?
    switch hiding {
    case .asStored: newKey = nil
    case .withKey(let key): newKey = key
    case .required:
      guard isSealed else { throw notHidden(name, .storageIsNotSealed) }
      newKey = KeyedHash.makeKey()
    }
    func found(in transaction: any ReadTransaction) throws -> ObjectKeys? {
      let metadata = try sayingWhatIsLost {
        guard try StoreMetadata(in: transaction, driver: name) != nil else { return nil as HidingMetadata?? }
        return .some(try HidingMetadata(in: transaction, driver: name))
      }
      guard let metadata else { return nil }
      if newKey != nil && metadata == nil { throw notHidden(name, .wasMadeWithout) }
      return ObjectKeys(hidingKey: metadata?.hidingKey, isSealed: isSealed)
    }

    // Several may open, and so make, one store at a time.
    let conflicts = driver.info.writersConflict
    if let keys = try retrying(expectsConflicts: conflicts, { try driver.read(found) }) {
      self = keys
      return
    }
    if driver.info.isReadOnly { throw GarageError.noGarage(driver: name) }
    self = try retrying(expectsConflicts: conflicts) {
      try driver.write { transaction in
        // Another process may have been first.
        if let keys = try found(in: transaction) { return .commit(keys) }
        let now = fixedTime ?? UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        try transaction.put(StoreMetadata(creationTime: now).bytes, for: StoreMetadata.key)
        if let newKey {
          try transaction.put(HidingMetadata(hidingKey: newKey).bytes, for: HidingMetadata.key)
        }
        return .commit(ObjectKeys(hidingKey: newKey, isSealed: isSealed))
      }
    }
  }
}

/// Reads metadata. Other values of a sealed store that do not open can be replaced or removed; without these there is
/// no garage.
private func sayingWhatIsLost<R>(_ body: () throws -> R) throws -> R {
  do { return try body() } catch var error as StorageError where error.kind.rawValue == "tampered" {
    error.message += """
       The garage cannot be opened without it. Where there is no backup, copy all that opens into a new garage: \
      Docs/Encryption.md, "Rescuing", has the code.
      """
    throw error
  }
}

private enum ReasonNotHidden: String {
  case storageIsNotSealed = """
    the storage is not sealed, so that what they are hidden with could be read there, too. Nothing was changed. \
    Wrap it in SealedStorage, or leave out hidesIdentifiers.
    """
  case wasMadeWithout = """
    it was made without hidesIdentifiers, and they stand in its keys. Nothing was changed. Open it without, or \
    park its objects in a new garage that hides them.
    """
}

private func notHidden(_ driver: String, _ reason: ReasonNotHidden) -> GarageError {
  .identifiersNotHidden(driver: driver, reason: reason.rawValue)
}

public import GarageDriver

/// Wraps any storage so that nothing it stores can be read, or changed unnoticed, without the key.
///
/// ```swift
/// let sealer = AESGCMSealer(key: key)
/// let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: sealer))
/// ```
/// Every value is sealed by a ``Sealer`` before the wrapped storage gets it, and bound to its key: changed, swapped
/// or copied values are refused with ``GarageDriver/StorageError/Kind/tampered``. **Keys stay readable**, as does
/// how many entries there are and how large they are. `Docs/Encryption.md` says what that means for a garage, which
/// can hide what its keys hold (`hidesIdentifiers`), and what an attacker can do all the same.
///
/// It keeps every promise of ``GarageDriver/StorageDriver`` that the wrapped storage keeps. Its largest value is
/// smaller than that storage's by what the sealer adds.
public struct SealedStorage: StorageDriver {
  /// What the wrapped storage says of itself, with the largest value that can be sealed.
  public let info: StorageInfo
  private(set) var base: any StorageDriver
  let keys: KeyRing

  /// Wraps `base`, which is empty or was sealed before.
  ///
  /// Entries are opened, so that a wrong key is refused here and not by the first read: the first and the last,
  /// and where these do not open, others in different places. A key that opens none of them is a wrong one; where
  /// some open, the others are damaged, and reading them throws ``GarageDriver/StorageError/Kind/tampered``.
  ///
  /// - Parameters:
  ///   - base: where the sealed values are kept.
  ///   - sealer: the key that every value is written with.
  ///   - formerSealers: keys that values were written with before; ``rekey(batchCount:progress:)`` makes them
  ///     superfluous.
  /// - Throws: ``GarageDriver/StorageError`` of the kinds ``GarageDriver/StorageError/Kind/wrongKey``,
  ///   ``GarageDriver/StorageError/Kind/notSealed`` where the store is a plain one,
  ///   ``GarageDriver/StorageError/Kind/newerFormat``, and what reading from `base` throws. `base` stays open.
  public init(_ base: any StorageDriver, sealer: some Sealer, formerSealers: [any Sealer] = []) throws {
    self.base = base
    keys = try KeyRing(sealer, formerSealers, driver: base.info.name)
    var info = base.info
    info.maximumValueByteCount = sealer.maximumValueByteCount(
      sealedInto: info.maximumValueByteCount - SealedValue.headerByteCount)
    info.isSealed = true
    self.info = info
    try base.read { try KeyEvidence.check(keys, in: $0) }
  }

  /// Runs `body` on a state of the wrapped storage.
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { transaction in
      let sealed = SealedReadTransaction(transaction, keys, info)
      defer { sealed.end() }
      return try body(sealed)
    }
  }

  /// Runs `body` as the only writer of the wrapped storage.
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { transaction in
      let sealed = SealedWriteTransaction(transaction, keys, info)
      defer { sealed.end() }
      let outcome = try body(sealed)
      // Thrown from the base's body, an error rolls the base's transaction back.
      if case .commit = outcome, let error = sealed.firstError { throw error }
      return outcome
    }
  }

  /// Closes the wrapped storage.
  public func close() throws { try base.close() }
}

extension SealedStorage: DeferredReading {
  /// As ``read(_:)``; on a wrapped storage that saves a trip where a state may be that of the first operation, with that.
  public func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    guard let base = base as? any DeferredReading else { return try read(body) }
    return try base.deferredRead { transaction in
      let sealed = SealedReadTransaction(transaction, keys, info)
      defer { sealed.end() }
      return try body(sealed)
    }
  }
}

extension SealedStorage: SeparableStorage {
  package func separated() -> (any StorageDriver)? {
    guard let base = (base as? any SeparableStorage)?.separated() else { return nil }
    var sealed = self
    sealed.base = base
    return sealed
  }
}

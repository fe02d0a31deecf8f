public import GarageDriver

/// Wraps any storage, so that without the key its values can neither be read nor changed unnoticed.
///
/// ```swift
/// let sealer = AESGCMSealer(key: key)
/// let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: sealer))
/// ```
/// Every value is sealed by a ``Sealer`` before the wrapped storage gets it, and bound to its key. Changed, swapped or copied
/// values are refused with ``GarageDriver/StorageError/Kind/tampered``. **Keys stay readable**, and so do the number of entries
/// and their sizes. `Docs/Encryption.md` says what that means for a garage, which can hide the identifiers in its keys
/// (`hidesIdentifiers`), and what an attacker can still do.
///
/// It keeps every promise of ``GarageDriver/StorageDriver`` that the wrapped storage keeps. Its largest value is smaller than
/// that storage's, by the bytes that the sealer adds.
public struct SealedStorage: StorageDriver {
  /// The facts of the wrapped storage, with the largest value that can be sealed.
  public let info: StorageInfo
  private(set) var base: any StorageDriver
  let keys: KeyRing

  /// Wraps `base`, which must be empty, or sealed already.
  ///
  /// Some entries are opened, so that a wrong key is refused here and not at the first read: the first entry and the last, and
  /// if these do not open, others in different places. A key that opens none of them is wrong. If some open, the others are
  /// damaged, and reading them throws ``GarageDriver/StorageError/Kind/tampered``.
  ///
  /// - Parameters:
  ///   - base: the storage that keeps the sealed values.
  ///   - sealer: seals every value that is written.
  ///   - formerSealers: the sealers of values that were written before. After ``rekey(batchCount:progress:)`` they are not
  ///     needed any more.
  /// - Throws: ``GarageDriver/StorageError`` of the kinds ``GarageDriver/StorageError/Kind/wrongKey``,
  ///   ``GarageDriver/StorageError/Kind/notSealed`` if the store is a plain one,
  ///   ``GarageDriver/StorageError/Kind/newerFormat``, and the errors of reading from `base`. `base` stays open.
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
      // An error thrown from the body of `base`'s transaction rolls that transaction back.
      if case .commit = outcome, let error = sealed.firstError { throw error }
      return outcome
    }
  }

  /// Closes the wrapped storage.
  public func close() throws { try base.close() }
}

extension SealedStorage: DeferredReading {
  /// Does as ``read(_:)``. If the wrapped storage can save a round trip by beginning the read along with its first operation,
  /// it does that.
  public func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    guard let base = base as? any DeferredReading else { return try read(body) }
    return try base.deferredRead { transaction in
      let sealed = SealedReadTransaction(transaction, keys, info)
      defer { sealed.end() }
      return try body(sealed)
    }
  }
}

extension SealedStorage: ClosedTelling {
  package var isClosed: Bool? { (base as? any ClosedTelling)?.isClosed }
}

extension SealedStorage: SeparableStorage {
  package func separated() -> (any StorageDriver)? {
    guard let base = (base as? any SeparableStorage)?.separated() else { return nil }
    var sealed = self
    sealed.base = base
    return sealed
  }
}

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
  let base: any StorageDriver
  let keys: KeyRing

  /// Wraps `base`, which is empty or was sealed before.
  ///
  /// Its first and its last entry are opened, so that a wrong key is refused here and not by the first read.
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
    try checkKeys()
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

  /// Opens the first and the last entry. Rekeying goes from the first to the last, so that a key which is missing
  /// because that was interrupted shows here, too.
  private func checkKeys() throws {
    let (output, context) = (SealerOutput(), SealerOutput())
    try base.read { transaction in
      for direction in ScanDirection.allCases {
        try transaction.scan(.all, direction) { key, sealed in
          output.removeAll()
          try keys.open(sealed, for: key, .open, into: output, context: context)
          return .stop
        }
      }
    } catching: { error in
      guard error.kind == .tampered else { return error }
      return StorageError(
        .wrongKey, during: .open, driver: info.name,
        message: """
          The store does not open with this key (\(readable(keys.writerIdentifier))): the key is another than the \
          one it was sealed with, or its first or last value was damaged. Nothing was changed. Open it with the \
          key it was sealed with. (\(error.message))
          """)
    }
  }
}

extension StorageDriver {
  /// Reads, and throws what `replace` makes of a `StorageError`.
  fileprivate func read(
    _ body: (any ReadTransaction) throws -> Void, catching replace: (StorageError) -> StorageError
  ) throws {
    do { try read(body) } catch let error as StorageError { throw replace(error) }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import GarageDriver

/// What was exported, or taken in.
public struct ExchangeResult: Sendable, Hashable {
  /// How many objects.
  public internal(set) var objectCount = 0
  /// How many values of typed keys.
  public internal(set) var keyCount = 0
  /// How many bytes the file has.
  public internal(set) var byteCount = 0
}

extension Garage {
  /// Writes everything in the store to a file of JSON lines, which other programs read and ``import(from:progress:)`` takes in.
  ///
  /// A line for each object and each value of a typed key, with what it holds, and with the bytes of its record, from which it
  /// is restored as it was: identifiers, times, sync statuses, versions and references included. `Docs/Format.md` has every
  /// field. Indexes are left out: a garage makes them again as its types declare them.
  ///
  /// One state of the store is written, while others go on; unsaved changes are not part of it. **The file is neither sealed
  /// nor are identifiers hidden in it**, whatever the storage does. It appears under its name when it is complete, as
  /// ``backup(to:compacting:progress:)`` says.
  ///
  /// - Parameters:
  ///   - url: where the file is to be; there must be nothing. Its owner alone may read it.
  ///   - progress: is told every 1024 entries how far it is, and again from the beginning where the engine asks for another
  ///     try. What it throws ends the call, and so does cancelling the task; nothing is left then.
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)``, ``GarageError/corruptValue(key:reason:)`` or
  ///   ``GarageError/damagedText(digest:)`` where something is damaged: ``GarageSalvage`` brings over the rest.
  ///   ``GarageError/storage(_:)`` (`alreadyThere`, `storageFull` and others), `CancellationError`, what `progress` throws,
  ///   ``GarageError/closed``.
  @discardableResult
  public func export(
    to url: URL, progress: (CareProgress) throws -> Void = { _ in }
  ) throws -> ExchangeResult {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        try beginCall()
        defer { endCall() }
        let path = try url.exchangePath(.write)
        var result = ExchangeResult()
        try PartialStore.make(at: path, makesFile: true, driver: ExchangeFile.name) { partial in
          result = try retrying(nil, store.gate, isRead: true) {
            try store.driver.read { transaction in
              let access = ReadAccess(garage: self, transaction: transaction)
              // What an earlier try has written goes.
              return try StoreExport(access, ExchangeFile(writing: partial), progress).run()
            }
          }
        }
        return result
      }
    }
  }

  /// Takes in everything that a file of ``export(to:progress:)`` holds.
  ///
  /// Objects and values of typed keys are as they were exported; what is there under the same identifier or key is replaced,
  /// all else stays. Everything is checked before it is kept, each record by its checksum, and the file as a whole. It is
  /// done in one transaction, wholly or not at all, for which other writers wait. No user's code runs: neither `init(from:)`
  /// nor the hooks of keys.
  ///
  /// - Parameter progress: is told how many of the file's bytes are read. What it throws ends the call, and so does
  ///   cancelling the task; nothing is changed then.
  /// - Throws: ``GarageError/damagedExport(line:reason:)``, ``GarageError/notUnique(index:value:existing:)``,
  ///   ``GarageError/nestedWrite``, ``GarageError/storage(_:)``, `CancellationError`, what `progress` throws,
  ///   ``GarageError/closed``.
  @discardableResult
  public func `import`(
    from url: URL, progress: (CareProgress) throws -> Void = { _ in }
  ) throws -> ExchangeResult {
    try withWriteAccess { access in
      // Opened here, because the transaction may be tried again.
      let reading = StoreImport(access, try ExchangeFile(reading: url.exchangePath(.read)))
      return try reading.run(progress)
    }
  }
}

extension URL {
  /// The path of a file; other addresses have one, too, and it leads elsewhere.
  fileprivate func exchangePath(_ operation: StorageError.Operation) throws -> String {
    if isFileURL { return path }
    throw StorageError(
      .notFound, during: operation, driver: ExchangeFile.name,
      message: "\(absoluteString) is no path of a file. Give a file URL.")
  }
}

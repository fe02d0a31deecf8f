#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import GarageDriver

/// The amount of what was exported or imported.
public struct ExchangeResult: Sendable, Hashable {
  /// The number of objects.
  public internal(set) var objectCount = 0
  /// The number of values of typed keys.
  public internal(set) var keyCount = 0
  /// The size of the file, in bytes.
  public internal(set) var byteCount = 0
}

extension Garage {
  /// Writes everything in the store to a file of JSON lines, which other programs can read and ``import(from:progress:)``
  /// imports.
  ///
  /// Each object, and each value of a typed key, is one line. It has the value, and the bytes of the record, from which
  /// everything is restored: identifiers, times, sync statuses, versions and references. `Docs/Format.md` describes every
  /// field. Indexes are left out: a garage rebuilds them as its types declare them.
  ///
  /// One state of the store is written, while others go on. Unsaved changes are not included. **The file is not sealed, and
  /// identifiers in it are not hidden**, whatever the storage does. It appears under its name when it is complete, as
  /// ``backup(to:compacting:progress:)`` says.
  ///
  /// - Parameters:
  ///   - url: the place of the file, where nothing may exist. Only its owner may read it.
  ///   - progress: is told every 1024 entries how far the call is, and again from the beginning if the engine asks for another
  ///     try. An error that it throws ends the call, and so does cancelling the task. Nothing is left then.
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)``, ``GarageError/corruptValue(key:reason:)`` or
  ///   ``GarageError/damagedText(digest:)`` if something is damaged (``GarageSalvage`` saves the rest);
  ///   ``GarageError/storage(_:)`` (`alreadyThere`, `storageFull` and others); `CancellationError`; the errors of `progress`;
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
              // The file of an earlier try is overwritten.
              return try StoreExport(access, ExchangeFile(writing: partial), progress).run()
            }
          }
        }
        return result
      }
    }
  }

  /// Imports everything in a file that ``export(to:progress:)`` wrote.
  ///
  /// Objects and values of typed keys become as they were when they were exported. Those that exist under the same identifiers
  /// or keys are replaced, also if their type, which was used by this program before, had another name in the file, or has one in
  /// the store; all others stay. Everything is checked before it is kept: each record by its checksum, and the file as a whole. The import is one transaction, done
  /// completely or not at all, and other writers wait for it. No user's code runs, neither `init(from:)` nor the hooks of keys.
  ///
  /// - Parameter progress: is told how many of the file's bytes are read, and again from the beginning if objects get the values
  ///   of one another in a unique index. An error that it throws ends the call, and so does cancelling the task. Nothing is
  ///   changed then.
  /// - Throws: ``GarageError/damagedExport(line:reason:)``, ``GarageError/notUnique(index:value:existing:)``,
  ///   ``GarageError/nestedWrite``, ``GarageError/storage(_:)``, `CancellationError`, the errors of `progress`,
  ///   ``GarageError/closed``.
  @discardableResult
  public func `import`(
    from url: URL, progress: (CareProgress) throws -> Void = { _ in }
  ) throws -> ExchangeResult {
    do { return try takeIn(url, makingRoom: false, progress) } catch GarageError.notUnique {
      // What has the value now may be an object that is replaced as well.
      return try takeIn(url, makingRoom: true, progress)
    }
  }

  /// The digests of the tags of all objects in an exported file; none for a pipe, which can be read only once.
  static func tagDigests(inExportAt url: URL) throws -> [UInt64] {
    let path = try url.exchangePath(.read)
    return ExchangeFile.isRegular(path) ? try StoreImport.tagDigests(in: ExchangeFile(reading: path)) : []
  }

  /// - Parameter makesRoom: whether the objects that are replaced are removed before, so that none of them is in the way of
  ///   another one that gets its value in a unique index.
  private func takeIn(
    _ url: URL, makingRoom makesRoom: Bool, _ progress: (CareProgress) throws -> Void
  ) throws -> ExchangeResult {
    try withWriteAccess { access in
      // Opened inside the transaction, because that may be tried again.
      let path = try url.exchangePath(.read)
      let hasOtherNames =
        try ExchangeFile.isRegular(path) && StoreImport.mayHaveOtherNames(ExchangeFile(reading: path))
      if makesRoom || hasOtherNames {
        try StoreImport(access, ExchangeFile(reading: path)).makeRoom(removesReplaced: makesRoom)
      }
      return try StoreImport(access, ExchangeFile(reading: path)).run(progress)
    }
  }
}

extension URL {
  /// The path of a file. URLs that name no file have a path, too, but it leads somewhere else.
  fileprivate func exchangePath(_ operation: StorageError.Operation) throws -> String {
    if isFileURL { return path }
    throw StorageError(
      .notFound, during: operation, driver: ExchangeFile.name,
      message: "\(absoluteString) is no path of a file. Give a file URL.")
  }
}

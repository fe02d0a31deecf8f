#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageDriver

extension Garage {
  /// Makes a copy of the store at another place. Its engine reads one state for it, while others go on writing.
  ///
  /// ```swift
  /// try garage.backup(to: URL(filePath: "/backups/2026-11-23.garage"))
  /// ```
  /// The copy is a store of the same driver with the same seal, and is opened as such. It is a file or a folder, as the store
  /// is. It appears under its name when it is complete and on the disk. Until then it stands in a folder beside its place,
  /// whose name is the same with `.partial` behind it. That folder is removed at the end of the call; if the process ended, the
  /// next call to the same place begins it again. However much others write, the call is finished.
  ///
  /// Unsaved changes are not in the copy. A store in memory has no file that could be copied: ``copy(to:progress:)`` copies to
  /// any driver.
  ///
  /// - Parameters:
  ///   - url: the place of the copy. There must be nothing, or an empty folder if the store is a folder.
  ///   - compacting: whether space that the engine does not use is left out, so that the copy is as small as possible.
  ///   - progress: is told how many of the store's pages are copied. An error that it throws ends the call, and so does
  ///     cancelling the task. Nothing is left then.
  /// - Throws: ``GarageError/storage(_:)`` (`alreadyThere`, `storageFull`, `notSupported` and others), `CancellationError`, the
  ///   errors of `progress`, ``GarageError/closed``, and on LMDB ``GarageError/nestedWrite`` inside a write.
  public func backup(
    to url: URL, compacting: Bool = false, progress: (CareProgress) throws -> Void = { _ in }
  ) throws {
    try translatingErrors {
      try beginCall()
      defer { endCall() }
      let driver = store.driver
      guard let engine = driver as? any BackingUp else {
        throw StorageError.notSupported(
          "make a backup by itself", by: driver.info.name, during: .read,
          "Copy it into another storage: copy(to:).")
      }
      guard url.isFileURL else {
        throw StorageError(
          .notFound, during: .write, driver: driver.info.name,
          message: "\(url.absoluteString) is no path of a file or folder. Give a file URL.")
      }
      try engine.backUp(to: url.path, compacting: compacting) { completed, total in
        try tell(CareProgress(completedUnitCount: completed, totalUnitCount: total), progress)
      }
    }
  }

  /// Gives the disk space that the store does not use any more back to the file system.
  ///
  /// SQLite writes the file anew. Meanwhile that takes as much free space again, and other writers wait. LMDB makes holes in
  /// its file, in place and in batches; to get a shorter file as well, make a backup with `compacting`. Space that older
  /// readers still need is given back by a later call.
  ///
  /// - Parameter progress: is told how many of the store's pages are done. An error that it throws ends the call, and so does
  ///   cancelling the task. The store is then as it was, or has given back a part of the space.
  /// - Returns: how many bytes the files took on the disk before, and how many they take now.
  /// - Throws: ``GarageError/storage(_:)`` (`notSupported`, `readOnly`, `storageFull` and others), ``GarageError/nestedWrite``,
  ///   `CancellationError`, the errors of `progress`, ``GarageError/closed``.
  @discardableResult
  public func compact(progress: (CareProgress) throws -> Void = { _ in }) throws -> CompactionResult {
    try translatingErrors {
      try beginCall()
      defer { endCall() }
      let driver = store.driver
      guard let engine = driver as? any Compacting else {
        throw StorageError.notSupported(
          "give back room", by: driver.info.name, during: .write, "Copy it into another storage: copy(to:).")
      }
      return try engine.compact { completed, total in
        try tell(CareProgress(completedUnitCount: completed, totalUnitCount: total), progress)
      }
    }
  }

  private func tell(_ state: CareProgress, _ progress: (CareProgress) throws -> Void) throws {
    try Task.checkCancellation()
    try passingErrors { try progress(state) }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageDriver

extension Garage {
  /// Makes a copy of the store at another place, for which its engine reads one state of it while others go on writing.
  ///
  /// ```swift
  /// try garage.backup(to: URL(filePath: "/backups/2026-11-23.garage"))
  /// ```
  /// The copy is a store of the same driver, with the same seal, and is opened as one: a file where the store is one, a
  /// folder where it is a folder. It appears under its name when it is complete and on the disk. Until then it stands in a
  /// folder beside it, with `.partial` behind the name, which goes when the call ends, and which the next call to the same
  /// place makes anew where the process ended. However much others write, the call comes to an end.
  ///
  /// Unsaved changes are not in it. What is kept in memory has no file to be copied: ``copy(to:progress:)`` goes to any
  /// driver.
  ///
  /// - Parameters:
  ///   - url: where the copy is to be. There must be nothing, or an empty folder for a store that is one.
  ///   - compacting: whether what the engine does not use is left out, so that the copy is as small as can be.
  ///   - progress: is told how many of the store's pages are copied. What it throws ends the call, and so does cancelling
  ///     the task; nothing is left then.
  /// - Throws: ``GarageError/storage(_:)`` (`alreadyThere`, `storageFull`, `notSupported` and others), `CancellationError`,
  ///   what `progress` throws, ``GarageError/closed``, and on LMDB ``GarageError/nestedWrite`` inside a write.
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

  /// Gives back to the file system the room that the store does not use any more.
  ///
  /// SQLite writes the file anew, which takes as much free room again for as long, and lets other writers wait. LMDB makes
  /// holes in its file, in place and in batches; a file that is shorter, too, is made by a backup with `compacting`. What
  /// older readers still need is given back by a later call.
  ///
  /// - Parameter progress: is told how many of the store's pages are done. What it throws ends the call, and so does
  ///   cancelling the task: the store is as it was then, or with a part of the room given back.
  /// - Returns: how many bytes the files took on the disk before, and take now.
  /// - Throws: ``GarageError/storage(_:)`` (`notSupported`, `readOnly`, `storageFull` and others), ``GarageError/nestedWrite``,
  ///   `CancellationError`, what `progress` throws, ``GarageError/closed``.
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

/// A storage whose engine can make a copy of its store while others write.
///
/// `Garage.backup(to:)` asks it. What cannot do it, as what is kept in memory, can be copied entry by entry.
public protocol BackingUp: StorageDriver {
  /// Makes a new store at `path` that holds one committed state of this one.
  ///
  /// The store appears there whole or not at all (``PartialStore``). Others go on reading and writing, however much they
  /// do, and the copy comes to an end all the same.
  ///
  /// - Parameters:
  ///   - path: where the new store is to be: nothing, or an empty folder where a store is a folder.
  ///   - compacting: whether what the engine does not use is left out, which takes longer.
  ///   - progress: is told how many pages are copied of how many. What it throws ends the call.
  /// - Throws: ``StorageError/Kind/alreadyThere``, ``StorageError/Kind/busy`` where another backup to this place is being
  ///   made, ``StorageError/Kind/storageFull``, ``StorageError/Kind/permissionDenied``, ``StorageError/Kind/notSupported``,
  ///   and other ``StorageError``s; and what `progress` throws. Nothing is left at `path` then.
  func backUp(to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void)
    throws
}

extension StorageError {
  /// The error for a storage that has no engine to do this.
  ///
  /// - Parameter advice: what to do in its place, as a sentence.
  public static func notSupported(
    _ what: String, by driver: String, during operation: Operation, _ advice: String
  ) -> StorageError {
    StorageError(
      .notSupported, during: operation, driver: driver,
      message: "A storage of this kind (\(driver)) cannot \(what). \(advice)")
  }
}

/// A storage whose engine can make a copy of its store while others write.
///
/// `Garage.backup(to:)` calls it. A store without it, for instance one that is kept in memory, can be copied entry by entry.
public protocol BackingUp: StorageDriver {
  /// Makes a new store at `path` that holds one committed state of this one.
  ///
  /// The store appears at `path` whole or not at all (``PartialStore``). Others go on reading and writing. However much they
  /// do, the copy is finished.
  ///
  /// - Parameters:
  ///   - path: the place of the new store. There must be nothing, or an empty folder if a store is a folder.
  ///   - compacting: whether space that the engine does not use is left out, which takes longer.
  ///   - progress: is told how many pages of how many are copied. An error that it throws ends the call.
  /// - Throws: ``StorageError/Kind/alreadyThere``, ``StorageError/Kind/busy`` if another backup to this place is being made,
  ///   ``StorageError/Kind/storageFull``, ``StorageError/Kind/permissionDenied``, ``StorageError/Kind/notSupported``, and other
  ///   ``StorageError``s; and the errors of `progress`. After an error nothing is left at `path`.
  func backUp(to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void)
    throws
}

extension StorageError {
  /// The error of a storage whose engine cannot do this.
  ///
  /// - Parameter advice: what to do instead, as a sentence.
  public static func notSupported(
    _ what: String, by driver: String, during operation: Operation, _ advice: String
  ) -> StorageError {
    StorageError(
      .notSupported, during: operation, driver: driver,
      message: "A storage of this kind (\(driver)) cannot \(what). \(advice)")
  }
}

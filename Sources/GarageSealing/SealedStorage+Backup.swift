public import GarageDriver

extension SealedStorage: BackingUp, Compacting {
  /// Lets the wrapped storage make a copy. The copy is sealed with the same keys.
  ///
  /// - Throws: the errors of the wrapped storage, and ``GarageDriver/StorageError/Kind/notSupported`` if it cannot make one.
  public func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    guard let base = base as? any BackingUp else {
      throw StorageError.notSupported(
        "make a backup by itself", by: info.name, during: .read, "Copy it into another storage: copy(to:).")
    }
    try base.backUp(to: path, compacting: compacting, progress: progress)
  }

  /// Lets the wrapped storage give back disk space.
  ///
  /// - Throws: the errors of the wrapped storage, and ``GarageDriver/StorageError/Kind/notSupported`` if it cannot do so.
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    guard let base = base as? any Compacting else {
      throw StorageError.notSupported(
        "give back room", by: info.name, during: .write, "Copy it into another storage: copy(to:).")
    }
    return try base.compact(progress: progress)
  }

  /// The number that the wrapped storage gives; nil if it gives none.
  public func freeByteCount() throws -> Int? { try (base as? any Compacting)?.freeByteCount() }
}

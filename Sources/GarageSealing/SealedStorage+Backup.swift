public import GarageDriver

extension SealedStorage: BackingUp, Compacting {
  /// Has the wrapped storage make a copy, which is sealed with the same keys.
  ///
  /// - Throws: what the wrapped storage throws, and ``GarageDriver/StorageError/Kind/notSupported`` where it cannot.
  public func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    guard let base = base as? any BackingUp else {
      throw StorageError.notSupported(
        "make a backup by itself", by: info.name, during: .read, "Copy it into another storage: copy(to:).")
    }
    try base.backUp(to: path, compacting: compacting, progress: progress)
  }

  /// Has the wrapped storage give back what room it can.
  ///
  /// - Throws: what the wrapped storage throws, and ``GarageDriver/StorageError/Kind/notSupported`` where it cannot.
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    guard let base = base as? any Compacting else {
      throw StorageError.notSupported(
        "give back room", by: info.name, during: .write, "Copy it into another storage: copy(to:).")
    }
    return try base.compact(progress: progress)
  }

  /// What the wrapped storage tells.
  public func freeByteCount() throws -> Int? { try (base as? any Compacting)?.freeByteCount() }
}

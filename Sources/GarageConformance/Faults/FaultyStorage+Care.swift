public import GarageDriver

// Calls that go through the whole store are not in the plan: the engine makes them, without operations that could fail.

extension FaultyStorage: BackingUp, Compacting, IntegrityChecking {
  /// The complaints of the wrapped storage's engine.
  public func integrityComplaints() throws -> [String] {
    try (base as? any IntegrityChecking)?.integrityComplaints() ?? []
  }

  /// Whether the wrapped storage's engine trusts its pages.
  public var trustsItsPages: Bool { (base as? any IntegrityChecking)?.trustsItsPages ?? false }

  /// Lets the wrapped storage make a copy.
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
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    guard let base = base as? any Compacting else {
      throw StorageError.notSupported(
        "give back room", by: info.name, during: .write, "Copy it into another storage: copy(to:).")
    }
    return try base.compact(progress: progress)
  }

  /// The number that the wrapped storage gives.
  public func freeByteCount() throws -> Int? { try (base as? any Compacting)?.freeByteCount() }
}

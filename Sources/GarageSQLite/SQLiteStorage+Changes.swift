public import GarageDriver

extension SQLiteStorage: ChangeSignaling {
  /// How often others were found to have committed: SQLite's `data_version`, without the commits of all storages that this
  /// process has on the file. Nil while a thread of this process writes.
  ///
  /// A checkpoint by another process changes it, too, and so may closing another storage of this process on the file.
  public func foreignChangeMark() throws -> UInt64? {
    try lifetime.withCall {
      // A forked child has its parent's connections, and perhaps a lock that no thread will ever release.
      if !process.isOfThisProcess { return try read { _ in nil } }
      let gate = store.connection.gate
      guard !gate.isHeldByThisThread, try gate.beginIfFree(driver: driverName) else { return nil }
      defer { gate.end() }
      return try writer?.foreignCommitCount() ?? readers.foreignCommitCount()
    }
  }

  /// What all storages of this process on one file share.
  public var changeOrigin: ObjectIdentifier? { ObjectIdentifier(store.connection) }
}

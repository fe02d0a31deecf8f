public import GarageDriver

extension SQLiteStorage: ChangeSignaling {
  /// SQLite's `data_version`, asked of the connection that writes: it is the one to which this storage's own commits are
  /// not news. Nil while somebody of this process writes. A storage that only reads asks one of its own.
  ///
  /// Where several storages of one process have one file open, their commits are news to each other as well. So is a
  /// checkpoint of somebody else.
  public func foreignChangeMark() throws -> UInt64? {
    try lifetime.withCall {
      guard let writer else { return try readers.dataVersion() }
      guard !store.connection.isHeldByThisThread, try store.connection.beginIfFree(driver: driverName) else {
        return nil
      }
      defer { store.connection.end() }
      return try writer.dataVersion()
    }
  }

  /// The store that all storages of this process on one file share.
  public var changeOrigin: ObjectIdentifier? { ObjectIdentifier(store.connection) }
}

public import GarageDriver

extension LMDBStorage: ChangeSignaling {
  /// How many transactions other processes have committed; nil while all slots for readers are in use.
  public func foreignChangeMark() throws -> UInt64? {
    try lifetime.checkNotForked(.read)
    return try lifetime.withCall { try connection.foreignCommitCount() }
  }

  /// The environment that all storages of this process on one folder share.
  public var changeOrigin: ObjectIdentifier? { ObjectIdentifier(connection) }
}

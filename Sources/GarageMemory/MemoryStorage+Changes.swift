public import GarageDriver

extension MemoryStorage: ChangeSignaling {
  /// Always 0, because no other process has the store.
  public func foreignChangeMark() throws -> UInt64? { 0 }

  /// The store, which several values may share.
  public var changeOrigin: ObjectIdentifier? { ObjectIdentifier(store) }
}

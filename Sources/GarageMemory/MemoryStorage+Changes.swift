public import GarageDriver

extension MemoryStorage: ChangeSignaling {
  /// Always the same: nobody but this process has the store.
  public func foreignChangeMark() throws -> UInt64? { 0 }

  /// The store that several values may have.
  public var changeOrigin: ObjectIdentifier? { ObjectIdentifier(store) }
}

public import GarageDriver

extension SealedStorage: ChangeSignaling {
  /// That of the wrapped storage; nil where that has none.
  public func foreignChangeMark() throws -> UInt64? {
    try (base as? any ChangeSignaling)?.foreignChangeMark()
  }

  /// That of the wrapped storage.
  public var changeOrigin: ObjectIdentifier? { NewsOrigin.of(base) }

  /// Whether the wrapped storage can.
  public var signalsChanges: Bool { (base as? any ChangeSignaling)?.signalsChanges ?? false }
}

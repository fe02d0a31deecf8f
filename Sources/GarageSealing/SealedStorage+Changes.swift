public import GarageDriver

extension SealedStorage: ChangeSignaling {
  /// The mark of the wrapped storage; nil if that has none.
  public func foreignChangeMark() throws -> UInt64? {
    try (base as? any ChangeSignaling)?.foreignChangeMark()
  }

  /// The origin of the wrapped storage.
  public var changeOrigin: ObjectIdentifier? { NewsOrigin.of(base) }

  /// Whether the wrapped storage signals changes.
  public var signalsChanges: Bool { (base as? any ChangeSignaling)?.signalsChanges ?? false }
}

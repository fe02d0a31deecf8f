public import GarageDriver

extension SealedStorage: IntegrityChecking {
  /// The complaints of the wrapped storage's engine; none if it cannot check.
  ///
  /// - Throws: the errors of the wrapped storage.
  public func integrityComplaints() throws -> [String] {
    try (base as? any IntegrityChecking)?.integrityComplaints() ?? []
  }

  /// Whether the wrapped storage's engine trusts its pages.
  public var trustsItsPages: Bool { (base as? any IntegrityChecking)?.trustsItsPages ?? false }
}

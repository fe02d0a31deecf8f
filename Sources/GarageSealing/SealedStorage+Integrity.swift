public import GarageDriver

extension SealedStorage: IntegrityChecking {
  /// What the wrapped storage's engine complains about; nothing where it cannot check.
  ///
  /// - Throws: what the wrapped storage throws.
  public func integrityComplaints() throws -> [String] {
    try (base as? any IntegrityChecking)?.integrityComplaints() ?? []
  }

  /// What the wrapped storage says.
  public var trustsItsPages: Bool { (base as? any IntegrityChecking)?.trustsItsPages ?? false }
}

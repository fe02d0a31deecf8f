/// How a check ended that did not fail.
public enum ConformanceOutcome: Sendable, Hashable {
  /// The driver keeps the rule.
  case passed
  /// The rule does not bind a driver with such a ``StorageInfo``, and nothing was checked; the reason says why.
  case skipped(reason: String)

  /// Why nothing was checked, or nil where the check passed.
  public var reasonToSkip: String? {
    guard case .skipped(let reason) = self else { return nil }
    return reason
  }
}

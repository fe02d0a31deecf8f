/// The outcome of a check that did not fail.
public enum ConformanceOutcome: Sendable, Hashable {
  /// The driver keeps the rule.
  case passed
  /// The rule does not apply to a driver with its ``StorageInfo``, and nothing was checked. The reason says why.
  case skipped(reason: String)

  /// The reason why nothing was checked; nil if the check passed.
  public var reasonToSkip: String? {
    guard case .skipped(let reason) = self else { return nil }
    return reason
  }
}

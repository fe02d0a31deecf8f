/// The work of a crash check, which shows that the check did something.
public struct CrashReport: Sendable {
  /// The check's name.
  public var check: String
  /// How often a child was killed.
  public var killCount = 0
  /// How many of these kills came after a write's body had begun and before it had ended.
  public var killsInBody = 0
  /// How many of them came after the body had ended and before the child could report that `write` had returned.
  public var killsInCommit = 0
  /// How many transactions were acknowledged in all. None of them was lost.
  public var acknowledgedCount = 0
  /// How often the store held a transaction that was not acknowledged, which is allowed.
  public var unacknowledgedCommits = 0
}

/// What a crash check did, for those who want to see that it did something.
public struct CrashReport: Sendable {
  /// The check's name.
  public var check: String
  /// How often a child was killed.
  public var killCount = 0
  /// How many of these came after a write's body began and before it ended.
  public var killsInBody = 0
  /// How many came after the body ended and before the child could say that `write` had returned.
  public var killsInCommit = 0
  /// How many transactions were acknowledged in all; none of them was lost.
  public var acknowledgedCount = 0
  /// How often the store held a transaction that was not acknowledged, which is allowed.
  public var unacknowledgedCommits = 0
}

/// A rule of the contract that a driver broke: what was expected, what was seen, and how to see it again.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The name of the check.
  public var check: String
  /// The sentence of the contract.
  public var rule: String
  /// What a driver that keeps the rule does.
  public var expected: String
  /// What this one did.
  public var seen: String
  /// Where randomness was involved, the number that brings the same run again.
  public var seed: UInt64?
  /// The step of a random history at which the driver went wrong.
  public var step: Int?
  /// The line of the suite that noticed.
  public var location: String

  /// All of it in one line.
  public var description: String {
    var text = "\(check): expected \(expected); seen: \(seen)."
    if let seed { text += " Seed \(seed)" + (step.map { ", step \($0)." } ?? ".") }
    return text + " The rule: \"\(rule)\" (\(location))"
  }
}

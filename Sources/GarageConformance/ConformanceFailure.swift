/// A rule of the contract that a driver broke: what was expected, what was seen, and how to see it again.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The name of the check.
  public var check: String
  /// The sentence of the contract.
  public var rule: String
  /// What a driver that keeps the rule would do.
  public var expected: String
  /// What this driver did.
  public var seen: String
  /// The seed that gives the same run again, if the check is random.
  public var seed: UInt64?
  /// The step at which the driver went wrong. In a random history it is the number of the transaction. In other checks that do
  /// not count their own steps it is the number of expectations that had been met.
  public var step: Int?
  /// The line of the suite that noticed, as `file:line`. If the driver threw an error that it should not, it is the call that
  /// threw, or the last line before it that is known.
  public var location: String

  /// The whole failure in one line.
  public var description: String {
    var text = "\(check): expected \(expected); seen: \(seen)."
    let marks = [seed.map { "seed \($0)" }, step.map { "step \($0)" }].compactMap(\.self)
    if let first = marks.first {
      text += " \(first.prefix(1).uppercased())\(first.dropFirst())"
      text += marks.count > 1 ? ", \(marks[1])." : "."
    }
    return text + " The rule: \"\(rule)\" (\(location))"
  }
}

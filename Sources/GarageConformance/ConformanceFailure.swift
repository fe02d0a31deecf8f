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
  /// The step at which the driver went wrong: of a random history its transaction, of any other check that
  /// counts no steps of its own how many expectations had been met.
  public var step: Int?
  /// The line of the suite that noticed, as `file:line`. Where the driver threw what it should not, the call
  /// that threw, or the last line before it that is known.
  public var location: String

  /// All of it in one line.
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

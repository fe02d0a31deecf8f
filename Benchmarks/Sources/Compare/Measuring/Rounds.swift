import Foundation

/// Runs round after round, and says how far it is.
struct Rounds {
  var count: Int
  /// No round begins that would end later, going by the last one.
  var deadline: Date?

  func run(_ title: String, _ body: (Int) throws -> Void) throws {
    for round in 0..<count {
      let start = Date()
      say("\(title): round \(round + 1) of \(count)")
      try body(round)
      let end = Date()
      if let deadline, end.addingTimeInterval(end.timeIntervalSince(start)) > deadline, round + 1 < count {
        say("\(title): no time for more than \(round + 1) rounds")
        return
      }
    }
  }
}

/// Progress, on standard error: standard output is for the result.
func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

extension Array {
  /// The same, beginning elsewhere in each round, so that nobody is always first.
  func rotated(by round: Int) -> [Element] {
    if isEmpty { return self }
    let start = round % count
    return Array(self[start...] + self[..<start])
  }
}

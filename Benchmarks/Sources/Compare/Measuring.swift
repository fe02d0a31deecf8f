import Foundation

/// One thing that can be timed: so many objects at each call of `run`.
struct Operation {
  /// What is measured, `park 100k` for instance.
  var name: String
  /// Who does it: `sqlite`, or `GRDB columns`.
  var who: String
  var count: Int
  /// Not timed. Called before each `run`.
  var prepare: () throws -> Void = {}
  var run: () throws -> Void
  /// Not timed. Throws where the result of `run` is not what it should be.
  var verify: () throws -> Void
}

/// A result that differs from what was to be expected: the figures would mean nothing.
struct WrongResult: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }

  static func unless(_ isRight: Bool, _ description: @autoclosure () -> String) throws {
    if !isRight { throw WrongResult(description()) }
  }
}

/// What one run took, in nanoseconds per object.
struct Sample {
  var wall: Double
  /// Processor time of all threads of the process.
  var processor: Double
}

/// The samples of all rounds.
struct Samples {
  private var all: [String: [Sample]] = [:]
  private var counts: [String: Int] = [:]

  private static func key(_ name: String, _ who: String) -> String { "\(name)\n\(who)" }

  mutating func measure(_ operation: Operation) throws {
    try operation.prepare()
    let (wall, processor) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
    try operation.run()
    let sample = Sample(
      wall: (now(CLOCK_MONOTONIC) - wall) / Double(operation.count),
      processor: (now(CLOCK_PROCESS_CPUTIME_ID) - processor) / Double(operation.count))
    do {
      try operation.verify()
    } catch {
      throw WrongResult("\(operation.name) by \(operation.who): \(error)")
    }
    let key = Self.key(operation.name, operation.who)
    all[key, default: []].append(sample)
    counts[key] = operation.count
  }

  private func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// The median of all rounds, of either clock.
  func median(_ name: String, _ who: String) -> Median? {
    let key = Self.key(name, who)
    guard let samples = all[key], let objects = counts[key] else { return nil }
    return Median(
      wall: Self.median(samples.map(\.wall)), processor: Self.median(samples.map(\.processor)),
      objects: objects,
      rounds: samples.count)
  }

  struct Median {
    var wall: Double
    var processor: Double
    var objects: Int
    var rounds: Int
  }

  static func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}

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

import Foundation

/// What one run took, in nanoseconds per object.
struct Sample {
  var wall: Double
  /// Processor time of all threads of the process.
  var processor: Double
}

/// The samples of all rounds. A round may run an operation several times; its figure is the median of those.
struct Samples {
  private struct Series {
    var rounds: [[Sample]] = []
    var objects: Int
  }
  private var all: [String: Series] = [:]
  private var round = 0

  private static func key(_ name: String, _ who: String) -> String { "\(name)\n\(who)" }

  /// What is measured from now on belongs to the next round.
  mutating func beginRound() { round += 1 }

  /// Runs an operation, and notes what it took.
  ///
  /// - Parameter verifies: false where the same operation was verified in this round already.
  mutating func measure(_ operation: Operation, verifies: Bool = true) throws {
    try operation.prepare()
    try time(operation, operation.count, operation.run)
    if verifies { try verify(operation) }
  }

  /// Runs operations in parts of so many objects, which take turns.
  mutating func measureInParts(_ operations: [Operation], of partCount: Int) throws {
    for operation in operations { try operation.prepare() }
    let count = operations.map(\.count).max() ?? 0
    for (number, start) in stride(from: 0, to: count, by: partCount).enumerated() {
      for operation in operations.rotated(by: number) where start < operation.count {
        let part = start..<min(start + partCount, operation.count)
        try time(operation, part.count) { try operation.runPart?(part) }
      }
    }
    for operation in operations { try verify(operation) }
  }

  /// Notes a figure that was measured in another way, by the clock, in nanoseconds.
  mutating func note(_ value: Double, _ name: String, _ who: String, objects: Int) {
    note(Sample(wall: value, processor: value), name, who, objects)
  }

  private mutating func time(_ operation: Operation, _ count: Int, _ run: () throws -> Void) throws {
    let (wall, processor) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
    try run()
    let sample = Sample(
      wall: (now(CLOCK_MONOTONIC) - wall) / Double(count),
      processor: (now(CLOCK_PROCESS_CPUTIME_ID) - processor) / Double(count))
    note(sample, operation.name, operation.who, operation.count)
  }

  private mutating func note(_ sample: Sample, _ name: String, _ who: String, _ objects: Int) {
    let key = Self.key(name, who)
    while all[key, default: Series(objects: objects)].rounds.count < max(1, round) {
      all[key, default: Series(objects: objects)].rounds.append([])
    }
    all[key]?.rounds[max(1, round) - 1].append(sample)
  }

  /// Runs an operation and returns how much memory it took at most, in bytes; 0 where the system does not tell.
  ///
  /// Not timed: memory is given back to the system before, which makes the operation slower.
  func measureMemory(_ operation: Operation) throws -> Double {
    try operation.prepare()
    Memory.beginPeak()
    let before = Memory.resident
    try operation.run()
    let peak = max(0, Memory.peak - before)
    try verify(operation)
    return peak
  }

  private func verify(_ operation: Operation) throws {
    do {
      try operation.verify()
    } catch {
      throw WrongResult("\(operation.name) by \(operation.who): \(error)")
    }
  }

  private func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// The median of all rounds, of either clock.
  func median(_ name: String, _ who: String) -> Median? {
    guard let series = all[Self.key(name, who)] else { return nil }
    let rounds = series.rounds.filter { !$0.isEmpty }
    return Median(
      wall: Self.median(rounds.map { Self.median($0.map(\.wall)) }),
      processor: Self.median(rounds.map { Self.median($0.map(\.processor)) }),
      objects: series.objects, rounds: rounds.count)
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

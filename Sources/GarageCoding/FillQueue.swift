/// What is to be filled in when the objects that wait for it are complete, and in which order objects can be let
/// go again.
///
/// Fills are done one after another, those of the object decoded last first. So objects finish as in a depth-first
/// walk along links as well as plain properties: each behind all that it holds, but for circles. In the opposite
/// order they are let go, each owner while what it owns is still held here: then nothing is released by recursion,
/// however long a chain is.
struct FillQueue {
  typealias Fill = (GraphWalk) throws -> Void

  private enum Step {
    case fill(Fill)
    /// The objects from this place in `completed` on, and all that they hold, are complete.
    case finish(from: Int)
  }

  /// What is to be done, the next one last.
  private var steps: [Step] = []
  /// The fills of the records decoded last, in their order, with the number of the record that waits.
  private var new: [(owner: Int, fill: Fill)] = []
  /// The numbers of the objects that were decoded and may wait for links, what they hold first.
  private var completed: [Int] = []
  /// How many of those a step knows.
  private var noted = 0
  private var finished: [Int] = []

  mutating func append(owner: Int, _ fill: @escaping Fill) { new.append((owner, fill)) }

  /// Whether nothing is to be done.
  var isEmpty: Bool { steps.isEmpty && new.isEmpty && completed.count == noted }

  /// How many fills the records decoded last have.
  var newCount: Int { new.count }

  /// Drops the fills of a record that failed, from `count` on.
  mutating func drop(owner: Int, from count: Int) {
    guard new.count > count else { return }
    let kept = new[count...].filter { $0.owner != owner }
    new.replaceSubrange(count..., with: kept)
  }

  /// Notes that an object was decoded.
  mutating func complete(_ number: Int) { completed.append(number) }

  /// The next fill; nil when all is done.
  mutating func next() -> Fill? {
    if completed.count > noted {
      steps.append(.finish(from: noted))
      noted = completed.count
    }
    for (_, fill) in new.reversed() { steps.append(.fill(fill)) }
    new.removeAll(keepingCapacity: true)
    while let step = steps.popLast() {
      switch step {
      case .fill(let fill): return fill
      case .finish(let start):
        finished.append(contentsOf: completed[start...])
        completed.removeSubrange(start...)
        noted = start
      }
    }
    return nil
  }

  /// Forgets everything. Visits the objects' numbers in an order in which they can be let go.
  mutating func removeAll(_ visit: (Int) -> Void) {
    var starts = steps.compactMap { if case .finish(let start) = $0 { start } else { nil } }
    if completed.count > noted { starts.append(noted) }
    (steps, new) = ([], [])
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : completed.count
      for number in completed[start..<end].reversed() { visit(number) }
    }
    for number in finished.reversed() { visit(number) }
    (completed, finished, noted) = ([], [], 0)
  }
}

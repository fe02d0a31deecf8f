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
    case fill(owner: Int, Fill)
    /// The objects from this place in `completed` on, and all that they hold, are complete.
    case finish(from: Int)
  }

  /// What is to be done, the next one last.
  private var steps = RawStack<Step>()
  /// The fills of the records decoded last, in their order, with the number of the record that waits.
  private var new = RawStack<(owner: Int, fill: Fill)>()
  /// The numbers of the objects that were decoded and may wait for links, what they hold first.
  private var completed = RawStack<Int>()
  /// How many of those a step knows.
  private var noted = 0
  private var finished = RawStack<Int>()

  mutating func append(owner: Int, _ fill: @escaping Fill) { new.append((owner, fill)) }

  /// Whether nothing is to be filled in.
  var isEmpty: Bool { steps.isEmpty && new.isEmpty }

  /// How many fills the records decoded last have.
  var newCount: Int { new.count }

  /// Drops the fills of a record that failed, from `count` on.
  mutating func drop(owner: Int, from count: Int) {
    guard new.count > count else { return }
    let kept = new.all[count...].filter { $0.owner != owner }
    new.truncate(to: count)
    for fill in kept { new.append(fill) }
  }

  /// How many objects are complete.
  var finishedCount: Int { finished.count }

  /// Notes that an object was decoded.
  mutating func complete(_ number: Int) { completed.append(number) }

  /// Notes that the objects decoded last wait for nothing: all that they hold is complete. For where there is no fill.
  @inline(__always)
  mutating func finish() {
    if completed.isEmpty { return }
    finish(from: 0)
  }

  private mutating func finish(from start: Int) {
    for number in completed.all[start...] { finished.append(number) }
    completed.truncate(to: start)
    noted = start
  }

  /// The next fill, and the number of the record that waits for it; nil when all is done.
  mutating func next() -> (owner: Int, fill: Fill)? {
    if completed.count > noted {
      steps.append(.finish(from: noted))
      noted = completed.count
    }
    for (owner, fill) in new.all.reversed() { steps.append(.fill(owner: owner, fill)) }
    new.truncate(to: 0)
    while !steps.isEmpty {
      switch steps.removeLast() {
      case .fill(let owner, let fill): return (owner, fill)
      case .finish(let start): finish(from: start)
      }
    }
    return nil
  }

  /// Forgets everything. Visits the objects' numbers in an order in which they can be let go.
  mutating func removeAll(_ visit: (Int) -> Void) {
    removeAll(behind: 0, visit)
    completed.removeAll(keeping: 4096)
    finished.removeAll(keeping: 4096)
  }

  /// The same for everything but the first `count` objects that are complete.
  mutating func removeAll(behind count: Int, _ visit: (Int) -> Void) {
    if !isEmpty || completed.count > noted { removeUnfinished(visit) }
    for number in finished.all[count...].reversed() { visit(number) }
    completed.truncate(to: 0)
    finished.truncate(to: count)
    noted = 0
  }

  @inline(never)
  private mutating func removeUnfinished(_ visit: (Int) -> Void) {
    var starts = steps.all.compactMap { if case .finish(let start) = $0 { start } else { nil } }
    if completed.count > noted { starts.append(noted) }
    steps.removeAll(keeping: 4096)
    new.removeAll(keeping: 4096)
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : completed.count
      for number in completed.all[start..<end].reversed() { visit(number) }
    }
  }
}

/// Whether a linked property was read before it was filled in: by a hash that must not change any more.
final class LinkProgress {
  var wasReadEarly = false
}

extension GraphWalk {
  /// Queues what completes an object once those that it is decoded with are there.
  func whenComplete(_ fill: @escaping FillQueue.Fill) {
    fills.append(owner: state.record.number, fill)
  }

  /// Runs what was queued, and what that queues in turn. Nothing recurses: a linked chain is one fill after another.
  @inline(__always)
  func complete() throws {
    if fills.isEmpty && builds.isEmpty { return fills.finish() }
    try fillAll()
  }

  private func fillAll() throws {
    while let (owner, fill) = fills.next() {
      do { try fill(self) } catch { throw naming(error, inRecordOf: owner) }
    }
    try buildSets()
    if !standing.isEmpty { try settleStandingTargets() }
  }

  /// The error that ends a session's call: what was decoded is forgotten, all of it or what that call decoded.
  func failed(_ error: any Error) -> any Error {
    if keptCount > 0 { forget(behind: keptCount) } else { forget() }
    return state.takeFailure() ?? error
  }

  /// Queues the building of a collection of the record with that number. `make` builds it and returns what puts
  /// it in its place.
  func buildLater(_ owner: Int, _ make: @escaping () -> () -> Void) { builds.append((owner, make)) }

  /// Builds the sets, those of members before those of their owners. One whose members' hash read a property that
  /// is not filled in yet is built again after the others; when all that are left do, they wait for each other.
  private func buildSets() throws {
    while !builds.isEmpty {
      var waiting: [(owner: Int, make: () -> () -> Void)] = []
      for build in builds.reversed() {
        linkProgress.wasReadEarly = false
        let place = build.make()
        if linkProgress.wasReadEarly { waiting.append(build) } else { place() }
      }
      if waiting.count == builds.count {
        let owner = name(of: waiting[0].owner)
        throw GraphCodingError.cycle(path: "\(owner) → a set whose members' hash depends on it → \(owner)")
      }
      builds = waiting.reversed()
    }
  }
}

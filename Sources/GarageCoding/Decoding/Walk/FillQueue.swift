internal import CGarage

/// What is to be filled in when the objects that wait for it are complete, and in which order objects can be let
/// go again.
///
/// Fills are done one after another, those of the object decoded last first. So objects finish as in a depth-first walk along
/// links and plain properties: each behind all that it holds, except in circles. They are let go in the opposite order, each
/// owner while what it owns is still held here. So nothing is released by recursion, however long a chain is.
struct FillQueue {
  typealias Fill = (GraphWalk) throws -> Void

  /// What completes an object.
  enum Work {
    /// A linked property, and what it waits for.
    case link(UnfilledLink, LinkTargets)
    /// A linked set, and its members.
    case set(UnfilledLink, LinkTargets)
    /// A linked property that is filled in by a function.
    case linked(UnfilledLink, Fill)
    case run(Fill)
  }

  private enum Step {
    case work(owner: Int, Work)
    /// The objects from this place in `decoded` on, and all that they hold, are complete.
    case complete(from: Int)
  }

  /// What is to be done, the next one last.
  private var steps = RawStack<Step>()
  /// The work for the records decoded last, in their order, with the number of the record that waits.
  private var new = RawStack<(owner: Int, work: Work)>()
  /// The work for roots that are completed together, and how much of it was begun.
  private var together = RawStack<(owner: Int, work: Work)>()
  private var begunTogether = 0
  private var isTogether = false
  /// The numbers of the objects that links wait for, those of one property in a row.
  private(set) var targets = RawStack<UInt32>()
  /// Where in their records the waiting properties stand.
  var paths = NotedPaths()
  /// The numbers of the objects that were decoded and may wait for links, what they hold first.
  private var decoded = RawStack<Int>()
  /// How many of these a step has for its own.
  private var noted = 0
  private var complete = RawStack<Int>()

  /// Whether there is work that must not wait for other roots, because it is done by a function and cannot be taken back.
  private(set) var isUrgent = false

  mutating func append(owner: Int, _ work: Work) {
    if case .run = work { isUrgent = true }
    new.append((owner, work))
  }

  /// Notes the number of an object that a link is about to wait for.
  @inline(__always)
  mutating func appendTarget(_ number: Int) { targets.append(UInt32(truncatingIfNeeded: number)) }

  /// Forgets the targets noted last.
  mutating func dropTargets(from count: Int) { targets.truncate(to: count) }

  /// Whether nothing is to be filled in.
  var isEmpty: Bool { steps.isEmpty && new.isEmpty && !isTogether }

  /// How much work the records decoded last have.
  var newCount: Int { new.count }

  /// Drops the work of a record that failed, from `count` on.
  mutating func drop(owner: Int, from count: Int) {
    guard new.count > count else { return }
    let kept = new.all[count...].filter { $0.owner != owner }
    new.truncate(to: count)
    for work in kept { new.append(work) }
    if new.isEmpty { isUrgent = false }
  }

  /// How many objects are complete.
  var completeCount: Int { complete.count }

  /// Notes that an object was decoded.
  mutating func noteDecoded(_ number: Int) { decoded.append(number) }

  /// Notes that the objects decoded last wait for nothing: all that they hold is complete. For where there is no fill.
  @inline(__always)
  mutating func completeDecoded() {
    if decoded.isEmpty { return }
    completeDecoded(from: 0)
  }

  private mutating func completeDecoded(from start: Int) {
    for number in decoded.all[start...] { complete.append(number) }
    decoded.truncate(to: start)
    noted = start
  }

  /// Puts the work that there is off, until roots are completed together: in their order, each with all that it brings along.
  /// Their objects are complete when all of that is done.
  mutating func beginTogether() {
    isUrgent = false
    swap(&new, &together)
    begunTogether = 0
    isTogether = true
    noted = decoded.count
  }

  /// What is to be done next, and the number of the record that waits for it; nil when all is done.
  mutating func next() -> (owner: Int, work: Work)? {
    if decoded.count > noted {
      steps.append(.complete(from: noted))
      noted = decoded.count
    }
    while !new.isEmpty {
      let (owner, work) = new.removeLast()
      steps.append(.work(owner: owner, work))
    }
    while !steps.isEmpty {
      switch steps.removeLast() {
      case .work(let owner, let work): return (owner, work)
      case .complete(let start): completeDecoded(from: start)
      }
    }
    if begunTogether < together.count {
      begunTogether += 1
      return together[begunTogether - 1]
    }
    return nil
  }

  /// Forgets a link that failed, so that it is not taken back later: it was never filled in.
  mutating func forget(_ failed: UnfilledLink?) {
    guard let failed, begunTogether > 0 else { return }
    let last = begunTogether - 1
    switch together[last].work {
    case .link(let link, _) where link === failed, .set(let link, _) where link === failed,
      .linked(let link, _) where link === failed:
      together[last].work = .run { _ in }
    default: break
    }
  }

  /// Called when all was done: forgets what nobody waits for any more.
  mutating func end() {
    if isTogether { completeDecoded(from: 0) }
    forgetWork()
  }

  private mutating func forgetWork() {
    isUrgent = false
    targets.removeAll(keeping: 4096)
    paths.removeAll()
    together.removeAll(keeping: 1024)
    begunTogether = 0
    isTogether = false
  }

  /// Forgets everything. Visits the objects' numbers in an order in which they can be let go.
  mutating func removeAll(_ visit: (Int) -> Void) {
    removeAll(behind: 0, visit)
    decoded.removeAll(keeping: 4096)
    complete.removeAll(keeping: 4096)
  }

  /// The same for everything but the first `count` objects that are complete.
  mutating func removeAll(behind count: Int, _ visit: (Int) -> Void) {
    if isTogether { takeBackTogether() }
    if !isEmpty || decoded.count > noted { removeUnfinished(visit) }
    for number in complete.all[count...].reversed() { visit(number) }
    decoded.truncate(to: 0)
    complete.truncate(to: count)
    noted = 0
    forgetWork()
  }

  /// Empties the links of roots that callers may have already, while all that they hold is still held here. Otherwise a caller
  /// that lets such a root go could release a long chain by recursion.
  @inline(never)
  private func takeBackTogether() {
    for index in 0..<begunTogether {
      switch together[index].work {
      case .link(let link, _), .set(let link, _), .linked(let link, _): link.takeBack()
      case .run: break
      }
    }
  }

  @inline(never)
  private mutating func removeUnfinished(_ visit: (Int) -> Void) {
    var starts = steps.all.compactMap { if case .complete(let start) = $0 { start } else { nil } }
    if isTogether { starts.insert(0, at: 0) }
    if decoded.count > noted { starts.append(noted) }
    steps.removeAll(keeping: 4096)
    new.removeAll(keeping: 4096)
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : decoded.count
      for number in decoded.all[start..<end].reversed() { visit(number) }
    }
  }
}

/// What a linked property waits for: a part of ``FillQueue/targets``, and where in its record it stands.
struct LinkTargets {
  var first: Int
  var count: UInt32
  var path: NotedPath

  var range: Range<Int> { first..<first + Int(count) }
}

/// A linked property that is filled in when its objects are there.
class UnfilledLink {
  /// There until the value is filled in: a property read before then was read too early.
  final var progress: Permanent<LinkProgress>?

  /// An empty one for a property of the type that this class serves.
  class func make() -> UnfilledLink { UnfilledLink() }

  /// Reads what stands at the cursor: objects into the property, or references that it has to wait for.
  func read(_ state: DecoderPointer) throws {}

  /// Fills the property with its objects. The walk fetches those that are not there yet.
  func fill(_ targets: LinkTargets, _ walk: GraphWalk) throws {}

  /// Lets the walk fetch the members of a set, which is built later.
  func fetch(_ targets: LinkTargets, _ walk: GraphWalk) throws {}

  /// Builds the set of fetched objects. Whether the property is filled in now: it is not where a member's hash read a property
  /// that is not filled in.
  func build(_ targets: LinkTargets, _ walk: GraphWalk) throws -> Bool { true }

  /// Makes it empty again.
  func takeBack() {}
}

/// What has to be known of a type of linked properties to read one. Looked up once, because to ask a generic type for it takes
/// longer than to read references.
struct LinkForm {
  enum Kind { case optional, array, set, other }
  var type: UnfilledLink.Type
  /// What it holds.
  var kind: Kind
}

/// What could not be filled in, and whether somebody still has it.
private struct FailedFill {
  let owner: Int
  let isOfLink: Bool
  private(set) weak var link: UnfilledLink?

  init(_ owner: Int, _ work: FillQueue.Work) {
    self.owner = owner
    switch work {
    case .link(let link, _), .set(let link, _), .linked(let link, _):
      isOfLink = true
      self.link = link
    case .run: isOfLink = false
    }
  }
}

extension GraphWalk {
  /// Has the processor load the objects that links will soon be filled with. Properties are mostly filled in the order in which
  /// their targets were noted, and each target lies elsewhere.
  @inline(__always)
  func prefetchTargets(behind place: Int) {
    let (far, near) = (place &+ 16, place &+ 8)
    let count = fills.targets.count
    if far < count { garage_prefetch(records.base + Int(fills.targets[far])) }
    if near < count { garage_prefetch(records[Int(fills.targets[near])].instanceAddress) }
  }

  /// Queues a function that completes an object, to be run once the objects that it is decoded with are there.
  func whenComplete(_ fill: @escaping FillQueue.Fill) {
    fills.append(owner: state.record.number, .run(fill))
  }

  /// Queues a linked property, to be filled in once its owner and the objects decoded with that are there.
  func whenComplete(fill link: UnfilledLink, _ targets: LinkTargets) {
    fills.append(owner: state.record.number, .link(link, targets))
  }

  /// The same for a set, which is built when its members are complete.
  func whenComplete(build link: UnfilledLink, _ targets: LinkTargets) {
    fills.append(owner: state.record.number, .set(link, targets))
  }

  /// The same for a property that is filled in by a function.
  func whenComplete(fill link: UnfilledLink, _ fill: @escaping FillQueue.Fill) {
    fills.append(owner: state.record.number, .linked(link, fill))
  }

  /// Runs what was queued, and what that queues in turn. Nothing recurses: a linked chain is one fill after another.
  @inline(__always)
  func fillAll() throws {
    if fills.isEmpty && builds.isEmpty { return fills.completeDecoded() }
    try runFills()
  }

  /// The same for roots whose completion was put off.
  func completeTogether() throws {
    if fills.isEmpty && builds.isEmpty { return fills.completeDecoded() }
    fills.beginTogether()
    try runFills(readingAhead: 0..<fills.targets.count)
  }

  /// - Parameter places: which of all targets are read ahead.
  private func runFills(readingAhead places: Range<Int> = 0..<0) throws {
    var start = places.lowerBound
    var isDone = false
    while !isDone {
      var failed: FailedFill?
      do {
        try runFills(readingAhead: places, &start, &failed)
        isDone = true
      } catch {
        guard let failed else { throw error }
        fills.forget(failed.link)
        // The property itself is gone: its owner was an attempt at decoding that failed. Nobody waits for it, and nothing is
        // wrong with its objects.
        if failed.isOfLink, failed.link == nil, state.failure == nil { continue }
        throw naming(error, inRecordOf: failed.owner)
      }
    }
    try buildSets()
    if !inlineTargets.isEmpty { try settleInlineTargets() }
    fills.end()
  }

  /// Runs fills until one fails, and notes that one. A function of its own, so that nothing holds what has failed when this has
  /// returned.
  private func runFills(readingAhead places: Range<Int>, _ start: inout Int, _ failed: inout FailedFill?)
    throws
  {
    while let (owner, work) = fills.next() {
      do {
        switch work {
        case .link(let link, let targets):
          if targets.first >= start, targets.first < places.upperBound {
            start = readAhead(ofTargetsFrom: targets.first)
          }
          try link.fill(targets, self)
        case .set(let link, let targets):
          if targets.first >= start, targets.first < places.upperBound {
            start = readAhead(ofTargetsFrom: targets.first)
          }
          try link.fetch(targets, self)
          buildLater(owner, link, targets)
        case .linked(_, let fill), .run(let fill): try fill(self)
        }
      } catch {
        failed = FailedFill(owner, work)
        throw error
      }
    }
  }

  /// The error that ends a session's call: what was decoded is forgotten, all of it or what that call decoded.
  func failed(_ error: any Error) -> any Error {
    if keptCount > 0 { forget(behind: keptCount) } else { forget() }
    return state.takeFailure() ?? error
  }
}

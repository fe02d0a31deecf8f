internal import Dispatch
internal import Foundation
internal import GarageDriver
internal import Synchronization

/// Threads of the library's own, which wait for engines where no task may.
///
/// A thread is started where none is idle, and ends when nobody needed it for a while.
final class WorkerThreads: Sendable {
  static let shared = WorkerThreads()

  /// Unchecked: whoever takes a worker from the idle ones has it alone.
  private final class Worker: @unchecked Sendable {
    let wake = DispatchSemaphore(value: 0)
    var job: (@Sendable () -> Void)?
  }

  private struct State: Sendable {
    var idle: [Worker] = []
    var process = ProcessMark()
    /// Reads that run, and those that wait for one of them to end.
    var readCount = 0
    var waitingReads: WaitingLine<@Sendable () -> Void> = WaitingLine()
  }

  private let state = Mutex(State())

  private static let maximumReadCount = 32
  private static let idleSeconds = 2

  /// Runs `job` on a thread that it has for itself until it returns.
  func run(_ job: @escaping @Sendable () -> Void) {
    let worker = state.withLock { state -> Worker? in
      // Threads do not survive a fork.
      if !state.process.isOfThisProcess { state = State() }
      guard let worker = state.idle.popLast() else { return nil }
      worker.job = job
      return worker
    }
    if let worker { worker.wake.signal() } else { start(job) }
  }

  /// The same for a read, of which no more than a number run at a time.
  func runRead(_ job: @escaping @Sendable () -> Void) {
    let mayRun = state.withLock { state in
      if state.readCount == WorkerThreads.maximumReadCount {
        state.waitingReads.append(job)
        return false
      }
      state.readCount += 1
      return true
    }
    if mayRun { run { self.runReads(job) } }
  }

  private func runReads(_ first: @Sendable () -> Void) {
    first()
    while let next = nextRead() { next() }
  }

  private func nextRead() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let next = state.waitingReads.popFirst() else {
        state.readCount -= 1
        return nil
      }
      return next
    }
  }

  private func start(_ job: @escaping @Sendable () -> Void) {
    let worker = Worker()
    worker.job = job
    let thread = Thread { self.work(worker) }
    thread.name = "Garage"
    // Users' code runs here, which may nest deeply.
    thread.stackSize = 8 << 20
    thread.start()
  }

  private func work(_ worker: Worker) {
    while true {
      worker.job?()
      worker.job = nil
      state.withLock { $0.idle.append(worker) }
      let isNeeded = worker.wake.wait(timeout: .now() + .seconds(WorkerThreads.idleSeconds)) == .success
      if isNeeded { continue }
      let isIdle = state.withLock { state in
        guard let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
        state.idle.remove(at: index)
        return true
      }
      if isIdle { return }
      // Somebody took it at the last moment.
      worker.wake.wait()
    }
  }
}

/// Those who wait, in order. What it costs to take one, the first or another, does not grow with how many wait.
struct WaitingLine<Element> {
  /// In the order of their places. Those who are gone are nil, and the first that is looked at is not.
  private var slots: [(place: Int, element: Element?)] = []
  /// The first slot that is looked at.
  private var head = 0
  private var nextPlace = 0
  /// How many wait.
  private(set) var count = 0

  /// Whoever has waited longest.
  var first: Element? { head < slots.count ? slots[head].element : nil }

  /// Adds one behind all others; tells its place, by which it can be taken out again.
  @discardableResult
  mutating func append(_ element: Element) -> Int {
    let place = nextPlace
    nextPlace += 1
    slots.append((place: place, element: element))
    count += 1
    return place
  }

  /// Adds some before all others; tells their places.
  mutating func prepend(_ elements: some Collection<Element>) -> Range<Int> {
    let end = head < slots.count ? slots[head].place : nextPlace
    let places = end - elements.count..<end
    let new: [(place: Int, element: Element?)] = zip(places, elements).map {
      (place: $0, element: Optional($1))
    }
    // Mostly they were taken just now, and what they stood in is still there.
    let start = max(0, head - new.count)
    slots.replaceSubrange(start..<head, with: new)
    head = start
    count += new.count
    return places
  }

  mutating func popFirst() -> Element? {
    if count == 0 { return nil }
    return takeElement(at: head)
  }

  /// Takes out the one at this place; nil where it is gone.
  mutating func remove(at place: Int) -> Element? {
    var (low, high) = (head, slots.count)
    while low < high {
      let middle = low + (high - low) / 2
      if slots[middle].place < place { low = middle + 1 } else { high = middle }
    }
    if low == slots.count || slots[low].place != place { return nil }
    return takeElement(at: low)
  }

  private mutating func takeElement(at index: Int) -> Element? {
    guard let element = slots[index].element else { return nil }
    slots[index].element = nil
    count -= 1
    while head < slots.count, slots[head].element == nil { head += 1 }
    if count == 0 {
      // What a rush took is not kept.
      slots.removeAll(keepingCapacity: slots.capacity <= 1024)
      head = 0
    } else if slots.count > 2 * count + 32 {
      // Each slot that is moved was paid for by one that is gone.
      slots.removeAll { $0.element == nil }
      head = 0
    }
    return element
  }
}

extension WaitingLine: Sendable where Element: Sendable {}

internal import GarageDriver
internal import Synchronization

/// Checks of opening, closing and forking.
enum LifeChecks {
  static func add(to topic: inout CheckTopic) {
    addCloseChecks(to: &topic)
    addWaitingCloseChecks(to: &topic)
    addReopenChecks(to: &topic)
    OpeningChecks.add(to: &topic)
    addForkChecks(to: &topic)
  }
}

private func addCloseChecks(to topic: inout CheckTopic) {
  topic.add("closed-stores-throw", "After close, transactions throw closed.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.close()
    var hasRun = false
    try fixture.expectError(.closed, from: "read after close") { try storage.read { _ in hasRun = true } }
    try fixture.expectError(.closed, from: "write after close") { try storage.commit { _ in hasRun = true } }
    try fixture.expect(!hasRun, "no body to run after close", seen: "one ran")
  }

  topic.add("close-may-be-called-again", "close may be called again.") { fixture in
    let storage = try fixture.newStore()
    for _ in 0..<3 { try storage.close() }
    try inParallel(4) { _ in try storage.close() }
    let unused = try fixture.newStore()
    try inParallel(4) { _ in try unused.close() }
  }

  let rule = "close throws closeInsideTransaction on a thread that is inside one of this driver."
  topic.add("no-close-inside-read", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.read { transaction in
      try fixture.expectError(.closeInsideTransaction, from: "close inside read") { try storage.close() }
      _ = try storage.read { _ in
        try fixture.expectError(.closeInsideTransaction, from: "close two reads deep") { try storage.close() }
      }
      try fixture.expectEqual(try transaction.text("a"), "1", "a get after the refused close")
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add("no-close-inside-write", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.commit { transaction in
      try transaction.set("b", "2")
      try fixture.expectError(.closeInsideTransaction, from: "close inside write") { try storage.close() }
      _ = try storage.read { _ in
        try fixture.expectError(.closeInsideTransaction, from: "close in a read in a write") {
          try storage.close()
        }
      }
      try transaction.set("c", "3")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
  }

  topic.add("values-close-separately", "close ends the use of the store by this value, and by no other.") {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.put(["a": "1"])
    try storage.read { transaction in
      try second.close()
      try fixture.expectEqual(try transaction.text("a"), "1", "a get after another value was closed")
    }
    try storage.put(["b": "2"])
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
    try fixture.expectError(.closed, from: "the closed value") { try second.put(["c": "3"]) }
    let third = try fixture.open(place)
    try fixture.expectContents(of: third, ["a": "1", "b": "2"], "a value opened later")
  }
}

private func addWaitingCloseChecks(to topic: inout CheckTopic) {
  let rule = "close waits for the transactions of other threads."
  for isWrite in [false, true] {
    topic.add("close-waits-for-a-\(isWrite ? "write" : "read")", rule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      let begun = Signal()
      let closing = Signal()
      let ending = Atomic<Bool>(false)
      try inParallel(2) { thread in
        if thread == 0 {
          // If the engine refuses to begin, nobody waits for it.
          var hasBegun = false
          defer {
            if !hasBegun { ending.store(true, ordering: .sequentiallyConsistent) }
            begun.raise()
          }
          /// Stays in its transaction for a while after the other thread has called `close`.
          func linger(_ transaction: any ReadTransaction) throws {
            hasBegun = true
            begun.raise()
            closing.wait()
            pause(milliseconds: 60)
            // Done even if the engine refuses the get.
            defer { ending.store(true, ordering: .sequentiallyConsistent) }
            try fixture.expectEqual(try transaction.text("a"), "1", "a get while another thread closes")
          }
          if isWrite { try storage.commit(linger) } else { try storage.read(linger) }
        } else {
          begun.wait()
          closing.raise()
          try storage.close()
          try fixture.expect(
            ending.load(ordering: .sequentiallyConsistent), "close to return after the transaction",
            seen: "it returned while the transaction was open")
        }
      }
      try fixture.expectError(.closed, from: "read after close") { _ = try storage.text("a") }
    }
  }
}

private func addReopenChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-durable-store-is-found-again", "Where isDurable, whoever opens the store sees what was committed.",
    where: .isDurable
  ) {
    fixture in
    let place = fixture.newPlace()
    for round in 0..<10 {
      let storage = try fixture.openUntracked(place)
      let expected = (0..<round).flatMap { ["key-\($0)", "large-\($0)"] }.sorted()
      try fixture.expectEqual(
        try storage.read { try $0.keys() }, expected, "the keys when opened for the \(round)th time")
      try storage.commit { transaction in
        try transaction.set("key-\(round)", "\(round)")
        try transaction.put(pattern(10_000 + round), for: StorageKey(bytes("large-\(round)")))
      }
      try? storage.commit { transaction in
        try transaction.set("lost", "\(round)")
        throw TestError()
      }
      // Every second time the value is released without `close`.
      if round % 2 == 0 { try storage.close() }
    }
    let storage = try fixture.open(place)
    for round in 0..<10 {
      let value = try storage.read { try $0.value(for: StorageKey(bytes("large-\(round)"))) }
      try fixture.expect(value == pattern(10_000 + round), "large value \(round)", seen: "other bytes")
    }
  }

  topic.add(
    "a-passing-store-is-whole-or-gone", "Where not isDurable, a store opened again is empty or complete.",
    where: .isNotDurable
  ) {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    try storage.put(["a": "1", "b": "2"])
    try storage.close()
    let seen = try fixture.open(place).read { try $0.entries() }
    try fixture.expect(
      seen.isEmpty || seen == [Entry("a", "1"), Entry("b", "2")], "nothing or everything", seen: "\(seen)")
  }

  topic.add("a-second-value-keeps-the-store", "All values on one store see the same.") { fixture in
    let place = fixture.newPlace()
    var storage = try fixture.open(place)
    for round in 0..<20 {
      try storage.put(["key-\(digits(round))": "\(round)"])
      let next = try fixture.open(place)
      try storage.close()
      storage = next
    }
    try fixture.expectEqual(
      try storage.read { try $0.keys().count }, 20, "the number of keys after 20 hand-overs")
  }

  topic.add(
    "opening-does-not-wait-for-a-writer", "A store opens while another value is inside a transaction."
  ) {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    try storage.put(["a": "1"])
    try storage.commit { transaction in
      try transaction.set("a", "2")
      try fixture.expectContents(of: try fixture.open(place), ["a": "1"], "a value opened during a write")
    }
  }
}

private func addForkChecks(to topic: inout CheckTopic) {
  topic.add(
    "forked-children-are-refused", "A driver opened before fork() throws usedAfterFork in the child.",
    where: .canFork
  ) { fixture in
    #if os(Linux) || os(macOS) || os(FreeBSD)
      let refused = "7"
      if fixture.options.childExecutable == nil {
        try fixture.expectEqual(
          try forkHere(fixture), refused, "the calls refused (1 read, 2 write, 4 close)")
      } else {
        // Done in a child, where no other test has locks and files that a fork would pass on.
        let child = try fixture.startChild(at: fixture.newPlace())
        for round in 0..<3 {
          try fixture.expectEqual(
            child.ask("fork"), refused, "the calls refused (1 read, 2 write, 4 close)")
          try fixture.expectEqual(
            child.ask("put a \(round)"), "ok", "a put in the parent, after the fork")
          try fixture.expectEqual(child.ask("get a"), "\(round)", "a get in the parent, after the fork")
        }
      }
    #endif
  }
}

#if os(Linux) || os(macOS) || os(FreeBSD)
  /// Forks the process that runs the suite.
  private func forkHere(_ fixture: Fixture) throws -> String {
    let storage = try fixture.newStore(holding: ["a": "1"])
    // The child's code runs here first, because the child must find every lock of the runtime free.
    let closed = try fixture.newStore()
    try closed.close()
    _ = answersAfterFork(closed, closed as? any DeferredReading)
    let deferred = storage as? any DeferredReading
    let seen = try inForkedChild { answersAfterFork(storage, deferred) }
    try storage.put(["b": "2"])
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the store in the parent")
    return "\(seen)"
  }
#endif

/// Which calls throw `usedAfterFork`, one bit each.
///
/// - Parameter deferred: the same storage, if it has deferred reads. The caller finds that out before the fork.
func answersAfterFork(_ storage: any StorageDriver, _ deferred: (any DeferredReading)?) -> UInt8 {
  func isRefused(_ call: () throws -> Void) -> Bool {
    do {
      try call()
      return false
    } catch let error as StorageError {
      return error.kind == .usedAfterFork
    } catch {
      return false
    }
  }
  let isDeferredRefused =
    deferred.map { deferred in isRefused { try deferred.deferredRead { _ in } } } ?? true
  let read = isRefused { try storage.read { _ in } } && isDeferredRefused
  let write = isRefused { try storage.write { _ in .commit(()) } }
  let close = isRefused { try storage.close() }
  return (read ? 1 : 0) | (write ? 2 : 0) | (close ? 4 : 0)
}

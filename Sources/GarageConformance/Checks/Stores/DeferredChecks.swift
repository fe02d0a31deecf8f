internal import GarageDriver

/// Checks of `DeferredReading`, for drivers that conform to it. They check nothing on other drivers.
enum DeferredChecks {
  /// The checks that hold for every read, also for one whose state is that of its first operation.
  private static let shared: Set = [
    "transaction/read-runs-its-body-once", "transaction/read-passes-errors-on",
    "snapshot/lasts-to-the-end", "snapshot/holds-while-a-scan-runs",
    "snapshot/a-read-in-a-write-sees-the-last-commit", "snapshot/is-of-one-commit",
    "snapshot/readers-pass-the-writer", "nesting/write-in-a-get", "nesting/reads-nest-64-deep",
    "ended/get-after-read", "ended/multi-get-of-no-keys-after-read",
    "ended/scan-of-crossed-bounds-after-read",
    "life/closed-stores-throw", "life/no-close-inside-read", "life/close-waits-for-a-read",
  ]

  static func add(to topic: inout CheckTopic) {
    addStateCheck(to: &topic)
    let topics = [
      CheckTopic("transaction", TransactionChecks.add), CheckTopic("snapshot", SnapshotChecks.add),
      CheckTopic("nesting", NestingChecks.add), CheckTopic("ended", EndedTransactionChecks.add),
      CheckTopic("life", LifeChecks.add),
    ]
    for check in topics.flatMap(\.checks) where shared.contains(check.name) { topic.addDeferred(check) }
  }

  private static func addStateCheck(to topic: inout CheckTopic) {
    topic.add(
      "one-state-no-later-than-its-first-operation",
      "A deferred read sees one committed state, of its first operation at the latest, until its body ends."
    ) { fixture in
      let storage = try fixture.newStore(holding: ["a": "0", "b": "0"])
      guard let deferred = storage as? any DeferredReading else { return }
      try deferred.deferredRead { transaction in
        try storage.put(["a": "1", "b": "1"])
        let first = try transaction.text("a") ?? "none"
        try fixture.expect(
          ["0", "1"].contains(first), "the state of the entry or of the first get", seen: first)
        try storage.put(["a": "2", "b": "2", "c": "2"])
        try fixture.expectEqual(
          try transaction.entries(), [Entry("a", first), Entry("b", first)], "a scan behind the next commit")
        try fixture.expectEqual(
          try transaction.texts(["b", "c"]), ["0: \(first)", "1: none"], "a multi-get")
      }
      try fixture.expectEqual(
        try deferred.deferredRead { try $0.text("a") }, "2", "a get of the next deferred read")
    }

    topic.add(
      "a-body-may-ask-nothing", "A deferred read whose body asks nothing, or throws, leaves nothing behind."
    ) { fixture in
      let storage = try fixture.newStore(holding: ["a": "0"])
      guard let deferred = storage as? any DeferredReading else { return }
      for round in 1...20 {
        try fixture.expectEqual(try deferred.deferredRead { _ in round }, round, "what the body returned")
        let error = TestError()
        try fixture.expectUnchanged(error, from: "deferredRead") {
          try deferred.deferredRead { _ in throw error }
        }
        try storage.put(["a": "\(round)"])
        try fixture.expectEqual(try storage.text("a"), "\(round)", "a get of a read behind them")
        try fixture.expectEqual(
          try deferred.deferredRead { try $0.text("a") }, "\(round)", "a get of a deferred read behind them")
      }
    }
  }
}

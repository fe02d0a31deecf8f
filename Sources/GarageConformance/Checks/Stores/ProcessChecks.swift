internal import GarageDriver

/// Checks of stores that several processes share.
enum ProcessChecks {
  static func add(to topic: inout CheckTopic) {
    #if os(Linux) || os(macOS) || os(FreeBSD)
      addCommitVisibilityChecks(to: &topic)
      addSharedStateChecks(to: &topic)
      addConcurrentProcessChecks(to: &topic)
      addKilledProcessChecks(to: &topic)
      addUnsharedChecks(to: &topic)
    #endif
  }
}

#if os(Linux) || os(macOS) || os(FreeBSD)
  extension Fixture {
    /// Starts another process on the store at `place`, which opens it.
    func startChild(at place: ConformancePlace, file: StaticString = #fileID, line: UInt = #line) throws
      -> ChildProcess
    {
      let child = try launchChild(at: place)
      let answer = child.answer()
      if answer != "ready" {
        throw failure("a second process to open the store", answer, file: file, line: line)
      }
      return child
    }

    /// Starts another process and does not wait until it has opened the store.
    func launchChild(at place: ConformancePlace) throws -> ChildProcess {
      if options.childExecutable == nil {
        throw failure(
          """
          ConformanceOptions.childExecutable to name an executable whose main calls Conformance.runChild, because \
          the driver says that it is durable or shared across processes
          """, "none")
      }
      let child = try ChildProcess(options, at: place)
      atEnd { child.kill() }
      return child
    }

    /// A new store, and the place where another process finds it.
    fileprivate func newSharedStore(file: StaticString = #fileID, line: UInt = #line) throws
      -> (any StorageDriver, ConformancePlace)
    {
      let place = newPlace()
      return (try open(place, file: file, line: line), place)
    }
  }

  private let rule =
    "Every later transaction, also in other processes that the store is shared with, sees a commit."

  private func addCommitVisibilityChecks(to topic: inout CheckTopic) {
    topic.add("its-commits-are-seen-here", rule, where: .isShared) { fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "1"])
      try fixture.expectEqual(try storage.text("a"), "1", "the value before")
      let child = try fixture.startChild(at: place)
      for round in 0..<20 {
        try fixture.expectEqual(child.ask("put a \(round)"), "ok", "the child's put")
        try fixture.expectEqual(try storage.text("a"), "\(round)", "a get in this process")
        try fixture.expectEqual(child.ask("put key-\(round) x"), "ok", "the child's put")
        let count = try storage.commit { try $0.keys().count }
        try fixture.expectEqual(count, round + 2, "the number of keys that a write in this process sees")
      }
    }

    topic.add("our-commits-are-seen-there", rule, where: .isShared) { fixture in
      let (storage, place) = try fixture.newSharedStore()
      let child = try fixture.startChild(at: place)
      for round in 0..<20 {
        try storage.put(["a": "\(round)", "key-\(round)": "x"])
        try fixture.expectEqual(child.ask("get a"), "\(round)", "a get in the child")
        try fixture.expectEqual(child.ask("count"), "\(round + 2)", "the number of keys in the child")
      }
    }

    // A driver whose readers block writers would make them wait for each other here.
    topic.add(
      "snapshots-hold-across-processes", "A reader sees one committed state, whoever commits.",
      where: .isShared && .readsDuringWrite
    ) { fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "old"])
      let child = try fixture.startChild(at: place)
      try storage.read { transaction in
        try fixture.expectEqual(child.ask("put a new"), "ok", "the child's put")
        try fixture.expectEqual(try transaction.text("a"), "old", "the first get of an earlier reader here")
      }
      try fixture.expectEqual(child.ask("read-and-wait a"), "inside", "the child's read")
      try storage.put(["a": "newer"])
      try fixture.expectEqual(child.ask("go on"), "new", "the first get of an earlier reader there")
      try fixture.expectEqual(child.ask("get a"), "newer", "the child's next get")
    }
  }

  private func addSharedStateChecks(to topic: inout CheckTopic) {
    topic.add(
      "nothing-is-seen-before-commit", "A reader sees committed states, whoever writes.", where: .isShared
    ) {
      fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "1"])
      let child = try fixture.startChild(at: place)
      for ending in ["commit", "roll back"] {
        let before = try storage.read { try $0.keys().count }
        try fixture.expectEqual(child.ask("write-and-wait"), "inside", "the child's write")
        if storage.info.readsDuringWrite {
          let count = try storage.read { try $0.keys().count }
          try fixture.expectEqual(count, before, "the number of keys while the child writes")
        }
        _ = child.ask(ending)
        try fixture.expectEqual(
          try storage.read { try $0.keys().count }, 101, "the number of keys after \(ending)")
      }
    }

    topic.add("a-store-that-grew-elsewhere", rule, where: .isShared) { fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "1"])
      let child = try fixture.startChild(at: place)
      try fixture.expectEqual(child.ask("grow 40"), "ok", "forty values of 1 MiB from the child")
      let expected = pattern(1 << 20)
      for number in [0, 20, 39] {
        let value = try storage.read { try $0.value(for: StorageKey(bytes("grown-\(digits(number))"))) }
        try fixture.expect(
          value == expected, "value \(number) of the child", seen: byteCount(value))
      }
      try storage.put(["b": "2"])
      try fixture.expectEqual(child.ask("get b"), "2", "a get in the child")
    }
  }

  private func addConcurrentProcessChecks(to topic: inout CheckTopic) {
    for processCount in 2...4 {
      topic.add(
        "\(processCount)-processes-count",
        "What commits has the effect of running the writes one after another, whichever process makes them.",
        where: .isShared
      ) { fixture in
        let (storage, place) = try fixture.newSharedStore()
        let children = try (1..<processCount).map { _ in try fixture.startChild(at: place) }
        for child in children { try? child.send("increment counter 50") }
        for _ in 0..<50 { try increment("counter", in: storage) }
        for child in children { try fixture.expectEqual(child.answer(), "ok", "the child's increments") }
        try fixture.expectEqual(try storage.text("counter"), "\(50 * processCount)", "the counter")
      }
    }

    // Two are on call, each in a process of its own. Each may leave as long as the other one stays. Neither changes what the
    // other one changes, so a driver that compares only changes lets both go.
    topic.add(
      "no-write-skew-between-processes",
      "What commits has the effect of running the writes one after another, whichever process makes them.",
      where: .isShared
    ) { fixture in
      let (storage, place) = try fixture.newSharedStore()
      let child = try fixture.startChild(at: place)
      for round in 0..<20 {
        fixture.atStep(round)
        try again { try storage.put(["a": "on call", "b": "on call"]) }
        try? child.send("leave b a")
        try leave("a", unlessGone: "b", in: storage)
        try fixture.expectEqual(child.answer(), "ok", "the child's write")
        let left = try again { try storage.read { try $0.keys().count } }
        try fixture.expectEqual(left, 1, "the number of those on call, of whom one has to stay")
      }
    }
  }

  private func addKilledProcessChecks(to topic: inout CheckTopic) {
    topic.add(
      "a-killed-writer-blocks-nobody", "A transaction ends with its process, and leaves no trace.",
      where: .isShared
    ) {
      fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "1"])
      for round in 0..<3 {
        let child = try fixture.startChild(at: place)
        try fixture.expectEqual(child.ask("write-and-wait"), "inside", "the child's write")
        child.kill()
        try storage.put(["a": "\(round)"])
        try fixture.expectContents(of: storage, ["a": "\(round)"])
      }
    }

    topic.add("a-killed-reader-blocks-nobody", "A transaction ends with its process.", where: .isShared) {
      fixture in
      let (storage, place) = try fixture.newSharedStore()
      try storage.put(["a": "1"])
      for round in 0..<3 {
        let child = try fixture.startChild(at: place)
        try fixture.expectEqual(child.ask("read-and-wait a"), "inside", "the child's read")
        child.kill()
        for number in 0..<20 { try storage.put(["a": "\(round) \(number)"]) }
      }
      try fixture.expectContents(of: storage, ["a": "2 19"])
    }
  }

  private func addUnsharedChecks(to topic: inout CheckTopic) {
    topic.add(
      "unshared-stores-are-guarded",
      """
      Where not isSharedAcrossProcesses, a second process is refused or has a store of its own.
      """,
      where: .isGuarded
    ) { fixture in
      let place = fixture.newPlace()
      let storage = try fixture.open(place)
      try storage.put(["a": "1"])
      let child = try fixture.launchChild(at: place)
      if child.receive() == "ready" { _ = child.ask("put a 2") }
      try fixture.expectContents(of: storage, ["a": "1"], "the store of the first process")
      try storage.put(["b": "2"])
      try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the store of the first process")
    }
  }
#endif

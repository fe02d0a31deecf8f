internal import GarageDriver

/// Checks of storages that signal commits of others. They check nothing on other storages.
enum SignalChecks {
  static func add(to topic: inout CheckTopic) {
    topic.add(
      "own-commits-leave-the-mark",
      "A commit made within changeOrigin leaves the mark of ChangeSignaling as it is, and so does a roll-back."
    ) { fixture in
      let storage = try fixture.open(fixture.newPlace())
      guard let signal = storage as? any ChangeSignaling, signal.signalsChanges else { return }
      try storage.put(["a": "0"])
      let mark = try fixture.mark(of: signal)
      for round in 1...3 {
        fixture.atStep(round)
        try storage.put(["a": "\(round)"])
        try fixture.expectEqual("\(try fixture.mark(of: signal))", "\(mark)", "the mark after an own commit")
        try storage.write { transaction in
          try transaction.put([1], for: StorageKey([0x62]))
          return .rollBack(())
        }
        _ = try storage.text("a")
        try fixture.expectEqual("\(try fixture.mark(of: signal))", "\(mark)", "the mark after a roll-back")
      }
    }
    topic.add(
      "asking-waits-for-nobody", "Where asking for the mark of ChangeSignaling would have to wait, it is nil."
    ) { fixture in
      let storage = try fixture.open(fixture.newPlace())
      guard let signal = storage as? any ChangeSignaling, signal.signalsChanges else { return }
      // A call that waited would never return.
      try storage.write { transaction in
        _ = try signal.foreignChangeMark()
        let worker = Worker { _ = try signal.foreignChangeMark() }
        try fixture.expect(worker.wait(seconds: 5), "the mark, or nil", seen: "nothing while a write is open")
        return .rollBack(())
      }
    }
    #if os(Linux) || os(macOS) || os(FreeBSD)
      topic.add(
        "others-commits-change-the-mark",
        "After a commit of another process the next mark of ChangeSignaling differs from all before.",
        where: .isShared
      ) { fixture in
        let place = fixture.newPlace()
        let storage = try fixture.open(place)
        guard let signal = storage as? any ChangeSignaling, signal.signalsChanges else { return }
        try storage.put(["a": "0"])
        let child = try fixture.startChild(at: place)
        var marks = [try fixture.mark(of: signal)]
        for round in 1...5 {
          fixture.atStep(round)
          try fixture.expectEqual(child.ask("put a \(round)"), "ok", "the child's put")
          let mark = try fixture.mark(of: signal)
          try fixture.expect(!marks.contains(mark), "a mark that was none of \(marks)", seen: "\(mark)")
          marks.append(mark)
          try storage.put(["b": "\(round)"])
        }
      }
    #endif
  }
}

extension Fixture {
  /// The mark, as soon as it can be told.
  fileprivate func mark(
    of signal: any ChangeSignaling, file: StaticString = #fileID, line: UInt = #line
  ) throws -> UInt64 {
    for _ in 0..<100 {
      if let mark = try signal.foreignChangeMark() { return mark }
    }
    throw failure("a mark, since nobody writes", "nil, a hundred times", file: file, line: line)
  }
}

#if os(Linux) || os(macOS) || os(FreeBSD)
  internal import GarageDriver

  /// Kills a process that commits, and examines the store after each kill.
  enum CrashRounds {
    /// Commits numbered transactions until the process is killed. Reports before, in and after each one where it is.
    static func commitForever(_ profile: CrashProfile, _ storage: any StorageDriver, _ lines: LineChannel)
      throws
      -> Never
    {
      var number = Int(try pastConflicts { try storage.text("number") } ?? "0") ?? 0
      while true {
        number += 1
        try pastConflicts {
          try storage.commit { transaction in
            try lines.send("begun \(number)")
            try profile.change(transaction, number)
            try lines.send("committing \(number)")
          }
        }
        try lines.send("acknowledged \(number)")
      }
    }

    /// Kills a committing child `killCount` times, and examines the store after each kill. If less than half of the kills hit a
    /// transaction, as on a busy machine, it goes on, up to four times as often.
    static func run(_ profile: Int, _ fixture: Fixture) throws -> CrashReport {
      let place = fixture.newPlace()
      var random = fixture.random(UInt64(profile) << 40)
      var report = CrashReport(check: CrashProfile.all[profile].name)
      var committed = 0
      let killCount = fixture.options.killCount
      for round in 0..<killCount * 4 {
        if round >= killCount && (report.killsInBody + report.killsInCommit) * 2 >= killCount { break }
        fixture.atStep(round)
        let seen = try killOnce(profile, at: place, after: committed, &random, fixture)
        report.killCount += 1
        report.acknowledgedCount += seen.acknowledged - committed
        if seen.begun > seen.acknowledged {
          if seen.committing == seen.begun { report.killsInCommit += 1 } else { report.killsInBody += 1 }
        }
        committed = try verify(CrashProfile.all[profile], at: place, seen, fixture)
        if committed > seen.acknowledged { report.unacknowledgedCommits += 1 }
      }
      return report
    }

    /// What the child had reported when it died.
    private struct LastWords {
      var begun: Int
      var committing: Int
      var acknowledged: Int

      mutating func hear(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count == 2, let number = Int(words[1]) else { return }
        switch words[0] {
        case "begun": begun = number
        case "committing": committing = number
        case "acknowledged": acknowledged = number
        default: break
        }
      }
    }

    private static func killOnce(
      _ profile: Int, at place: ConformancePlace, after last: Int, _ random: inout SeededRandom,
      _ fixture: Fixture
    ) throws -> LastWords {
      let child = try fixture.startChild(at: place)
      var seen = LastWords(begun: last, committing: last, acknowledged: last)
      try? child.send("commit-forever \(profile)")
      // A random number of messages first, then a random time, so that it ends anywhere.
      for _ in 0..<(1 + random.below(20)) {
        let line = child.answer()
        // It ended although nobody has killed it yet.
        if line.hasPrefix("error") || line.hasPrefix("nothing") {
          throw fixture.failure("the child to commit", line)
        }
        seen.hear(line)
      }
      if random.below(3) != 0 { pauseMicroseconds(random.below(4000)) }
      child.kill()
      while let line = child.receive() { seen.hear(line) }
      return seen
    }

    /// Opens the store as after a crash. Returns the number of the last transaction in it.
    private static func verify(
      _ profile: CrashProfile, at place: ConformancePlace, _ seen: LastWords, _ fixture: Fixture
    ) throws -> Int {
      let storage = try fixture.openUntracked(place)
      let number = Int(try storage.text("number") ?? "0") ?? -1
      try fixture.expect(
        number >= seen.acknowledged,
        "transaction \(seen.acknowledged), which was acknowledged, or a later one",
        seen: "\(number)")
      try fixture.expect(
        number <= seen.begun, "none later than \(seen.begun), the last begun", seen: "\(number)")
      let entries = try storage.read { try $0.entries() }
      let isWhole = entries == profile.entries(after: number)
      try fixture.expect(
        isWhole, "exactly what transaction \(number) left", seen: "\(entries.count) entries that differ")
      try storage.close()
      return number
    }
  }
#endif

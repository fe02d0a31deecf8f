internal import GarageDriver

/// Checks of stores whose process was killed.
enum CrashChecks {
  static func add(to topic: inout CheckTopic) {
    #if os(Linux) || os(macOS) || os(FreeBSD)
      let rule =
        "Where isDurable, whoever opens the store after its process was killed sees every commit, and nothing else."
      for (number, profile) in CrashProfile.all.enumerated() {
        topic.add("\(profile.name)-transactions", rule, where: .isDurable) { fixture in
          var report = try CrashRounds.run(number, fixture)
          report.check = "crash/\(profile.name)-transactions"
          fixture.options.onCrashReport?(report)
          let (count, inside) = (fixture.options.killCount, report.killsInBody + report.killsInCommit)
          try fixture.expect(
            inside * 2 >= count, "half of \(count) kills inside a transaction",
            seen: "\(inside) of \(report.killCount)")
        }
      }

      topic.add(
        "inside-a-transaction", "What was not committed when the process was killed is not there.",
        where: .isDurable
      ) {
        fixture in
        let place = fixture.newPlace()
        for round in 0..<3 {
          let child = try fixture.startChild(at: place)
          try fixture.expectEqual(child.ask("put key-\(round) x"), "ok", "the child's put")
          try fixture.expectEqual(child.ask("write-and-wait"), "inside", "the child's write")
          child.kill()
          let storage = try fixture.open(place)
          let expected = (0...round).map { "key-\($0)" }
          try fixture.expectEqual(try storage.read { try $0.keys() }, expected, "the keys after the kill")
          try storage.close()
        }
      }

      topic.add(
        "without-close", "A committed write survives the end of the process, close or not.", where: .isDurable
      ) {
        fixture in
        let place = fixture.newPlace()
        let child = try fixture.startChild(at: place)
        for round in 0..<5 {
          try fixture.expectEqual(child.ask("put key-\(round) x"), "ok", "the child's put")
        }
        try fixture.expectEqual(child.ask("exit"), "ok", "the child's exit")
        child.kill()
        try fixture.expectEqual(try fixture.open(place).read { try $0.keys().count }, 5, "the number of keys")
      }

      topic.add(
        "while-opening", "A process killed while it makes or opens a store leaves one that opens.",
        where: .isDurable
      ) {
        fixture in
        var random = fixture.random(7)
        var place = fixture.newPlace()
        for round in 0..<fixture.options.killCount {
          fixture.atStep(round)
          if round % 2 == 0 { place = fixture.newPlace() }
          let child = try fixture.launchChild(at: place)
          // The time ends anywhere between the program's first line and the moment after its store is open.
          pauseMicroseconds(random.below(60_000))
          child.kill()
          let storage = try fixture.open(place)
          try storage.put(["key": "\(round)"])
          try fixture.expectContents(of: storage, ["key": "\(round)"])
          try storage.close()
        }
      }
    #endif
  }
}

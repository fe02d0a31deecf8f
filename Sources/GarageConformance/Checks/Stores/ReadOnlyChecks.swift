internal import GarageDriver

/// Checks of storages that were opened for reading only, if ``ConformanceOptions/openReadOnly`` says how to open one.
enum ReadOnlyChecks {
  static func add(to topic: inout CheckTopic) {
    topic.add("write-throws-before-its-body", "Where info.isReadOnly, every write throws readOnly.") {
      fixture in
      let place = fixture.newPlace()
      let writer = try fixture.open(place)
      try writer.put(["a": "1"])
      guard let storage = try fixture.openReadOnly(place) else { return }
      try fixture.expect(storage.info.isReadOnly, "info.isReadOnly of a storage opened for reading only")
      var facts = storage.info
      facts.isReadOnly = false
      try fixture.expectEqual(facts, writer.info, "all other facts")
      var hasRun = false
      func write() throws {
        try storage.commit { transaction in
          hasRun = true
          try transaction.set("b", "2")
        }
      }
      try fixture.expectError(.readOnly, from: "write", write)
      try storage.read { transaction in
        try fixture.expectError(.readOnly, from: "write inside read", write)
        try fixture.expectEqual(try transaction.text("a"), "1", "a get behind it")
      }
      try fixture.expect(!hasRun, "no body to run", seen: "one ran")
      try fixture.expectContents(of: writer, ["a": "1"])
      try storage.close()
      try fixture.expectError(.closed, from: "read after close") { _ = try storage.text("a") }
      try writer.put(["a": "2"])
    }

    topic.add(
      "reads-beside-a-writer",
      "A reader sees exactly one committed state, and the next one what was committed since, opened for reading only, too."
    ) { fixture in
      let place = fixture.newPlace()
      let writer = try fixture.open(place)
      try writer.put(["a": "1", "b": "1"])
      guard let storage = try fixture.openReadOnly(place) else { return }
      for round in 2...6 {
        try storage.read { transaction in
          try writer.put(["a": "\(round)"])
          try fixture.expectEqual(
            try transaction.entries(), [Entry("a", "\(round - 1)"), Entry("b", "1")], "a scan behind a commit"
          )
          try fixture.expectEqual(try transaction.text("a"), "\(round - 1)", "a get behind a commit")
        }
        try fixture.expectEqual(try storage.text("a"), "\(round)", "what the next reader gets")
      }
    }

    topic.add(
      "opening-makes-nothing",
      "Where there is no store, opening one for reading only throws, and makes none.",
      where: .isDurable
    ) { fixture in
      let place = fixture.newPlace()
      if fixture.options.openReadOnly == nil { return }
      try fixture.expectError(.notFound, .notAStorage, from: "opening what is not there for reading only") {
        _ = try fixture.openReadOnly(place)
      }
      try fixture.expectEqual(try fixture.fileNames(at: place), [], "what was made")
    }
  }
}

internal import GarageDriver

private let ownChangeRule = "Reads inside a write transaction see that transaction's own changes."

/// Checks that a write sees its own changes.
enum OwnChangeChecks {
  static func add(to topic: inout CheckTopic) {
    addOwnChangeGets(to: &topic)
    addOwnChangeScans(to: &topic)
  }
}

private func addOwnChangeGets(to topic: inout CheckTopic) {
  topic.add("gets-see-puts", ownChangeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.commit { transaction in
      try transaction.set("a", "2")
      try transaction.set("b", "3")
      try fixture.expectEqual(try transaction.text("a"), "2", "a get of what was overwritten")
      try fixture.expectEqual(try transaction.text("b"), "3", "a get of what was put")
      try transaction.set("b", "4")
      try fixture.expectEqual(try transaction.text("b"), "4", "a get of what was put twice")
    }
    try fixture.expectContents(of: storage, ["a": "2", "b": "4"])
  }

  topic.add("gets-see-removals", ownChangeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.commit { transaction in
      try transaction.delete("a")
      try fixture.expectEqual(try transaction.text("a"), nil, "a get of what was removed")
      try transaction.set("a", "again")
      try fixture.expectEqual(try transaction.text("a"), "again", "a get of what was put again")
      try transaction.set("c", "3")
      try transaction.delete("c")
      try fixture.expectEqual(try transaction.text("c"), nil, "a get of what was put and removed")
    }
    try fixture.expectContents(of: storage, ["a": "again", "b": "2"])
  }
}

private func addOwnChangeScans(to topic: inout CheckTopic) {
  for direction in ScanDirection.allCases {
    topic.add("\(direction)-scans-see-all-changes", ownChangeRule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1", "c": "3", "e": "5"])
      try storage.commit { transaction in
        try transaction.set("b", "2")
        try transaction.delete("c")
        try transaction.set("e", "changed")
        try transaction.set("f", "6")
        let expected = [Entry("a", "1"), Entry("b", "2"), Entry("e", "changed"), Entry("f", "6")]
        try fixture.expectEqual(
          try transaction.entries(direction), direction == .forward ? expected : expected.reversed(),
          "a scan of own changes")
      }
    }
  }

  topic.add("multi-gets-see-all-changes", ownChangeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.commit { transaction in
      try transaction.set("a", "changed")
      try transaction.delete("b")
      try transaction.set("c", "3")
      try fixture.expectEqual(
        try transaction.texts(["a", "b", "c"]), ["0: changed", "1: none", "2: 3"],
        "a multi-get of own changes")
    }
  }

  topic.add("scans-see-removed-ranges", ownChangeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3", "d": "4"])
    try storage.commit { transaction in
      try transaction.removeAll(in: StorageKeyRange(from: bytes("b"), to: bytes("d")))
      try fixture.expectEqual(try transaction.keys(), ["a", "d"], "the keys after removeAll")
      try transaction.set("c", "again")
      try fixture.expectEqual(try transaction.keys(), ["a", "c", "d"], "the keys after another put")
    }
    try fixture.expectContents(of: storage, ["a": "1", "c": "again", "d": "4"])
  }

  topic.add("nothing-is-left-of-rolled-back-ones", ownChangeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.write { transaction in
      try transaction.set("b", "2")
      return .rollBack(())
    }
    try storage.commit { transaction in
      try fixture.expectEqual(try transaction.keys(), ["a"], "what the next write sees")
    }
  }
}

extension ReadTransaction {
  /// All entries, in this order.
  fileprivate func entries(_ direction: ScanDirection) throws -> [Entry] { try entries(in: .all, direction) }
}

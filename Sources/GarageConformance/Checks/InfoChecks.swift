internal import GarageDriver

func addInfoChecks(to topic: inout CheckTopic) {
  topic.add("has-a-name", "The driver's name as it appears in errors and benchmarks.") { fixture in
    let storage = try fixture.newStore()
    try fixture.expect(!storage.info.name.isEmpty, "info.name to be a name", seen: "an empty string")
  }

  topic.add("allows-keys-of-511-bytes", "The longest key, in bytes: at least 511.") { fixture in
    let limit = try fixture.newStore().info.maximumKeyByteCount
    try fixture.expect(
      limit >= StorageInfo.guaranteedKeyByteCount, "a limit of 511 or more", seen: "\(limit)")
  }

  topic.add("allows-values-of-512-MiB", "The largest value, in bytes: at least 512 MiB.") { fixture in
    let limit = try fixture.newStore().info.maximumValueByteCount
    try fixture.expect(limit >= StorageInfo.guaranteedValueByteCount, "512 MiB or more", seen: "\(limit)")
  }

  topic.add("stays-the-same", "Facts about this driver, the same for its whole life.") { fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let facts = storage.info
    try storage.put(["a": "1"])
    try fixture.expectEqual(storage.info, facts, "info after a write")
    try fixture.expectEqual(try fixture.open(place).info, facts, "info of a second value on the store")
    try storage.close()
    try fixture.expectEqual(storage.info, facts, "info after close")
  }

  topic.add("is-not-read-only", "A store opened by the suite takes writes.") { fixture in
    let storage = try fixture.newStore()
    try fixture.expect(!storage.info.isReadOnly, "a driver that writes", seen: "info.isReadOnly")
  }
}

internal import GarageDriver

/// Checks of the facts that a driver states about itself.
enum InfoChecks {
  static func add(to topic: inout CheckTopic) {
    addFactChecks(to: &topic)
    addErrorChecks(to: &topic)
    addMistakeCheck(to: &topic)
  }

  private static func addFactChecks(to topic: inout CheckTopic) {
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

  private static func addErrorChecks(to topic: inout CheckTopic) {
    topic.add("errors-say-what-and-where", "A StorageError names the operation that failed, and the driver.")
    {
      fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      let empty = StorageKey([UInt8]())
      var errors: [(StorageError.Operation, StorageError)] = []
      func note(_ operation: StorageError.Operation, _ body: () throws -> Void) {
        do { try body() } catch let error as StorageError { errors.append((operation, error)) } catch {}
      }
      try storage.write { transaction in
        note(.get) { _ = try transaction.value(for: empty) }
        note(.put) { try transaction.put([1], for: empty) }
        note(.remove) { try transaction.remove(empty) }
        note(.write) { try storage.put(["b": "nested"]) }
        note(.close) { try storage.close() }
        return .rollBack(())
      }
      var ended: (any ReadTransaction)?
      try storage.read { ended = $0 }
      note(.scan) { _ = try ended?.keys() }
      try storage.close()
      note(.read) { _ = try storage.text("a") }
      try fixture.expectEqual(errors.count, 7, "the number of refused calls")
      for (operation, error) in errors {
        try fixture.expectEqual(error.operation, operation, "the operation in \(error)")
        try fixture.expectEqual(error.driver, storage.info.name, "the driver in \(error)")
      }
    }
  }

  private static func addMistakeCheck(to topic: inout CheckTopic) {
    topic.add(
      "mistakes-are-not-retryable",
      "Where another try throws the same, isRetryable is false: callers make it again."
    ) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      let key = StorageKey([1])
      // Checks both the error of the operation and that of the whole write.
      try fixture.expectError(.invalidKey, from: "a write of an empty key") {
        try storage.commit { transaction in
          _ = try fixture.expectError(.invalidKey, from: "a put of an empty key") {
            try transaction.put([1], for: StorageKey([UInt8]()))
          }
        }
      }
      try fixture.expectError(.mutationWhileLent, from: "a write that changed something in a get") {
        try storage.commit { transaction in
          try transaction.withValue(for: key) { _ in try? transaction.put([1], for: key) }
        }
      }
      try fixture.expectError(.nestedWrite, from: "a write in a write") {
        try storage.commit { _ in try storage.put(["b": "2"]) }
      }
      try fixture.expectError(.closeInsideTransaction, from: "close in a read") {
        try storage.read { _ in try storage.close() }
      }
      var ended: (any ReadTransaction)?
      try storage.read { ended = $0 }
      try fixture.expectError(.transactionClosed, from: "a get after its transaction") {
        _ = try ended?.value(for: key)
      }
      if Requirement.limitsValues.reasonToSkip(storage.info, fixture.options) == nil {
        try withOversizedValue(for: storage) { value in
          try fixture.expectError(.valueTooLarge, from: "a write of too large a value") {
            try storage.commit { try $0.put(value, for: key.bytes.span.bytes) }
          }
        }
      }
      try storage.close()
      try fixture.expectError(.closed, from: "a write after close") { try storage.put(["c": "3"]) }
    }
  }
}

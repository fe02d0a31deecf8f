internal import GarageDriver

private let rule = "A write of which any operation failed leaves no trace."

/// Checks of errors that come from the storage below.
enum FaultChecks {
  static func add(to topic: inout CheckTopic) {
    for operation in [StorageError.Operation.get, .scan, .put, .remove, .commit] {
      for isSwallowed in [false, true] {
        let how = isSwallowed ? "swallowed" : "thrown"
        topic.add("every-\(operation.rawValue)-failing-once-\(how)", rule) { fixture in
          try failEverywhere(operation, isSwallowed: isSwallowed, fixture)
        }
      }
    }

    topic.add("without-faults-nothing-changes", "A wrapper that injects nothing is transparent.") { fixture in
      let plan = FaultPlan()
      let storage = FaultyStorage(try fixture.newStore(), plan: plan)
      try storage.put(["a": "1"])
      try storage.commit { try work($0, isSwallowing: false) }
      try fixture.expectEqual(plan.count(of: .commit), 2, "the number of commits counted")
      try fixture.expectContents(of: storage, ["a": "changed", "c": "3"])
    }

    topic.add("failing-reads", "An operation that fails in read throws, and the next one succeeds.") {
      fixture in
      let plan = FaultPlan()
      let storage = FaultyStorage(try fixture.newStore(holding: ["a": "1"]), plan: plan)
      plan.fail(.read, after: 0)
      plan.fail(.get, after: 0, with: .corrupt)
      plan.fail(.scan, after: 1)
      try fixture.expectError(.io, from: "read") { _ = try storage.text("a") }
      try storage.read { transaction in
        try fixture.expectError(.corrupt, from: "the first get") { _ = try transaction.text("a") }
        try fixture.expectEqual(try transaction.text("a"), "1", "the second get")
        try fixture.expectEqual(try transaction.keys(), ["a"], "the first scan")
        try fixture.expectError(.io, from: "the second scan") { _ = try transaction.keys() }
      }
    }
  }
}

/// Lets each operation of this sort in ``work(_:isSwallowing:)`` fail, one after another.
private func failEverywhere(
  _ operation: StorageError.Operation, isSwallowed: Bool, _ fixture: Fixture
) throws {
  let base = try fixture.newStore(holding: ["a": "1", "b": "2"])
  let plan = FaultPlan()
  let storage = FaultyStorage(base, plan: plan)
  try storage.write { transaction in
    try work(transaction, isSwallowing: false)
    return .rollBack(())
  }
  // A transaction commits once, and the one that was counted was rolled back.
  let count = operation == .commit ? 1 : plan.count(of: operation)
  try fixture.expect(count > 0, "\(operation.rawValue) to be among the operations", seen: "none")
  for position in 0..<count {
    plan.reset()
    plan.fail(operation, after: position)
    let error = try fixture.expectError(.io, from: "a write in which \(operation.rawValue) \(position) fails")
    {
      try storage.commit { try work($0, isSwallowing: isSwallowed) }
    }
    try fixture.expectEqual(error.operation, operation, "the operation that failed")
    try fixture.expectContents(
      of: base, ["a": "1", "b": "2"], "the store after \(operation.rawValue) \(position) failed")
  }
  plan.reset()
  try storage.commit { try work($0, isSwallowing: isSwallowed) }
  try fixture.expectContents(of: base, ["a": "changed", "c": "3"], "the store after a write without faults")
}

/// A transaction with several operations of every sort.
private func work(_ transaction: any WriteTransaction, isSwallowing: Bool) throws {
  func attempt(_ operation: () throws -> Void) throws {
    if isSwallowing { try? operation() } else { try operation() }
  }
  try attempt { try transaction.set("a", "changed") }
  try attempt { _ = try transaction.text("a") }
  try attempt { try transaction.delete("b") }
  try attempt { _ = try transaction.keys() }
  try attempt { try transaction.set("d", "4") }
  try attempt { _ = try transaction.texts(["a", "b"]) }
  try attempt { try transaction.removeAll(in: StorageKeyRange(from: bytes("d"))) }
  try attempt { try transaction.set("c", "3") }
  try attempt { _ = try transaction.entries(in: .all, .backward) }
}

internal import GarageDriver

private let rule =
  "A transaction belongs to its closure. Used afterwards, every operation throws transactionClosed."

private let reads: [(String, @Sendable (any ReadTransaction) throws -> Void)] = [
  ("get", { _ = try $0.text("a") }),
  ("get-of-nothing", { _ = try $0.text("missing") }),
  ("multi-get", { _ = try $0.texts(["a"]) }),
  ("scan", { _ = try $0.keys() }),
  ("backward-scan", { _ = try $0.keys(in: .all, .backward) }),
  // A call that would find nothing is still an operation.
  ("multi-get-of-no-keys", { _ = try $0.texts([]) }),
  ("scan-of-equal-bounds", { _ = try $0.keys(in: StorageKeyRange(from: bytes("a"), to: bytes("a"))) }),
  ("scan-of-crossed-bounds", { _ = try $0.keys(in: StorageKeyRange(from: bytes("b"), to: bytes("a"))) }),
  (
    "backward-scan-of-crossed-bounds",
    { _ = try $0.keys(in: StorageKeyRange(from: bytes("b"), to: bytes("a")), .backward) }
  ),
  ("scan-up-to-nothing", { _ = try $0.keys(in: StorageKeyRange(to: [])) }),
]

private let changes: [(String, @Sendable (any WriteTransaction) throws -> Void)] = [
  ("put", { try $0.set("b", "2") }),
  ("remove", { try $0.delete("a") }),
  ("remove-all", { try $0.removeAll(in: .all) }),
  ("put-of-the-same-value", { try $0.set("a", "1") }),
  ("remove-of-a-missing-key", { try $0.delete("none") }),
  ("remove-all-between-keys", { try $0.removeAll(in: StorageKeyRange(from: bytes("aa"), to: bytes("ab"))) }),
  (
    "remove-all-of-crossed-bounds",
    { try $0.removeAll(in: StorageKeyRange(from: bytes("b"), to: bytes("a"))) }
  ),
]

/// Checks of transactions that are used after their end.
enum EndedTransactionChecks {
  static func add(to topic: inout CheckTopic) {
    addEndedReadChecks(to: &topic)
    addEndedWriteChecks(to: &topic)
    addKeptTransactionChecks(to: &topic)
  }
}

private func addEndedReadChecks(to topic: inout CheckTopic) {
  for (name, operation) in reads {
    topic.add("\(name)-after-read", rule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      var ended: (any ReadTransaction)?
      try storage.read { ended = $0 }
      let transaction = try fixture.ended(ended)
      try fixture.expectError(.transactionClosed, from: "\(name) after read") { try operation(transaction) }
      // The next transaction does not bring it back to life, either.
      _ = try storage.read { _ in
        try fixture.expectError(.transactionClosed, from: "\(name) during the next read") {
          try operation(transaction)
        }
      }
    }
  }
}

private func addEndedWriteChecks(to topic: inout CheckTopic) {
  let all = changes + reads.map { name, operation in (name, { try operation($0) }) }
  for (name, operation) in all {
    topic.add("\(name)-after-write", rule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      let ways: [(String, (inout (any WriteTransaction)?) throws -> Void)] = [
        ("a commit", { ended in try storage.commit { ended = $0 } }),
        (
          "a roll-back",
          { ended in
            try storage.write { transaction in
              ended = transaction
              return .rollBack(())
            }
          }
        ),
        (
          "an error",
          { ended in
            try fixture.swallowing {
              try storage.commit { transaction in
                ended = transaction
                throw TestError()
              }
            }
          }
        ),
      ]
      for (way, end) in ways {
        var ended: (any WriteTransaction)?
        try end(&ended)
        let transaction = try fixture.ended(ended)
        try fixture.expectError(.transactionClosed, from: "\(name) after \(way)") {
          try operation(transaction)
        }
        try storage.commit { _ in
          try fixture.expectError(.transactionClosed, from: "\(name) during the next write") {
            try operation(transaction)
          }
        }
      }
      try fixture.expectContents(of: storage, ["a": "1"])
    }
  }

}

private func addKeptTransactionChecks(to topic: inout CheckTopic) {
  topic.add("after-close", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var reader: (any ReadTransaction)?
    var writer: (any WriteTransaction)?
    try storage.read { reader = $0 }
    try storage.commit { writer = $0 }
    try storage.close()
    try fixture.expectError(.transactionClosed, from: "a get after close") { _ = try reader?.text("a") }
    try fixture.expectError(.transactionClosed, from: "a put after close") { try writer?.set("a", "2") }
  }

  topic.add("on-another-thread", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    for _ in 0..<20 {
      let kept = Kept()
      try storage.read { kept.transaction = $0 }
      try inParallel(2) { thread in
        if thread == 0 {
          try fixture.expectError(.transactionClosed, from: "a get") { _ = try kept.transaction?.text("a") }
        } else {
          try fixture.expectEqual(try storage.text("a"), "1", "a get in another transaction")
        }
      }
    }
  }
}

extension Fixture {
  /// The transaction that a body kept. There is none if the body did not run.
  fileprivate func ended<Transaction>(_ transaction: Transaction?) throws -> Transaction {
    guard let transaction else { throw failure("the body to run", "it did not") }
    return transaction
  }
}

/// Carries an ended transaction to another thread, against the rules.
private final class Kept: @unchecked Sendable {
  // @unchecked: set before any other thread starts, only read afterwards.
  var transaction: (any ReadTransaction)?
}

/// The storages that every test of the garage runs over.
enum Backend: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb
  /// Stacks: nothing fails in them unless the test says so.
  case faultyMemory, faultySQLite, faultyLMDB
  /// Sealed. Tests that look below the garage look into `open()`, and see the values opened. What the other
  /// drivers do below a seal is the conformance suite's to check.
  case sealedSQLite

  /// Each driver once, and sealed: for tests that take long.
  static let engines: [Backend] = [.memory, .sqlite, .lmdb, .sealedSQLite]
  static let durable: [Backend] = [.sqlite, .lmdb, .faultySQLite, .faultyLMDB, .sealedSQLite]
}

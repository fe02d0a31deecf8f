import Foundation

/// The storages that every test of the garage runs over.
///
/// Where `GARAGE_TEST_PG_URL` names a PostgreSQL server and the tests were built with that trait, the lists below name
/// that server's storages and no others: `make test-postgres` runs these tests on one, `make test` on all others.
enum Backend: String, Sendable {
  case memory, sqlite, lmdb
  /// Stacks: nothing fails in them unless the test says so.
  case faultyMemory, faultySQLite, faultyLMDB
  /// Sealed. Tests that look below the garage look into `open()`, and see the values opened. What the other
  /// drivers do below a seal is the conformance suite's to check.
  case sealedSQLite
  /// On the server. Several write at a time but where the name says otherwise.
  case postgres, postgresOneWriter, faultyPostgres, sealedPostgres

  /// Whether the tests are to run on a server.
  static let isOnServer: Bool = {
    #if PostgreSQL
      ProcessInfo.processInfo.environment["GARAGE_TEST_PG_URL"] != nil
    #else
      false
    #endif
  }()

  /// Each stack of them: each driver, and each layer over one. In long runs the layer that can fail is over every driver; to a
  /// garage it is the same over all of them.
  static let allCases: [Backend] =
    isOnServer
    ? (runsLongTests
      ? [.postgres, .postgresOneWriter, .faultyPostgres, .sealedPostgres] : [.postgres])
    : [.memory, .sqlite, .lmdb, .faultySQLite, .sealedSQLite]
      + (runsLongTests ? [.faultyMemory, .faultyLMDB] : [])
  /// Each driver once, and sealed: for tests that take long.
  static let engines: [Backend] =
    isOnServer
    ? (runsLongTests ? [.postgres, .postgresOneWriter] : [.postgres])
    : [.memory, .sqlite, .lmdb, .sealedSQLite]
  static let durable: [Backend] =
    isOnServer ? allCases : [.sqlite, .lmdb, .faultySQLite, .faultyLMDB, .sealedSQLite]
  /// Those that fail where a test says so.
  static let faulty: [Backend] = isOnServer ? [.faultyPostgres] : [.faultyMemory, .faultySQLite, .faultyLMDB]
  /// Those that several processes share.
  static let shared: [Backend] = isOnServer ? [.postgres] : [.sqlite, .lmdb]
  static let sharedAndSealed: [Backend] = shared + (isOnServer ? [.sealedPostgres] : [.sealedSQLite])
  /// Those between which everything is copied.
  static let copied: [Backend] = isOnServer ? [.postgres, .sealedPostgres, .sqlite, .lmdb] : allCases

  var isSealed: Bool { self == .sealedSQLite || self == .sealedPostgres }
  var isFaulty: Bool { [.faultyMemory, .faultySQLite, .faultyLMDB, .faultyPostgres].contains(self) }
  var isPostgres: Bool {
    [.postgres, .postgresOneWriter, .faultyPostgres, .sealedPostgres].contains(self)
  }
}

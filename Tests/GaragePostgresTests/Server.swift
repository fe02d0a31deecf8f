import Foundation
import GaragePostgres
import PostgresStacks

/// The server that the tests run on.
enum Server {
  static func components() throws -> URLComponents {
    guard let components = URLComponents(string: try PostgresStack.serverURL()) else { throw NoURL() }
    return components
  }

  static func port() throws -> UInt16 { UInt16(try components().port ?? 5432) }

  /// Its URL, or that of whoever stands before it.
  static func url(port: UInt16? = nil, database: String? = nil, user: String? = nil) throws -> String {
    var components = try components()
    if let port { (components.host, components.port) = ("127.0.0.1", Int(port)) }
    if let database { components.path = "/" + database }
    if let user { components.user = user }
    return components.string ?? ""
  }

  static func open(
    _ name: String, _ writers: PostgreSQLStorage.Options.Writers = .several, port: UInt16? = nil
  ) throws -> PostgreSQLStorage {
    var options = PostgreSQLStorage.Options()
    options.name = name
    options.writers = writers
    return try PostgreSQLStorage(url(port: port), options: options)
  }

  /// A name that no other store has.
  static func newName() -> String { "gt_\(UUID().uuidString.lowercased().prefix(20))" }
}

struct NoURL: Error {}

/// Whether only what takes little time runs, as `test-postgres.sh --quick` asks for.
let runsQuickly = ProcessInfo.processInfo.environment["GARAGE_TEST_PG_QUICK"] == "1"

/// Whether everything runs at full size: `GARAGE_LONG_TESTS=1`.
let runsLongTests = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"

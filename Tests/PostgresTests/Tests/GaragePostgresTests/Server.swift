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

  /// What restarts the server as a crash would, where it is one of the tests' own.
  static let restartCommand = ProcessInfo.processInfo.environment["GARAGE_TEST_PG_RESTART"]

  static func restart() throws {
    // Not a Process, which waits for whoever has its files open, and that is the server then.
    let code = system((restartCommand ?? "false") + " </dev/null >/dev/null 2>&1")
    if code != 0 { throw NoRestart(code: code) }
  }
}

struct NoURL: Error {}

struct NoRestart: Error {
  var code: Int32
}

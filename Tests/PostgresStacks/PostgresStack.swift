import Foundation
public import GarageConformance
public import GarageDriver
public import GaragePostgres
import GarageSealing
import InsecureSealer

/// The driver, or the driver inside others, on the server that the tests were given.
public struct PostgresStack: Sendable, CustomStringConvertible {
  /// Its name, as the second process is told it.
  public let name: String
  /// Opens the store at a place.
  public let open: @Sendable (ConformancePlace) throws -> any StorageDriver

  /// Opens one for reading only, where the driver is not inside others.
  public var openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)? {
    switch name {
    case Self.several.name: { try Self.open($0, .several, isReadOnly: true) }
    case Self.one.name: { try Self.open($0, .one, isReadOnly: true) }
    default: nil
    }
  }

  /// The name.
  public var description: String { name }

  /// The driver as it is by default.
  public static let several = PostgresStack(name: "PostgreSQL") { try open($0, .several) }
  /// The driver with one writer at a time.
  public static let one = PostgresStack(name: "PostgreSQLWithOneWriter") { try open($0, .one) }

  /// The driver inside one that fails when it is told to.
  public static let faulty = PostgresStack(name: "Fault(PostgreSQL)") { FaultyStorage(try several.open($0)) }
  /// The driver below a seal.
  public static let sealed = PostgresStack(name: "Sealed(PostgreSQL)") {
    try SealedStorage(try several.open($0), sealer: InsecureTestSealer(key: 2026))
  }

  /// All of them.
  public static let all = [several, one, faulty, sealed]

  /// That of a name.
  public static func named(_ name: String) -> PostgresStack? { all.first { $0.name == name } }

  /// Where the server is.
  public static func serverURL() throws -> String {
    guard let url = ProcessInfo.processInfo.environment["GARAGE_TEST_PG_URL"] else { throw NoServer() }
    return url
  }

  /// The store of that name. Its tables begin with `gt_`, by which they are found and dropped in the end.
  public static func open(
    _ place: ConformancePlace, _ writers: PostgreSQLStorage.Options.Writers, isReadOnly: Bool = false
  ) throws -> PostgreSQLStorage {
    var options = PostgreSQLStorage.Options()
    options.name = "gt_" + place.name.suffix(40)
    options.writers = writers
    options.isReadOnly = isReadOnly
    return try PostgreSQLStorage(serverURL(), options: options)
  }
}

struct NoServer: Error, CustomStringConvertible {
  var description: String {
    "GARAGE_TEST_PG_URL is not set. Run 'make test-postgres', which starts a server of its own."
  }
}

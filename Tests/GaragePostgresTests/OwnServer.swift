import Foundation
import GaragePostgres

/// A server of one test's own, which the test may kill, starve and fill. `Scripts/postgres-server.sh` makes it.
final class OwnServer: Sendable {
  /// The script, where the tests were begun by the one that knows it.
  static let script = ProcessInfo.processInfo.environment["GARAGE_TEST_PG_SCRIPT"]
  static let isPossible = script != nil

  let port: UInt16
  private let folder: URL
  private let settings: [String]

  /// Makes a server and starts it.
  ///
  /// - Parameters:
  ///   - settings: as `name=value`.
  ///   - folder: where it keeps its data; a temporary folder unless told.
  ///   - log: where it keeps its write-ahead log, if not with the rest.
  init(_ settings: [String] = [], in folder: URL? = nil, log: URL? = nil) throws {
    // Of a setting that is there twice the second counts.
    self.settings = ["max_wal_senders=0", "wal_level=minimal", "shared_buffers=16MB"] + settings
    self.folder =
      folder ?? FileManager.default.temporaryDirectory.appending(path: "garage-server-\(UUID().uuidString)")
    port = UInt16(try Self.run("port").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    try start(log: log)
  }

  /// Ends it, and leaves nothing of it.
  func stop() {
    _ = try? Self.run("kill", folder.path)
    try? FileManager.default.removeItem(at: folder)
  }

  func start(log: URL? = nil) throws {
    try Self.run(
      ["start", folder.path, "\(port)"] + settings,
      environment: log.map { ["GARAGE_TEST_PG_WAL": $0.path] } ?? [:])
  }
  /// As a crash does it.
  func kill() throws { try Self.run("kill", folder.path) }
  /// As a machine that hangs.
  func pause() throws { try Self.run("pause", folder.path) }
  func resume() throws { try Self.run("resume", folder.path) }

  /// Runs SQL, and returns what it answers.
  @discardableResult
  func sql(_ command: String) throws -> String { try Self.run("sql", "\(port)", command) }

  /// Has a role asked for its password.
  func askForPassword(of role: String) throws {
    let rules = folder.appending(path: "data/pg_hba.conf")
    let line = "host all \(role) 127.0.0.1/32 scram-sha-256\n"
    let others = try String(contentsOf: rules, encoding: .utf8)
    // Written into the file that is there, which belongs to the server.
    let file = try FileHandle(forWritingTo: rules)
    try file.write(contentsOf: Data((line + others).utf8))
    try file.close()
    try sql("SELECT pg_reload_conf()")
    usleep(300_000)
  }

  func url(user: String = "garage", password: String? = nil) -> String {
    "postgresql://\(user)\(password.map { ":" + $0 } ?? "")@127.0.0.1:\(port)/postgres"
  }

  func open(
    _ name: String = Server.newName(), user: String = "garage", password: String? = nil,
    _ change: (inout PostgreSQLStorage.Options) -> Void = { _ in }
  ) throws -> PostgreSQLStorage {
    var options = PostgreSQLStorage.Options()
    options.name = name
    change(&options)
    return try PostgreSQLStorage(url(user: user, password: password), options: options)
  }

  /// Runs the script, and returns what it prints.
  @discardableResult
  static func run(_ arguments: String...) throws -> String { try run(arguments) }

  @discardableResult
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let output = FileManager.default.temporaryDirectory.appending(path: "garage-output-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    // For this run alone: another test's server starts at the same time.
    let variables = environment.map { "\($0.key)=\($0.value)" }
    let words = (["env"] + variables + [script ?? "false"] + arguments).map {
      "'" + $0.replacing("'", with: "'\\''") + "'"
    }
    // Not a Process, which waits for whoever has its files open, and that is the server then.
    let code = system(words.joined(separator: " ") + " </dev/null >'\(output.path)' 2>&1")
    let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    if code != 0 { throw Failure(command: arguments.joined(separator: " "), text: text) }
    return text
  }

  struct Failure: Error, CustomStringConvertible {
    var command: String
    var text: String
    var description: String { "postgres-server.sh \(command): \(text)" }
  }
}

/// A file system of a few megabytes in memory.
struct SmallDisk {
  let folder: URL

  static let isPossible: Bool = {
    guard geteuid() == 0, let disk = try? SmallDisk(mebibytes: 1) else { return false }
    disk.remove()
    return true
  }()

  init(mebibytes: Int) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if system("mount -t tmpfs -o size=\(mebibytes)m,mode=755 tmpfs '\(folder.path)' 2>/dev/null") != 0 {
      try? FileManager.default.removeItem(at: folder)
      throw POSIXError(.EPERM)
    }
  }

  func remove() {
    _ = system("umount '\(folder.path)'")
    try? FileManager.default.removeItem(at: folder)
  }
}

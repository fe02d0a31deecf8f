import Foundation
import Testing

#if canImport(SQLite3)
  import SQLite3
#else
  import CSQLite
#endif

/// A Core Data file as GarageStorage leaves it behind, made by hand.
final class OldStore {
  let folder: URL
  private var connection: OpaquePointer?
  private(set) var count: Int64 = 0

  var url: URL { folder.appendingPathComponent("GarageStorage.sqlite") }

  init(journal: String = "WAL") throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("old-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try #require(sqlite3_open(url.path, &connection) == SQLITE_OK)
    try run("PRAGMA journal_mode = \(journal)")
    try run(
      """
      CREATE TABLE ZGSCOREDATAOBJECT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZGS_SYNCSTATUS INTEGER,
        ZGS_VERSION INTEGER, ZGS_CREATIONDATE TIMESTAMP, ZGS_MODIFIEDDATE TIMESTAMP, ZGS_DATA VARCHAR,
        ZGS_IDENTIFIER VARCHAR, ZGS_TYPE VARCHAR);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'GSCoreDataObject', 0, 0);
      """)
  }

  deinit {
    sqlite3_close_v2(connection)
    try? FileManager.default.removeItem(at: folder)
  }

  func run(_ sql: String) throws {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(connection)))")
  }

  /// Adds a row as it would stand there.
  func add(
    _ type: String?, _ identifier: String?, _ data: String?, status: Int? = 0, created: Double? = 700_000_000,
    modified: Double? = 700_000_100.5
  ) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = "INSERT INTO ZGSCOREDATAOBJECT VALUES (?, 1, 1, ?, 0, ?, ?, ?, ?, ?)"
    try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    func bind(_ place: Int32, _ text: String?) {
      if let text { sqlite3_bind_text(statement, place, text, -1, transient) }
    }
    count += 1
    sqlite3_bind_int64(statement, 1, count)
    if let status { sqlite3_bind_int64(statement, 2, Int64(status)) }
    if let created { sqlite3_bind_double(statement, 3, created) }
    if let modified { sqlite3_bind_double(statement, 4, modified) }
    bind(5, data)
    bind(6, identifier)
    bind(7, type)
    try #require(sqlite3_step(statement) == SQLITE_DONE)
    try run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(count)")
  }

  /// Moves the log into the file and lets go of it.
  func close() {
    sqlite3_close_v2(connection)
    connection = nil
  }

  /// The files beside each other, with their content and their times.
  func snapshot() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      files[name] = try Data(contentsOf: folder.appendingPathComponent(name))
    }
    return files
  }
}

/// Mapped objects as they stand in payloads.
enum OldJSON {
  static func date(_ text: String) -> String {
    """
    {"gs_type":"gs_transformableType","gs_transformableType":"gs_transformableDate","gs_transformableData":"\(text)"}
    """
  }
  static func reference(_ type: String, _ identifier: String) -> String {
    "{\"gs_identifier\":\"\(identifier)\",\"gs_type\":\"\(type)\"}"
  }
  static func anonymous(_ type: String, _ json: String, status: Int? = nil) -> String {
    let data = json.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    let rest = status.map { ",\"gs_syncStatus\":\($0)" } ?? ""
    return
      "{\"gs_identifier\":\"kGSAnonymousObject\",\"gs_type\":\"\(type)\",\"kGSAnonymousDataKey\":\"\(data)\"\(rest)}"
  }
}

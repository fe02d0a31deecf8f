internal import Foundation
internal import GarageSQLite

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// The attributes of one object in the store, except its payload.
struct LegacyRow {
  let key: Int64
  let typeName: String?
  let identifier: String?
  let syncStatus: Int?
  let creationDate: Date?
  let modificationDate: Date?
}

/// A copy of the Core Data file of a GarageStorage store, opened with SQLite. The original is never opened.
///
/// The copy includes the changes in the write-ahead log. It is deleted with the object.
final class CoreDataFile {
  private let path: String
  private let folder: URL
  private let connection: OpaquePointer
  private var columns: Set<String> = []
  private var payloadQuery: OpaquePointer?

  private static let table = "ZGSCOREDATAOBJECT"

  init(copying url: URL) throws {
    path = url.path
    folder = try CoreDataFile.copy(url)
    var opened: OpaquePointer?
    // Opened for reading and writing, because opening may change the log.
    let copy = folder.appendingPathComponent("store").path
    let code = sqlite3_open_v2(copy, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      try? FileManager.default.removeItem(at: folder)
      throw GarageStorageImportError.unreadableStore(path: url.path, reason: CoreDataFile.text(code))
    }
    connection = opened
    try findColumns()
  }

  deinit {
    sqlite3_finalize(payloadQuery)
    sqlite3_close_v2(connection)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Copies the file and its log, but not the log's index, which SQLite makes again.
  private static func copy(_ url: URL) throws -> URL {
    let files = FileManager.default
    guard files.fileExists(atPath: url.path) else { throw GarageStorageImportError.noStore(path: url.path) }
    // Reading the file of an open garage, and closing it, would drop the locks that this process has on it.
    if SQLiteStorage.isOpenHere(url.path) {
      throw GarageStorageImportError.noGarageStorageStore(path: url.path)
    }
    let folder = files.temporaryDirectory.appendingPathComponent("garage-import-\(UUID().uuidString)")
    do {
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
      for suffix in ["", "-wal", "-journal"] where files.fileExists(atPath: url.path + suffix) {
        try files.copyItem(
          atPath: url.path + suffix, toPath: folder.appendingPathComponent("store").path + suffix)
      }
    } catch {
      try? files.removeItem(at: folder)
      throw GarageStorageImportError.unreadableStore(path: url.path, reason: "it cannot be copied (\(error))")
    }
    return folder
  }

  private func findColumns() throws {
    try query("PRAGMA table_info(\(CoreDataFile.table))") { statement in
      if let name = CoreDataFile.string(statement, 1) { columns.insert(name.uppercased()) }
    }
    guard columns.isSuperset(of: ["Z_PK", "ZGS_TYPE", "ZGS_DATA"]) else {
      throw GarageStorageImportError.noGarageStorageStore(path: path)
    }
  }

  // MARK: - Rows

  /// Visits all rows in the order of their keys. If the file is damaged, each row is looked for by its key.
  ///
  /// - Returns: the keys of the rows that cannot be read, with the reasons.
  func scan(_ visit: (LegacyRow) -> Void) throws -> [(key: Int64, reason: String)] {
    var last: Int64 = 0
    do {
      try query("SELECT \(rowColumns) FROM \(CoreDataFile.table) ORDER BY Z_PK") { statement in
        let row = CoreDataFile.row(statement)
        last = row.key
        visit(row)
      }
      return []
    } catch {
      return try salvage(behind: last, visit)
    }
  }

  private func salvage(
    behind last: Int64, _ visit: (LegacyRow) -> Void
  ) throws -> [(key: Int64, reason: String)] {
    var lost: [(key: Int64, reason: String)] = []
    let statement = try prepare("SELECT \(rowColumns) FROM \(CoreDataFile.table) WHERE Z_PK = ?")
    defer { sqlite3_finalize(statement) }
    // Core Data counts from 1. The greatest key that it noted may be damaged, too.
    let (last, greatest) = (max(last, 0), greatestKey())
    guard last < greatest else { return lost }
    let end = greatest - last > salvagedKeyCount ? last + salvagedKeyCount : greatest
    if end < greatest {
      lost.append((end, "Core Data notes rows up to \(greatest); those behind this one were not looked for"))
    }
    for key in (last + 1)...end {
      sqlite3_bind_int64(statement, 1, key)
      let code = sqlite3_step(statement)
      if code == SQLITE_ROW {
        visit(CoreDataFile.row(statement))
      } else if code != SQLITE_DONE {
        lost.append((key, CoreDataFile.text(code)))
      }
      sqlite3_reset(statement)
    }
    return lost
  }

  /// The number of keys to look for one by one: as many rows as the file could hold, and more for deleted ones.
  private var salvagedKeyCount: Int64 {
    let size = try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("store").path)[
      .size]
    return max(100_000, ((size as? NSNumber)?.int64Value ?? 0) / 8)
  }

  /// The greatest key: the one that Core Data noted, or the greatest in the table.
  private func greatestKey() -> Int64 {
    var greatest: Int64 = 0
    let queries = [
      "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'GSCoreDataObject'",
      "SELECT max(Z_PK) FROM \(CoreDataFile.table)",
    ]
    for sql in queries { try? query(sql) { greatest = max(greatest, sqlite3_column_int64($0, 0)) } }
    return greatest
  }

  private var rowColumns: String {
    let wanted = [
      "Z_PK", "ZGS_TYPE", "ZGS_IDENTIFIER", "ZGS_SYNCSTATUS", "ZGS_CREATIONDATE", "ZGS_MODIFIEDDATE",
    ]
    return wanted.map { columns.contains($0) ? $0 : "NULL" }.joined(separator: ", ")
  }

  private static func row(_ statement: OpaquePointer) -> LegacyRow {
    func date(_ column: Int32) -> Date? {
      guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
      return Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, column))
    }
    let hasStatus = sqlite3_column_type(statement, 3) != SQLITE_NULL
    return LegacyRow(
      key: sqlite3_column_int64(statement, 0), typeName: string(statement, 1),
      identifier: string(statement, 2),
      syncStatus: hasStatus ? Int(sqlite3_column_int64(statement, 3)) : nil, creationDate: date(4),
      modificationDate: date(5))
  }

  /// The payload of a row; nil if it has none.
  func payload(_ key: Int64) throws -> String? {
    let statement = try payloadQuery ?? prepare("SELECT ZGS_DATA FROM \(CoreDataFile.table) WHERE Z_PK = ?")
    payloadQuery = statement
    defer { sqlite3_reset(statement) }
    sqlite3_bind_int64(statement, 1, key)
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW else { throw LegacyPayloadError(reason: CoreDataFile.text(code)) }
    if sqlite3_column_type(statement, 0) == SQLITE_NULL { return nil }
    guard let text = CoreDataFile.string(statement, 0) else {
      throw LegacyPayloadError(reason: "its data are no UTF-8 text")
    }
    return text
  }

  // MARK: - Statements

  private func query(_ sql: String, _ visit: (OpaquePointer) -> Void) throws {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: visit(statement)
      case SQLITE_DONE: return
      case let code:
        throw GarageStorageImportError.unreadableStore(path: path, reason: CoreDataFile.text(code))
      }
    }
  }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else {
      throw GarageStorageImportError.unreadableStore(path: path, reason: CoreDataFile.text(code))
    }
    return statement
  }

  private static func string(_ statement: OpaquePointer, _ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(validating: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private static func text(_ code: Int32) -> String { "SQLite: \(String(cString: sqlite3_errstr(code)))" }
}

/// Why a payload cannot be read.
struct LegacyPayloadError: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}

public import Foundation
import GRDB

extension Note: FetchableRecord, PersistableRecord {
  public static var databaseTableName: String { "note" }
}

/// The same notes in a table of GRDB's, as its documentation has it: a pool, in WAL mode, that syncs each commit.
public struct GRDBNotes: NoteStore {
  private let pool: DatabasePool

  public init(at file: URL) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    pool = try DatabasePool(path: file.path, configuration: configuration)
    try pool.write { db in
      try db.create(table: "note", ifNotExists: true) { table in
        table.primaryKey("id", .integer)
        table.column("text", .text).notNull()
      }
    }
  }

  public func note(_ id: Int) async throws -> Note? { try await pool.read { try Note.fetchOne($0, key: id) } }
  public func keep(_ note: Note) async throws { try await pool.write { try note.upsert($0) } }
  public func notes() async throws -> [Note] { try await pool.read { try Note.fetchAll($0) } }
  public func remove(_ id: Int) async throws -> Bool {
    try await pool.write { try Note.deleteOne($0, key: id) }
  }
}

internal import GarageDriver

/// Which tables a store has. `Docs/Decisions/0010-large-values-in-a-table-of-their-own.md` says why there are two.
///
/// The raw value is one less than the store's format, at byte 60 of the file.
enum SQLiteLayout: Int, CaseIterable {
  /// `entries (key, value)`, as every store begins.
  case oneTable
  /// `keys (key, value)`, where a value is a blob, or the number of a row in `large (id, value)`; from the first large
  /// value on. `entries` is a view of both, for other programs and for processes of an older version.
  case withLargeValues

  static let count = allCases.count

  /// The layout of format `version`; nil where a newer version of the driver made it.
  @inline(__always)
  init?(format version: Int) { self.init(rawValue: max(0, version - 1)) }

  var format: Int { rawValue + 1 }

  /// The table that has all keys.
  var keys: String { self == .oneTable ? "entries" : "keys" }

  /// Makes the tables of a new store.
  static let make = """
    CREATE TABLE entries (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID
    """

  /// Makes room for large values in a store of one table, inside a transaction. No entry is written for it.
  static let addLargeValues = [
    // With this, views that other programs added go on naming `entries`, which then is a view of the same contents. Without it
    // SQLite would rewrite them to the new name, and fail if one of them is broken.
    "PRAGMA legacy_alter_table = ON",
    "ALTER TABLE entries RENAME TO keys",
    // A process that has the store open, with a version of this driver that knows one table only, goes on reading through the
    // view. Its writes fail, because views cannot be written.
    """
    CREATE VIEW entries (key, value) AS
    SELECT key, CASE typeof(value) WHEN 'integer' THEN (SELECT large.value FROM large WHERE large.id = keys.value)
    ELSE value END FROM keys
    """,
    // A table comes last: `SQLiteStorage.integrityComplaints()` says why.
    "CREATE TABLE large (id INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "PRAGMA user_version = \(SQLiteLayout.withLargeValues.format)",
  ]

  /// How many bytes a key and a value may have together to stay in one page with others.
  ///
  /// From a quarter of a page on, SQLite keeps a part of an entry of an index, which a table without row numbers is, in
  /// pages of its own, and reads the whole entry for each comparison with its key: "Overflow pages" in
  /// https://sqlite.org/fileformat2.html#b_tree_pages. The 8 are for the entry's header.
  static func largestEntryByteCount(pageByteCount: Int) -> Int { (pageByteCount - 12) * 64 / 255 - 23 - 8 }
}

/// Everything the driver asks SQLite while it is open.
///
/// A scan begins at one bound, and the driver itself compares keys with the other: to compare, SQLite would read the whole
/// value where it is large and in the same table. There always is a lower bound: the empty one is below every key.
enum SQLiteQuery: Int, CaseIterable {
  case get, getMany, contains
  case scanForward, scanBackward, scanBackwardBelow
  case keysForward, keysBackward, keysBackwardBelow
  case countFrom, countBetween
  case put, putMany, remove, removeLooking, removeFrom, removeBetween, removeEverything
  /// Queries on the table of large values, and on the keys that have one.
  case getLarge, lastLarge, insertLarge, updateLarge, replaceLarge, removeLarge, removePointer
  case removeLargeFrom, removeLargeBetween, removeEveryLarge
  case begin, commit, rollBack
  case format, pageCount

  /// Whether a scan has a bound to begin at.
  var hasBound: Bool { self != .scanBackward && self != .keysBackward }

  /// Whether its rows are shown by a function: see ``SQLiteRows``.
  var showsRows: Bool { self == .scanForward || self == .scanBackward || self == .scanBackwardBelow }

  /// The SQL of the query for a store of this layout. Queries on large values are only for stores that have some.
  func sql(_ layout: SQLiteLayout) -> String {
    let keys = layout.keys
    let visit = SQLiteRows.function
    // The number of a large value must not be overwritten: its row would stay, and nothing would lead to it.
    let spared = layout == .oneTable ? "" : "typeof(value) <> 'integer'"
    return switch self {
    case .get: "SELECT value FROM \(keys) WHERE key = ?1"
    case .getMany:
      // The keys are gone through as they stand here, with one cursor on the table: nothing is gathered or sorted.
      """
      WITH wanted (place, key) AS (VALUES \(Self.places(Self.manyGetsCount)))
      SELECT wanted.place, entry.value FROM wanted CROSS JOIN \(keys) AS entry WHERE entry.key = wanted.key
      """
    case .scanForward: "SELECT 1 FROM \(keys) WHERE key >= ?1 AND \(visit)(key, value) ORDER BY key"
    case .contains: "SELECT 1 FROM \(keys) WHERE key = ?1"
    case .scanBackward: "SELECT 1 FROM \(keys) WHERE \(visit)(key, value) ORDER BY key DESC"
    case .scanBackwardBelow: "SELECT 1 FROM \(keys) WHERE key < ?1 AND \(visit)(key, value) ORDER BY key DESC"
    case .keysForward: "SELECT key FROM \(keys) WHERE key >= ?1 ORDER BY key"
    case .keysBackward: "SELECT key FROM \(keys) ORDER BY key DESC"
    case .keysBackwardBelow: "SELECT key FROM \(keys) WHERE key < ?1 ORDER BY key DESC"
    case .countFrom: "SELECT count(*) FROM \(keys) WHERE key >= ?1"
    case .countBetween: "SELECT count(*) FROM \(keys) WHERE key >= ?1 AND key < ?2"
    case .put, .putMany:
      """
      INSERT INTO \(keys) (key, value) VALUES \(Self.rows(self == .put ? 1 : Self.manyCount))
      ON CONFLICT (key) DO UPDATE SET value = excluded.value \(spared.isEmpty ? "" : "WHERE \(spared)")
      """
    case .remove: "DELETE FROM \(keys) WHERE key = ?1 \(spared.isEmpty ? "" : "AND \(spared)")"
    case .removeLooking: "DELETE FROM \(keys) WHERE key = ?1 AND \(SQLiteLook.function)(value)"
    case .removeFrom: "DELETE FROM \(keys) WHERE key >= ?1"
    case .removeBetween: "DELETE FROM \(keys) WHERE key >= ?1 AND key < ?2"
    case .removeEverything: "DELETE FROM \(keys)"
    case .getLarge: "SELECT value FROM large WHERE id = ?1"
    case .lastLarge: "SELECT max(id) FROM large"
    case .insertLarge: "INSERT INTO large (id, value) VALUES (?1, ?2)"
    case .updateLarge: "UPDATE large SET value = ?2 WHERE id = ?1"
    case .replaceLarge: "UPDATE keys SET value = ?2 WHERE key = ?1"
    case .removeLarge: "DELETE FROM large WHERE id = ?1"
    case .removePointer: "DELETE FROM keys WHERE key = ?1"
    case .removeLargeFrom: Self.removeLarge(where: "key >= ?1")
    case .removeLargeBetween: Self.removeLarge(where: "key >= ?1 AND key < ?2")
    case .removeEveryLarge: "DELETE FROM large"
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollBack: "ROLLBACK"
    case .format: "PRAGMA user_version"
    case .pageCount: "PRAGMA page_count"
    }
  }

  /// How many entries ``putMany`` puts.
  static let manyCount = 64

  /// How many keys ``getMany`` looks for.
  static let manyGetsCount = 16

  private static func places(_ count: Int) -> String {
    (0..<count).map { "(\($0), ?\($0 + 1))" }.joined(separator: ", ")
  }

  private static func rows(_ count: Int) -> String {
    (0..<count).map { "(?\(2 * $0 + 1), ?\(2 * $0 + 2))" }.joined(separator: ", ")
  }

  private static func removeLarge(where condition: String) -> String {
    "DELETE FROM large WHERE id IN (SELECT value FROM keys WHERE \(condition) AND typeof(value) = 'integer')"
  }
}

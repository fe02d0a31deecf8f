import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite

/// A store whose files are recorded. Checkpoints come often.
enum PowerStore: String, CaseIterable {
  case sqlite, lmdb
  case sqliteNormal = "sqlite-normal"
  case lmdbNormal = "lmdb-normal"

  /// Whether what is acknowledged survives.
  var isFull: Bool { self == .sqlite || self == .lmdb }

  func open(in folder: URL) throws -> any StorageDriver {
    let url = folder.appending(path: "store")
    switch self {
    case .sqlite, .sqliteNormal:
      var options = SQLiteStorage.Options()
      options.durability = isFull ? .full : .normal
      options.walCheckpointByteCount = 256 << 10
      return try SQLiteStorage(at: url, options: options)
    case .lmdb, .lmdbNormal:
      return try LMDBStorage(
        at: url,
        options: LMDBStorage.Options(durability: isFull ? .full : .normal, mapByteCount: 1 << 28))
    }
  }
}

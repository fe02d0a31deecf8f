public import Foundation

/// The reason why nothing was imported.
public enum GarageStorageImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no file.
  case noStore(path: String)
  /// The file is a SQLite database without GarageStorage's table.
  case noGarageStorageStore(path: String)
  /// The file is no SQLite database, or is too damaged to find anything in it.
  case unreadableStore(path: String, reason: String)

  /// What failed, on what, and what to do next.
  public var description: String {
    switch self {
    case .noStore(let path):
      "There is no file at \(path). Give the path of GarageStorage's SQLite file, mostly …/GarageStorage.sqlite."
    case .noGarageStorageStore(let path):
      "The file at \(path) has no table ZGSCOREDATAOBJECT: it is no store of GarageStorage. Nothing was imported."
    case .unreadableStore(let path, let reason):
      """
      The store at \(path) cannot be read: \(reason). Nothing was imported, and nothing was changed. Close the app \
      that uses it, or take the file from a backup.
      """
    }
  }
}

extension GarageStorageImportError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

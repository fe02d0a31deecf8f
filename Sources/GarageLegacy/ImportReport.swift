public import Foundation
public import GarageStorage

/// What was taken over from a GarageStorage store, and what was not.
public struct GarageStorageImportReport: Sendable, CustomStringConvertible {
  /// How many objects were parked, by the name of their type.
  public internal(set) var importedCounts: [String: Int] = [:]
  /// What was not taken over, in the order of the store. It is still there.
  public internal(set) var failures: [Failure] = []
  /// What was taken over, but not as it was: for instance, a status of objects that are not `Syncable`.
  public internal(set) var notices: [Failure] = []

  /// How many objects were parked.
  public var importedCount: Int { importedCounts.values.reduce(0, +) }

  /// An object of the store, and what is to be said of it.
  public struct Failure: Sendable, Hashable, CustomStringConvertible {
    /// Its primary key (`Z_PK`).
    public let row: Int64
    /// The type as the store names it; empty where it has none.
    public let typeName: String
    /// The identifier as it stands in the store; empty where it has none.
    public let identifier: String
    /// What happened, and what to do next.
    public let reason: String

    /// All of it.
    public var description: String { "\(typeName) \"\(identifier)\" (row \(row)): \(reason)" }
  }

  /// Counts, failures and notices, a line each.
  public var description: String {
    var lines = ["\(importedCount) objects were taken over, \(failures.count) were not."]
    lines += importedCounts.sorted { $0.key < $1.key }.map { "  \($0.value) \($0.key)" }
    lines += failures.map { "not taken over: \($0)" }
    lines += notices.map { "note: \($0)" }
    return lines.joined(separator: "\n")
  }
}

/// An object that was parked, with what the old store knew of it.
public struct ImportedGarageStorageObject {
  /// The object.
  public let object: any Codable
  /// Its identifier in the garage.
  public let identifier: Identifier
  /// The type as the old store named it.
  public let typeName: String
  /// The identifier as it stood in the old store.
  public let formerIdentifier: String?
  /// When it was parked first.
  public let creationDate: Date?
  /// When it was parked last. The record in the garage bears this time, too.
  public let modificationDate: Date?
  /// The raw value of its sync status: 0 undetermined, 1 not synced, 2 syncing, 3 synced.
  public let syncStatus: Int?
}

/// Why nothing was imported.
public enum GarageStorageImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no file.
  case noStore(path: String)
  /// The file is a SQLite database without GarageStorage's table.
  case noGarageStorageStore(path: String)
  /// The file is no SQLite database, or too damaged to find anything in it.
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

/// What was imported from a GarageStorage store, and what was not.
public struct GarageStorageImportReport: Sendable, CustomStringConvertible {
  /// How many objects were parked, by the name of their type.
  public internal(set) var importedCounts: [String: Int] = [:]
  /// The objects that were not imported, in the order of the store. They are still in the store.
  public internal(set) var failures: [Failure] = []
  /// The objects that were imported, but not unchanged: for instance, a status was dropped because the type is not `Syncable`.
  /// If an anonymous object has a class that no type of the app has, only the first such object of each class is listed.
  public internal(set) var notices: [Failure] = []

  /// Names of classes that already have a notice: one is enough for all objects.
  var strangers: Set<String> = []

  /// How many objects were parked.
  public var importedCount: Int { importedCounts.values.reduce(0, +) }

  /// An object of the store, and what is reported about it.
  public struct Failure: Sendable, Hashable, CustomStringConvertible {
    /// Its primary key (`Z_PK`).
    public let row: Int64
    /// The type's name in the store; empty if it has none.
    public let typeName: String
    /// The identifier in the store; empty if it has none.
    public let identifier: String
    /// What happened, and what to do next.
    public let reason: String

    /// The whole report about the object, in one line.
    public var description: String { "\(typeName) \"\(identifier)\" (row \(row)): \(reason)" }
  }

  /// The counts, failures and notices, one line each.
  public var description: String {
    var lines = ["\(importedCount) objects were taken over, \(failures.count) were not."]
    lines += importedCounts.sorted { $0.key < $1.key }.map { "  \($0.value) \($0.key)" }
    lines += failures.map { "not taken over: \($0)" }
    lines += notices.map { "note: \($0)" }
    return lines.joined(separator: "\n")
  }
}

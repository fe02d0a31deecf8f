/// What was taken over from a GarageStorage store, and what was not.
public struct GarageStorageImportReport: Sendable, CustomStringConvertible {
  /// How many objects were parked, by the name of their type.
  public internal(set) var importedCounts: [String: Int] = [:]
  /// What was not taken over, in the order of the store. It is still there.
  public internal(set) var failures: [Failure] = []
  /// What was taken over, but not as it was: for instance, a status of objects that are not `Syncable`. Of anonymous
  /// objects whose class no type of the app has, the first one of each class.
  public internal(set) var notices: [Failure] = []

  /// Names of classes that a notice was made of already: one is enough for all objects.
  var strangers: Set<String> = []

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

/// What was rebuilt in a store, and what was removed because it meant nothing.
public struct RepairReport: Sendable, Hashable {
  /// How many objects can be found by their sync status again.
  public internal(set) var addedSyncStatuses = 0
  /// How many entries for sync statuses were removed, because their object is gone or has another status.
  public internal(set) var removedSyncStatuses = 0
  /// The names of types and the coding keys that were missing or damaged, and that this process knows.
  public internal(set) var texts: [String] = []
  /// The names of the indexes that were rebuilt.
  public internal(set) var indexes: [String] = []

  /// Whether nothing had to be done.
  public var isEmpty: Bool { self == RepairReport() }
}

extension RepairReport: CustomStringConvertible {
  /// The whole report, one line for each item.
  public var description: String {
    if isEmpty { return "nothing to repair" }
    var lines: [String] = []
    if addedSyncStatuses > 0 { lines.append("entries for sync statuses added: \(addedSyncStatuses)") }
    if removedSyncStatuses > 0 { lines.append("entries for sync statuses removed: \(removedSyncStatuses)") }
    lines += texts.map { "put there again: \($0)" }
    lines += indexes.map { "made anew: the index \"\($0)\"" }
    return lines.joined(separator: "\n")
  }
}

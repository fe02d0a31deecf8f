/// What a migration did with each record that it read.
public struct MigrationReport: Sendable {
  /// A record that could not be migrated. It was left as it is.
  public struct Failure: Sendable {
    /// The unqualified name of the type.
    public let type: String
    /// The object's identifier, as text.
    public let identifier: String
    /// The reason.
    public let error: any Error
  }

  /// How many records were rewritten, or moved.
  public internal(set) var rewritten = 0
  /// How many records already had the form that their type has today.
  public internal(set) var unchanged = 0
  /// How many records of other objects, and values of typed keys, had their references changed.
  public internal(set) var updatedReferences = 0
  /// How many records could not be migrated.
  public internal(set) var failedCount = 0
  /// The first 1 000 of these records.
  public internal(set) var failed: [Failure] = []

  private static let failureLimit = 1_000

  mutating func fail(_ type: String, _ identifier: String, _ error: any Error) {
    failedCount += 1
    if failed.count < MigrationReport.failureLimit {
      failed.append(Failure(type: type, identifier: identifier, error: error))
    }
  }

  mutating func add(_ other: MigrationReport) {
    rewritten += other.rewritten
    unchanged += other.unchanged
    updatedReferences += other.updatedReferences
    failedCount += other.failedCount
    failed += other.failed.prefix(MigrationReport.failureLimit - failed.count)
  }
}

extension MigrationReport: CustomStringConvertible {
  /// The counts, and the first failures.
  public var description: String {
    var text = "\(rewritten) rewritten, \(unchanged) unchanged, \(failedCount) failed"
    if updatedReferences > 0 { text += ", references updated in \(updatedReferences)" }
    for failure in failed.prefix(10) {
      text += "\n\(failure.type) \"\(failure.identifier)\": \(failure.error)"
    }
    return text
  }
}

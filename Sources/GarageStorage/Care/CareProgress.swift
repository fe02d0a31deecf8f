/// How far a verb has come that goes through a whole store.
public struct CareProgress: Sendable, Hashable {
  /// How many entries of the store were gone through; by verbs of its engine, how many of its pages.
  public var completedUnitCount: Int
  /// How many there are in all.
  public var totalUnitCount: Int

  /// So far, of so many.
  public init(completedUnitCount: Int, totalUnitCount: Int) {
    self.completedUnitCount = completedUnitCount
    self.totalUnitCount = totalUnitCount
  }
}

/// Tells the caller of a long verb every so often how far it is, and ends the verb if that is wanted.
struct ProgressReporter {
  /// After how many entries it tells: often enough to draw a bar, seldom enough to cost nothing.
  private static let interval = 1024

  let total: Int
  let report: (CareProgress) throws -> Void
  private(set) var completed = 0

  init(total: Int, _ report: @escaping (CareProgress) throws -> Void) {
    (self.total, self.report) = (total, report)
  }

  /// Notes that an entry was gone through.
  ///
  /// - Throws: `CancellationError` where the task was cancelled, and what the callback throws.
  mutating func advance() throws {
    completed += 1
    if completed % ProgressReporter.interval == 0 { try tell() }
  }

  /// Tells how far it is now, which at the end is all there was.
  func tell() throws {
    try Task.checkCancellation()
    try passingErrors {
      try report(CareProgress(completedUnitCount: min(completed, total), totalUnitCount: total))
    }
  }

  func end() throws {
    try passingErrors { try report(CareProgress(completedUnitCount: total, totalUnitCount: total)) }
  }
}

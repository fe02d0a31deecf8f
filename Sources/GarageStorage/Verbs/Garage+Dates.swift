internal import GarageCoding
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Garage {
  /// How the dates of objects that are parked now are encoded: with the strategy of the innermost running closure, or else with
  /// that given to `init`. By default exactly (`.deferredToDate`).
  public var dateEncodingStrategy: JSONEncoder.DateEncodingStrategy {
    dateSetting { if case .dateEncoding(let strategy) = $0 { strategy } else { nil } } ?? dates.encoding
  }

  /// How the dates of objects that are retrieved now are decoded, if they were not encoded exactly.
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
    dateSetting { if case .dateDecoding(let strategy) = $0 { strategy } else { nil } } ?? dates.decoding
  }

  /// Runs `body`. The dates of objects that it parks are encoded with this strategy.
  ///
  /// ```swift
  /// try garage.withDateEncodingStrategy(.iso8601) { try garage.park(order) }
  /// ```
  /// Applies to `body` on the calling task alone, not to other tasks, nor to those that `body` begins. Most strategies are less
  /// exact than a `Date`, which a garage keeps whole by default, so the date that is read back may differ. Dates in
  /// identifiers, in keys of dictionaries and in digests of content are always exact.
  ///
  /// - Throws: the errors of `body`.
  public func withDateEncodingStrategy<R>(
    _ strategy: JSONEncoder.DateEncodingStrategy, _ body: () throws -> R
  ) rethrows -> R {
    try withDates(.dateEncoding(strategy), body)
  }

  /// Runs `body`. The dates of objects that it retrieves are decoded with this strategy.
  ///
  /// Dates that were encoded exactly are read whatever the strategy is, because a store may hold both kinds. A date in any
  /// other form that the strategy does not describe makes the call throw `DecodingError.dataCorrupted`. Applies to `body` on
  /// the calling task alone, not to other tasks, nor to those that `body` begins.
  ///
  /// - Throws: the errors of `body`.
  public func withDateDecodingStrategy<R>(
    _ strategy: JSONDecoder.DateDecodingStrategy, _ body: () throws -> R
  ) rethrows -> R {
    try withDates(.dateDecoding(strategy), body)
  }

  private func withDates<R>(_ setting: TaskScope.Setting, _ body: () throws -> R) rethrows -> R {
    dateScopeCount.add(1, ordering: .relaxed)
    defer { dateScopeCount.subtract(1, ordering: .relaxed) }
    return try TaskScope.with(setting, of: self, body)
  }

  private func dateSetting<R>(_ find: (TaskScope.Setting) -> R?) -> R? {
    // Looking up the task takes longer than the rest of this function, and mostly no closure is running.
    if dateScopeCount.load(ordering: .relaxed) == 0 { return nil }
    return TaskScope.innermost(of: self, find)
  }
}

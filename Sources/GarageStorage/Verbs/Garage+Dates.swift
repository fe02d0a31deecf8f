internal import GarageCoding
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Garage {
  /// How objects that are parked now have their dates encoded: the strategy of the closure that is running,
  /// or that of `init`. By default exactly (`.deferredToDate`).
  public var dateEncodingStrategy: JSONEncoder.DateEncodingStrategy {
    dateSetting { if case .dateEncoding(let strategy) = $0 { strategy } else { nil } } ?? dates.encoding
  }

  /// How objects that are retrieved now have their dates decoded, where they were not encoded exactly.
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
    dateSetting { if case .dateDecoding(let strategy) = $0 { strategy } else { nil } } ?? dates.decoding
  }

  /// Runs `body`, in which objects are parked with their dates encoded as this strategy says.
  ///
  /// ```swift
  /// try garage.withDateEncodingStrategy(.iso8601) { try garage.park(order) }
  /// ```
  /// Applies to `body` on the calling task alone, not to other tasks, nor to those that `body` begins. Most
  /// strategies are less exact than a `Date`, which a garage by itself keeps whole: what comes back may be another
  /// date. Identifiers, keys of dictionaries and digests of content are exact all the same.
  ///
  /// - Throws: what `body` throws.
  public func withDateEncodingStrategy<R>(
    _ strategy: JSONEncoder.DateEncodingStrategy, _ body: () throws -> R
  ) rethrows -> R {
    try withDates(.dateEncoding(strategy), body)
  }

  /// Runs `body`, in which objects are retrieved whose dates were encoded as this strategy says.
  ///
  /// Dates that were encoded exactly are read under every strategy, without asking it: a store may hold both.
  /// One in any other form that the strategy does not describe makes the call throw
  /// `DecodingError.dataCorrupted`. Applies to `body` on the calling task alone, not to other tasks, nor to
  /// those that `body` begins.
  ///
  /// - Throws: what `body` throws.
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
    // Looking the task up takes longer than all the rest, and mostly no closure is running.
    if dateScopeCount.load(ordering: .relaxed) == 0 { return nil }
    return TaskScope.innermost(of: self, find)
  }
}

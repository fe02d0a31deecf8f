internal import GarageCoding
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a call depends on of the task that makes it, for a thread that knows nothing of that task.
struct CallSettings: Sendable {
  /// Whether what it changes is saved at once.
  var autosaves: Bool
  private let dateEncoding: DateEncodingStrategy?
  private let dateDecoding: DateDecodingStrategy?

  /// Those of the calling task.
  init(of garage: Garage) {
    autosaves = garage.isAutosaveEnabled
    let hasDates = garage.dateScopeCount.load(ordering: .relaxed) > 0
    dateEncoding = hasDates ? garage.dateEncodingStrategy : nil
    dateDecoding = hasDates ? garage.dateDecodingStrategy : nil
  }

  /// Runs `body` with the same dates.
  func apply<R>(to garage: Garage, _ body: () throws -> R) rethrows -> R {
    guard let dateEncoding, let dateDecoding else { return try applyAutosave(to: garage, body) }
    return try TaskScope.with(.dateEncoding(dateEncoding), of: garage) {
      try TaskScope.with(.dateDecoding(dateDecoding), of: garage) {
        try applyAutosave(to: garage, body)
      }
    }
  }

  /// For verbs that ask by themselves.
  private func applyAutosave<R>(to garage: Garage, _ body: () throws -> R) rethrows -> R {
    if autosaves { return try body() }
    return try garage.withAutosaveDisabled(body)
  }
}

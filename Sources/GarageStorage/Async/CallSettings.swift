internal import GarageCoding
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The settings of the calling task that a call depends on, for a thread that knows nothing of that task.
struct CallSettings: Sendable {
  /// Whether its changes are saved at once.
  var autosaves: Bool
  private let dateEncoding: DateEncodingStrategy?
  private let dateDecoding: DateDecodingStrategy?

  /// The settings of the calling task.
  init(of garage: Garage) {
    autosaves = garage.isAutosaveEnabled
    let hasDates = garage.dateScopeCount.load(ordering: .relaxed) > 0
    dateEncoding = hasDates ? garage.dateEncodingStrategy : nil
    dateDecoding = hasDates ? garage.dateDecodingStrategy : nil
  }

  /// Runs `body` with the same settings.
  func apply<R>(to garage: Garage, _ body: () throws -> R) rethrows -> R {
    guard let dateEncoding, let dateDecoding else { return try applyAutosave(to: garage, body) }
    return try TaskScope.with(.dateEncoding(dateEncoding), of: garage) {
      try TaskScope.with(.dateDecoding(dateDecoding), of: garage) {
        try applyAutosave(to: garage, body)
      }
    }
  }

  /// Sets whether changes are saved at once. A verb looks that up by itself.
  private func applyAutosave<R>(to garage: Garage, _ body: () throws -> R) rethrows -> R {
    if autosaves { return try body() }
    return try garage.withAutosaveDisabled(body)
  }
}

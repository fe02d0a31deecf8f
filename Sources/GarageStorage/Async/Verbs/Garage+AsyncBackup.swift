public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs that make other files of a store, or of a file a store, for tasks.

extension Garage {
  /// Makes a copy of the store at another place, elsewhere.
  ///
  /// - Throws: as ``backup(to:compacting:progress:)``, and `CancellationError` where the task was cancelled: nothing is left
  ///   then.
  nonisolated(nonsending)
    public func backup(
      to url: URL, compacting: Bool = false, progress: @escaping Progress = { _ in }
    ) async throws
  {
    try await leaving { cancellation in
      try inPlace {
        try self.backup(to: url, compacting: compacting) { try cancellation.passOn($0, to: progress) }
      }
    }
  }

  /// Gives back the room that the store does not use, elsewhere.
  ///
  /// - Throws: as ``compact(progress:)``, and `CancellationError` where the task was cancelled.
  @discardableResult
  nonisolated(nonsending)
    public func compact(progress: @escaping Progress = { _ in }) async throws -> CompactionResult
  {
    try await leaving { cancellation in
      try inPlace { try self.compact { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Writes everything in the store to a file of JSON lines, elsewhere.
  ///
  /// - Throws: as ``export(to:progress:)``, and `CancellationError` where the task was cancelled: nothing is left then.
  @discardableResult
  nonisolated(nonsending)
    public func export(to url: URL, progress: @escaping Progress = { _ in }) async throws -> ExchangeResult
  {
    try await leaving { cancellation in
      try inPlace { try self.export(to: url) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Takes in everything that a file of an export holds, elsewhere.
  ///
  /// - Throws: as ``import(from:progress:)``, and `CancellationError` where the task was cancelled: nothing is changed then.
  @discardableResult
  nonisolated(nonsending)
    public func `import`(from url: URL, progress: @escaping Progress = { _ in }) async throws
    -> ExchangeResult
  {
    try await leaving { cancellation in
      try inPlace { try self.import(from: url) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Makes again what can be made from the records, elsewhere.
  ///
  /// - Throws: as ``repair(progress:)``, and `CancellationError` where the task was cancelled.
  @discardableResult
  nonisolated(nonsending)
    public func repair(progress: @escaping Progress = { _ in }) async throws -> RepairReport
  {
    try await leaving { cancellation in
      try inPlace { try self.repair { try cancellation.passOn($0, to: progress) } }
    }
  }
}

extension GarageSalvage {
  /// Brings over what can be saved, elsewhere.
  ///
  /// - Throws: as ``run(progress:)``, and `CancellationError` where the task was cancelled: what was brought over stays.
  @discardableResult
  nonisolated(nonsending)
    public func run(progress: @escaping Garage.Progress = { _ in }) async throws -> SalvageReport
  {
    try await garage.leaving { cancellation in
      try inPlace { try self.run { try cancellation.passOn($0, to: progress) } }
    }
  }
}

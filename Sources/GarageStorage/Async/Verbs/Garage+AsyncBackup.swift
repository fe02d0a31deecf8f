internal import GarageCoding
public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Verbs for tasks that copy a store or write it to a file, read such a file, or change the store's own files.

extension Garage {
  /// Makes a copy of the store at another place, on a thread of the library's.
  ///
  /// - Throws: as ``backup(to:compacting:progress:)``, and `CancellationError` if the task was cancelled. No copy is left then.
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

  /// Gives back the disk space that the store does not use, on a thread of the library's.
  ///
  /// - Throws: as ``compact(progress:)``, and `CancellationError` if the task was cancelled.
  @discardableResult
  nonisolated(nonsending)
    public func compact(progress: @escaping Progress = { _ in }) async throws -> CompactionResult
  {
    try await leaving { cancellation in
      try inPlace { try self.compact { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Writes everything in the store to a file of JSON lines, on a thread of the library's.
  ///
  /// - Throws: as ``export(to:progress:)``, and `CancellationError` if the task was cancelled. No file is left then.
  @discardableResult
  nonisolated(nonsending)
    public func export(to url: URL, progress: @escaping Progress = { _ in }) async throws -> ExchangeResult
  {
    try await leaving { cancellation in
      try inPlace { try self.export(to: url) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Imports everything in an exported file, on a thread of the library's. The types of its objects are asked for their indexes
  /// in the task.
  ///
  /// - Throws: as ``import(from:progress:)``, and `CancellationError` if the task was cancelled. Nothing is changed then.
  @discardableResult
  nonisolated(nonsending)
    public func `import`(from url: URL, progress: @escaping Progress = { _ in }) async throws
    -> ExchangeResult
  {
    let digests = try? await leaving { _ in try Garage.tagDigests(inExportAt: url) }
    // Types may belong to an actor. If the file cannot be read, the import will throw.
    let types = (digests ?? []).flatMap { TypeTag.types(withDigest: $0) }
    try translatingErrors { try probeContext.run { try indexing.meet(types) } }
    return try await leaving { cancellation in
      try inPlace { try self.import(from: url) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Rebuilds everything that can be made from the records, on a thread of the library's.
  ///
  /// - Throws: as ``repair(progress:)``, and `CancellationError` if the task was cancelled.
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
  /// Saves what can be saved, on a thread of the library's.
  ///
  /// - Throws: as ``run(progress:)``, and `CancellationError` if the task was cancelled. What was saved by then stays.
  @discardableResult
  nonisolated(nonsending)
    public func run(progress: @escaping Garage.Progress = { _ in }) async throws -> SalvageReport
  {
    try await garage.leaving { cancellation in
      try inPlace { try self.run { try cancellation.passOn($0, to: progress) } }
    }
  }
}

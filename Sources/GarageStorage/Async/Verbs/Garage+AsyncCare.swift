public import GarageCoding
public import GarageDriver

// The verbs that go through a whole store, for tasks: they run on a thread of the library's, with their progress.

extension Garage {
  /// What a progress of theirs is told, unless the task was cancelled.
  public typealias Progress = @Sendable (CareProgress) throws -> Void

  /// Reads the whole store and reports what is damaged, elsewhere.
  ///
  /// - Throws: as ``verify(progress:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func verify(progress: @escaping Progress = { _ in }) async throws -> VerificationReport
  {
    try await leaving { cancellation in
      try inPlace { try self.verify { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Counts what is in the store, elsewhere.
  ///
  /// - Throws: as ``statistics(progress:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func statistics(progress: @escaping Progress = { _ in }) async throws -> StoreStatistics
  {
    try await leaving { cancellation in
      try inPlace { try self.statistics { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Copies everything in the store to another storage, elsewhere.
  ///
  /// - Throws: as ``copy(to:progress:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func copy(to destination: any StorageDriver, progress: @escaping Progress = { _ in }) async throws
  {
    try await leaving { cancellation in
      try inPlace { try self.copy(to: destination) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// The objects that no root reaches, found elsewhere.
  ///
  /// - Throws: as ``unreachable(from:along:progress:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func unreachable(
      from roots: [GarageRoot], along kinds: Set<ReferenceKind> = Set(ReferenceKind.allCases),
      progress: @escaping Progress = { _ in }
    ) async throws -> [RecordIdentity]
  {
    try await leaving { cancellation in
      try inPlace {
        try self.unreachable(from: roots, along: kinds) { try cancellation.passOn($0, to: progress) }
      }
    }
  }

  /// Deletes the objects that no root reaches, elsewhere; tells how many.
  ///
  /// - Throws: as ``collectGarbage(roots:along:progress:)``, and `CancellationError` where the task was cancelled: then
  ///   nothing is deleted.
  @discardableResult
  nonisolated(nonsending)
    public func collectGarbage(
      roots: [GarageRoot], along kinds: Set<ReferenceKind> = Set(ReferenceKind.allCases),
      progress: @escaping Progress = { _ in }
    ) async throws -> Int
  {
    try await leaving { cancellation in
      try inPlace {
        try self.collectGarbage(roots: roots, along: kinds) { try cancellation.passOn($0, to: progress) }
      }
    }
  }
}

extension Cancellation {
  /// Tells somebody of a progress, unless it was cancelled.
  func passOn(_ progress: CareProgress, to report: Garage.Progress) throws {
    try check()
    try report(progress)
  }
}

public import GarageCoding
public import GarageDriver

// The verbs for tasks that go through a whole store. They, and their `progress` functions, run on a thread of the library's.

extension Garage {
  /// The type of their `progress` functions, which are not called any more once the task was cancelled.
  public typealias Progress = @Sendable (CareProgress) throws -> Void

  /// Reads the whole store and reports the damage, on a thread of the library's.
  ///
  /// - Throws: as ``verify(progress:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func verify(progress: @escaping Progress = { _ in }) async throws -> VerificationReport
  {
    try await leaving { cancellation in
      try inPlace { try self.verify { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Counts what is in the store, on a thread of the library's.
  ///
  /// - Throws: as ``statistics(progress:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func statistics(progress: @escaping Progress = { _ in }) async throws -> StoreStatistics
  {
    try await leaving { cancellation in
      try inPlace { try self.statistics { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// Copies everything in the store to another storage, on a thread of the library's.
  ///
  /// - Throws: as ``copy(to:progress:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func copy(to destination: any StorageDriver, progress: @escaping Progress = { _ in }) async throws
  {
    try await leaving { cancellation in
      try inPlace { try self.copy(to: destination) { try cancellation.passOn($0, to: progress) } }
    }
  }

  /// The objects that no root reaches, found on a thread of the library's.
  ///
  /// - Throws: as ``unreachable(from:along:progress:)``, and `CancellationError` if the task was cancelled.
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

  /// Deletes the objects that no root reaches, on a thread of the library's. Returns how many.
  ///
  /// - Throws: as ``collectGarbage(roots:along:progress:)``, and `CancellationError` if the task was cancelled. Nothing is
  ///   deleted then.
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
  /// Passes a progress to `report`, unless the task was cancelled.
  func passOn(_ progress: CareProgress, to report: Garage.Progress) throws {
    try check()
    try report(progress)
  }
}

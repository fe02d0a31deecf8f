internal import GarageCoding
internal import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Transactions, saving and settings for tasks.

extension Garage {
  /// Runs `body` on one consistent snapshot, on a thread of the library's.
  ///
  /// ```swift
  /// let total = try await garage.read { reader in
  ///   try reader.count(Cat.self) + reader.count(Dog.self)
  /// }
  /// ```
  /// - Parameter attempts: as for ``read(retrying:_:)``.
  /// - Throws: the errors of `body`, as ``read(retrying:_:)``, and `CancellationError` if the task was cancelled before `body`
  ///   began.
  nonisolated(nonsending)
    public func read<R>(
      retrying attempts: Int = 0, _ body: @escaping @Sendable (GarageReader) throws -> sending R
    ) async throws -> sending R
  {
    try await leaving { _ in
      try inPlace { try self.read(retrying: attempts) { Carried(try body($0)).value } }
    }
  }

  /// Runs `body` as the only writer, on a thread of the library's. All its changes are committed together, or none if it
  /// throws.
  ///
  /// An object that was parked in `body` cannot be returned from it, because both the garage and the caller would have it: the
  /// compiler refuses that. Return a copy, or an identifier.
  ///
  /// - Parameter attempts: as for ``write(retrying:_:)``.
  /// - Throws: the errors of `body`, as ``write(retrying:_:)``, and `CancellationError` if the task was cancelled before `body`
  ///   began.
  nonisolated(nonsending)
    public func write<R>(
      retrying attempts: Int = 0, _ body: @escaping @Sendable (GarageWriter) throws -> sending R
    ) async throws -> sending R
  {
    let result: Carried<R> = try await submit(retrying: attempts) { access in
      let writer = GarageWriter(access)
      defer { writer.end() }
      return Carried(try passingErrors { try body(writer) })
    }
    return result.value
  }

  /// Writes all unsaved changes to the store, in one transaction.
  ///
  /// - Throws: as ``save()``, and `CancellationError` if the task was cancelled before that began.
  nonisolated(nonsending)
    public func save() async throws
  {
    try checkOpen()
    if !hasUnsavedChanges { return }
    try await submit(autosaves: true) { _ in }
  }

  /// Drops all changes that are not in the store yet.
  nonisolated(nonsending)
    public func discardUnsavedChanges() async
  {
    let carried = Carried(self)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      WorkerThreads.shared.run {
        inPlace { carried.value.discardUnsavedChanges() }
        continuation.resume()
      }
    }
  }

  /// Ends the use of the store. Waits for the calls of others without blocking the task.
  ///
  /// - Throws: as ``close()``.
  nonisolated(nonsending)
    public func close() async throws
  {
    let carried = Carried(self)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      WorkerThreads.shared.run {
        continuation.resume(with: Result { try inPlace { try carried.value.close() } })
      }
    }
  }

  /// Runs `body`. The changes that it makes through this garage stay unsaved until ``save()``.
  ///
  /// Applies to `body` on the calling task alone, as the verb that is not async does.
  ///
  /// - Throws: the errors of `body`.
  nonisolated(nonsending)
    public func withAutosaveDisabled<R>(_ body: nonisolated(nonsending) () async throws -> R) async rethrows
    -> R
  {
    unsavedScopeCount.add(1, ordering: .relaxed)
    defer { unsavedScopeCount.subtract(1, ordering: .relaxed) }
    return try await TaskScope.withInTask(.autosaveDisabled, of: self, body)
  }

  /// Runs `body`. The dates of objects that it parks are encoded with this strategy.
  ///
  /// - Throws: the errors of `body`.
  nonisolated(nonsending)
    public func withDateEncodingStrategy<R>(
      _ strategy: JSONEncoder.DateEncodingStrategy, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R
  {
    dateScopeCount.add(1, ordering: .relaxed)
    defer { dateScopeCount.subtract(1, ordering: .relaxed) }
    return try await TaskScope.withInTask(.dateEncoding(strategy), of: self, body)
  }

  /// Runs `body`. The dates of objects that it retrieves are decoded with this strategy.
  ///
  /// - Throws: the errors of `body`.
  nonisolated(nonsending)
    public func withDateDecodingStrategy<R>(
      _ strategy: JSONDecoder.DateDecodingStrategy, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R
  {
    dateScopeCount.add(1, ordering: .relaxed)
    defer { dateScopeCount.subtract(1, ordering: .relaxed) }
    return try await TaskScope.withInTask(.dateDecoding(strategy), of: self, body)
  }
}

// MARK: - Migration

extension Garage {
  /// Rewrites all records of a type that are in an older form, on a thread of the library's.
  ///
  /// - Throws: as ``migrateAll(_:)``, and `CancellationError` if the task was cancelled. The next call then does the rest.
  @discardableResult
  nonisolated(nonsending)
    public func migrateAll<T: Codable & SendableMetatype>(_ type: T.Type) async throws -> MigrationReport
  {
    var report = MigrationReport()
    var place = RecordMigration.Place()
    while !place.isAtEnd {
      let start = place
      let (done, next) = try await submit { try RecordMigration($0).migrate(type, from: start) }
      report.add(done)
      place = next
    }
    return report
  }

  /// Makes all objects that were parked under an old type name objects of this type.
  ///
  /// - Throws: as ``migrateAll(fromOldClassName:to:)``, and `CancellationError` as ``park(_:)-(T)``.
  @discardableResult
  nonisolated(nonsending)
    public func migrateAll<T: Codable & SendableMetatype>(
      fromOldClassName oldClassName: String, to type: T.Type
    ) async throws -> MigrationReport
  {
    try await submit(isLong: true) { try $0.migrateAll(fromOldClassName: oldClassName, to: type) }
  }

  /// Makes all objects of one type objects of another type.
  ///
  /// - Throws: as ``migrateAll(from:to:)``, and `CancellationError` as ``park(_:)-(T)``.
  @discardableResult
  nonisolated(nonsending)
    public func migrateAll<T: Codable & SendableMetatype>(
      from oldType: Any.Type, to type: T.Type
    ) async throws -> MigrationReport
  {
    let oldType = Carried(oldType)
    return try await submit(isLong: true) { try $0.migrateAll(from: oldType.value, to: type) }
  }

  /// Runs a verb that makes changes, and is not async, in a transaction on a thread of the library's.
  ///
  /// - Parameter attempts: as for ``write(retrying:_:)``; nil for as many as verbs make.
  /// - Throws: the errors of `verb`, and `CancellationError` if the task was cancelled before it began.
  nonisolated(nonsending)
    package func changing<R>(
      retrying attempts: Int? = nil, _ verb: @escaping (GarageWriter) throws -> R
    ) async throws -> R
  {
    try await submit(retrying: attempts, isLong: true) { access in
      let writer = GarageWriter(access)
      defer { writer.end() }
      return try passingErrors { try verb(writer) }
    }
  }

  /// Runs the work that precedes a transaction, and is not async, on a thread of the library's.
  ///
  /// - Throws: the errors of `body`, and `CancellationError` if the task was cancelled before it began.
  nonisolated(nonsending)
    package func preparing<R>(_ body: @escaping () throws -> R) async throws -> sending R
  {
    try await leaving { _ in try body() }
  }
}

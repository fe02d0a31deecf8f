internal import GarageCoding

// The indexes of a store, for tasks. Entries and records are gone through on a thread of the library's.

extension Garage {
  /// The indexes that the store has for a type, by name. Their entries are counted on a thread of the library's.
  ///
  /// - Throws: as ``indexes(of:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func indexes<T: Codable>(of type: T.Type) async throws -> [IndexInfo]
  {
    // What has to be asked of the type is asked in the task.
    let facts = try translatingErrors { try RecordTypeFacts.of(type) }
    return try await reading { [self] access, _ in try indexes(of: facts, access) }
  }

  /// Completes all indexes that are declared or begun, and removes those that are no longer declared, on a thread of the
  /// library's.
  ///
  /// - Parameter progress: called after each write, on a thread of the library's.
  /// - Throws: as ``buildIndexes(_:)``, and `CancellationError` if the task was cancelled. What is done by then stays, and the
  ///   next call goes on from there.
  nonisolated(nonsending)
    public func buildIndexes(
      _ progress: @escaping @Sendable (IndexProgress) throws -> Void = { _ in }
    ) async throws
  {
    let indexed = types.all.compactMap { $0 as? any (Indexed & Codable).Type }.filter { !indexing.hasMet($0) }
    for type in indexed { _ = try await surveyInTask(type) }
    // The types are asked for their declarations in the task.
    try translatingErrors { try probeContext.run { for type in types.all { try indexing.meet(type) } } }
    try await leaving { [self] cancellation in
      try inPlace {
        try self.buildIndexes {
          try cancellation.check()
          try progress($0)
        }
      }
    }
  }

  /// Removes an index of a type from the store, on a thread of the library's.
  ///
  /// - Throws: as ``dropIndex(_:of:)``, and `CancellationError` if the task was cancelled before that began.
  nonisolated(nonsending)
    public func dropIndex<T: Codable>(_ name: String, of type: T.Type) async throws
  {
    let facts = try translatingErrors { try RecordTypeFacts.of(type) }
    try await leaving { [self] _ in try dropIndex(name, of: facts) }
  }

  /// Compares all indexes with the records, on a thread of the library's.
  ///
  /// - Throws: as ``verifyIndexes()``, and `CancellationError` if the task was cancelled before that began.
  nonisolated(nonsending)
    public func verifyIndexes() async throws -> IndexReport
  {
    try await leaving { [self] _ in try inPlace { try self.verifyIndexes() } }
  }
}

extension Garage {
  /// Makes the indexes ready that a type declares, which may belong to an actor: the type is asked for them in the task, and
  /// they are made on a thread of the library's.
  ///
  /// - Throws: as ``prepareIndexes(of:isExplained:)``, and `CancellationError`.
  nonisolated(nonsending)
    func prepareIndexesInTask(of type: any Codable.Type) async throws
  {
    if indexing.isSettled(type) { return }
    try checkOpen()
    guard type is any Indexed.Type else { return indexing.noteSettled(type) }
    if !indexing.hasMet(type) {
      // If reading fails, the query itself will throw.
      let isThere = (try? await surveyInTask(type)) ?? true
      if !isThere { return }
      try translatingErrors { try probeContext.run { try indexing.meet(type) } }
    }
    try await leaving { [self] _ in try prepareDeclared(type) }
  }

  /// Surveys a type by some of its objects, if that was not done before. They are read on a thread of the library's, and decoded
  /// in the task.
  ///
  /// - Returns: whether there are any.
  nonisolated(nonsending)
    private func surveyInTask(_ type: any Codable.Type) async throws -> Bool
  {
    let facts = try translatingErrors { try RecordTypeFacts.of(type) }
    if !surveyedTypes.isWanted(facts.type) { return true }
    let sample = try await reading { access, _ in try access.surveySample(of: facts) }
    return survey(type, facts, by: sample)
  }
}

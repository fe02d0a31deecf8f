internal import GarageCoding

// The indexes of a store, for tasks: what goes through entries or records does so on a thread of the library's.

extension Garage {
  /// The indexes of a type that the store has, by name, their entries counted elsewhere.
  ///
  /// - Throws: as ``indexes(of:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func indexes<T: Codable>(of type: T.Type) async throws -> [IndexInfo]
  {
    // What there is to ask the type is asked here.
    let facts = try translatingErrors { try RecordTypeFacts.of(type) }
    return try await reading { [self] access, _ in try indexes(of: facts, access) }
  }

  /// Makes all indexes complete that are declared or begun, and removes those that were dropped, elsewhere.
  ///
  /// - Parameter progress: called after each write, on a thread of the library's.
  /// - Throws: as ``buildIndexes(_:)``, and `CancellationError` where the task was cancelled: what is done by then stays, and the
  ///   next call goes on.
  nonisolated(nonsending)
    public func buildIndexes(
      _ progress: @escaping @Sendable (IndexProgress) throws -> Void = { _ in }
    ) async throws
  {
    let indexed = types.all.compactMap { $0 as? any (Indexed & Codable).Type }.filter { !indexing.hasMet($0) }
    if !indexed.isEmpty {
      try await leaving { [self] _ in
        try inPlace {
          try self.withReadAccess { access in
            for type in indexed { _ = try access.survey(type, RecordTypeFacts.of(type)) }
          }
        }
      }
    }
    // The declarations of types are asked for here.
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

  /// Removes an index of a type from the store, elsewhere.
  ///
  /// - Throws: as ``dropIndex(_:of:)``, and `CancellationError` where the task was cancelled before that began.
  nonisolated(nonsending)
    public func dropIndex<T: Codable>(_ name: String, of type: T.Type) async throws
  {
    let facts = try translatingErrors { try RecordTypeFacts.of(type) }
    try await leaving { [self] _ in try dropIndex(name, of: facts) }
  }

  /// Compares all indexes with the records, elsewhere.
  ///
  /// - Throws: as ``verifyIndexes()``, and `CancellationError` where the task was cancelled before that began.
  nonisolated(nonsending)
    public func verifyIndexes() async throws -> IndexReport
  {
    try await leaving { [self] _ in try inPlace { try self.verifyIndexes() } }
  }
}

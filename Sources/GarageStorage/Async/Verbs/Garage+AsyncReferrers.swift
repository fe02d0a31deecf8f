public import GarageCoding
internal import GarageDriver

// The objects that refer to another one, and deleting by rules, for tasks. Both run on a thread of the library's, but users'
// code runs in the task.

extension Garage {
  /// The objects that refer to an object, found on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/referrers(of:)-(T)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func referrers<T: Codable>(of object: T) async throws -> [RecordIdentity]
  {
    try await referrers(of: referred(object))
  }

  /// The objects that refer to the object of this type with this identifier, found on a thread of the library's.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  nonisolated(nonsending)
    public func referrers<T: Codable & Identifiable>(
      of type: T.Type, identifier: T.ID
    ) async throws -> [RecordIdentity]
  {
    try await referrers(of: referred(type, identifier))
  }

  /// The objects that refer to the object that a reference names, found on a thread of the library's.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  nonisolated(nonsending)
    public func referrers<T: Codable & Identifiable>(
      of reference: Reference<T>
    ) async throws -> [RecordIdentity]
  {
    try await referrers(of: referred(reference))
  }

  /// The objects that refer to the record with this identity, found on a thread of the library's.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  nonisolated(nonsending)
    public func referrers(of identity: RecordIdentity) async throws -> [RecordIdentity]
  {
    try await referrers(of: referred(identity))
  }

  nonisolated(nonsending)
    private func referrers(of object: ReferredObject) async throws -> [RecordIdentity]
  {
    try await leaving { [self] cancellation in
      try inPlace { try self.referrers(of: object) }
    }
  }

  /// The objects of a type that refer to an object, found and decoded on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieveReferrers(_:of:)-(_,T)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable>(
      _ type: R.Type, of object: T
    ) async throws -> sending [R]
  {
    try await retrieveReferrers(type, of: referred(object), by: nil)
  }

  /// The objects of a type that refer to an object by one of their properties, found and decoded on a thread of the library's.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable, V: Codable>(
      _ type: R.Type, of object: T, by property: KeyPath<R, V>
    ) async throws -> sending [R]
  {
    try await retrieveReferrers(type, of: referred(object), by: ReferringProperty(property, name: nil))
  }

  /// The objects of a type that refer to the object of another type with this identifier, found and decoded on a thread of the
  /// library's.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable & Identifiable>(
      _ type: R.Type, of targetType: T.Type, identifier: T.ID
    ) async throws -> sending [R]
  {
    try await retrieveReferrers(type, of: referred(targetType, identifier), by: nil)
  }

  /// The objects of a type that refer by one of their properties to the object of another type with this identifier, found and
  /// decoded on a thread of the library's.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable & Identifiable, V: Codable>(
      _ type: R.Type, of targetType: T.Type, identifier: T.ID, by property: KeyPath<R, V>
    ) async throws -> sending [R]
  {
    try await retrieveReferrers(
      type, of: referred(targetType, identifier), by: ReferringProperty(property, name: nil))
  }

  nonisolated(nonsending)
    private func retrieveReferrers<R: Codable & SendableMetatype>(
      _ type: R.Type, of object: ReferredObject, by property: ReferringProperty?
    ) async throws -> sending [R]
  {
    try await leaving { [self] cancellation in
      try inPlace { try self.retrieveReferrers(type, of: object, by: property) }
    }
  }

  // MARK: - Deleting

  /// Deletes an object, and the objects that it owns. `referrers` says what happens to the objects that refer to it.
  ///
  /// - Throws: as ``GarageWriting/delete(_:referrers:)``, and `CancellationError` if the task was cancelled before that began.
  nonisolated(nonsending)
    public func delete<T: Codable>(_ object: T, referrers: ReferrersRule) async throws
  {
    let parked = try encoding { try ParkedObject(object, $0) }
    _ = try await delete(DeletionRequest(parked, referrers))
  }

  /// Deletes the object of this type with this identifier, and the objects that it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(
      _ type: T.Type, identifier: T.ID, referrers: ReferrersRule
    ) async throws
  {
    let identifier = try encoding { _ in try self.identifier(of: type, identifier) }
    _ = try await delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes the object of this type with an identifier from ``GarageReading/identifier(for:)``, and the objects that it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  nonisolated(nonsending)
    public func delete<T: Codable>(
      _ type: T.Type, identifier: Identifier, referrers: ReferrersRule
    ) async throws
  {
    _ = try await delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes an object, and all objects that are reached from it and from nothing else. Returns how many objects were deleted.
  ///
  /// - Throws: as ``GarageWriting/deleteGraph(_:referrers:)``, and `CancellationError` if the task was cancelled before that
  ///   began.
  @discardableResult
  nonisolated(nonsending)
    public func deleteGraph<T: Codable>(_ object: T, referrers: ReferrersRule? = nil) async throws -> Int
  {
    let parked = try encoding { try ParkedObject(object, $0) }
    return try await delete(DeletionRequest(parked, referrers, isGraph: true))
  }

  /// Deletes the object of this type with this identifier, and all objects that are reached from it and from nothing else.
  ///
  /// - Throws: as ``deleteGraph(_:referrers:)``.
  @discardableResult
  nonisolated(nonsending)
    public func deleteGraph<T: Codable & Identifiable>(
      _ type: T.Type, identifier: T.ID, referrers: ReferrersRule? = nil
    ) async throws -> Int
  {
    let identifier = try encoding { _ in try self.identifier(of: type, identifier) }
    return try await delete(DeletionRequest(type, identifier, referrers, isGraph: true))
  }

  /// Deletes an object by the rules. Returns how many objects were deleted.
  nonisolated(nonsending)
    func delete(_ request: DeletionRequest) async throws -> Int
  {
    try await prepareReferrerIndexElsewhere()
    return try await submit { try $0.delete(request) }
  }

  /// Does as ``prepareReferrerIndex()``, but fills the index on a thread of the library's.
  nonisolated(nonsending)
    func prepareReferrerIndexElsewhere() async throws
  {
    guard indexing.declaresReferences, !indexing.isSettled(ReferrerOption.self) else { return }
    try await leaving { [self] _ in try self.prepareReferrerIndex() }
  }

  // MARK: - The index

  /// The index of references of the store; nil if it has none. Its entries are counted on a thread of the library's.
  ///
  /// - Throws: as ``referrerIndex()``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func referrerIndex() async throws -> IndexInfo?
  {
    try await leaving { [self] _ in try inPlace { try self.referrerIndex() } }
  }

  /// Removes the index of references from the store, on a thread of the library's.
  ///
  /// - Throws: as ``dropReferrerIndex()``, and `CancellationError` if the task was cancelled before that began.
  nonisolated(nonsending)
    public func dropReferrerIndex() async throws
  {
    try await leaving { [self] _ in try inPlace { try self.dropReferrerIndex() } }
  }

  /// How the objects that refer to another one are found.
  ///
  /// - Throws: as ``GarageReading/explainReferrers()``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func explainReferrers() async throws -> QueryPlan
  {
    try await leaving { [self] _ in try inPlace { try self.explainReferrers() } }
  }
}

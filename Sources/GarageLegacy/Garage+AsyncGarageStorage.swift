public import GarageStorage

// The older library's names of verbs, for tasks.

extension GarageWriting {
  /// The same as `park(_:)`.
  nonisolated(nonsending)
    public func parkObject<T: MappableObject>(_ object: T) async throws
  {
    try await park(any: object)
  }

  /// The same as `parkAll(_:)`: objects of one or several classes, in one write.
  nonisolated(nonsending)
    public func parkObjects(_ objects: [any MappableObject]) async throws
  {
    try await parkAll(objects)
  }

  /// The same as `delete(_:)`.
  nonisolated(nonsending)
    public func deleteObject<T: MappableObject>(_ object: T) async throws
  {
    try await delete(any: object)
  }

  /// The same as `deleteAll(_:)`.
  nonisolated(nonsending)
    public func deleteAllObjects<T: MappableObject>(_ type: T.Type) async throws
  {
    try await deleteAll(type)
  }
}

extension GarageReading {
  /// The same as `retrieve(_:identifier:)`.
  nonisolated(nonsending)
    public func retrieveObject<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws
    -> T?
  {
    try await retrieve(type, identifier: identifier)
  }

  /// The same as `retrieveAll(_:)`.
  nonisolated(nonsending)
    public func retrieveAllObjects<T: MappableObject>(_ type: T.Type) async throws -> [T]
  {
    try await retrieveAll(type)
  }

  /// The mapped objects with this status, of all classes that the garage knows.
  nonisolated(nonsending)
    public func retrieveObjects(withStatus status: SyncStatus) async throws
    -> [any MappableObject & Syncable]
  {
    let objects: [any Syncable] = try await retrieveAll(withStatus: status)
    return objects.compactMap { $0 as? any MappableObject & Syncable }
  }

  /// The same as `retrieveAll(_:withStatus:)`.
  nonisolated(nonsending)
    public func retrieveObjects<T: MappableObject & Syncable>(
      withStatus status: SyncStatus, ofClass type: T.Type
    ) async throws -> [T]
  {
    try await retrieveAll(type, withStatus: status)
  }

  /// Does the same for a class that is not known to be `Syncable`. If it is not, no object has a status.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieveObjects<T: MappableObject>(
      withStatus status: SyncStatus, ofClass type: T.Type
    ) async throws -> [T]
  {
    nonisolated(nonsending)
      func objects<S: Codable & Syncable>(_ type: S.Type) async throws -> [T]
    {
      try await retrieveAll(type, withStatus: status).compactMap { $0 as? T }
    }
    guard let syncable = type as? any (Codable & Syncable).Type else { return [] }
    return try await objects(syncable)
  }
}

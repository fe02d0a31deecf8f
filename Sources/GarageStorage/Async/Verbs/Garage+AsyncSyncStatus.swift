public import GarageCoding
internal import GarageDriver

// Sync statuses for tasks.

extension Garage {
  /// All objects of this type with this sync status, in the order of their identifiers.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:withStatus:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & Syncable>(
      _ type: T.Type, withStatus status: SyncStatus
    ) async throws -> [T]
  {
    try await readingFetched { access in
      var objects: [T] = []
      try access.visitObjects(type, withStatus: status) { objects.append($0) }
      return objects
    }
  }

  /// All objects of this type with this sync status, in the order of their identifiers, decoded on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:withStatus:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & Syncable & SendableMetatype>(
      _ type: T.Type, withStatus status: SyncStatus
    ) async throws -> sending [T]
  {
    try await reading { access, cancellation in
      var objects: [T] = []
      try access.visitObjects(type, withStatus: status) {
        try cancellation.check()
        objects.append($0)
      }
      return objects
    }
  }

  /// All objects of the result's type with this sync status.
  ///
  /// - Throws: as ``retrieveAll(_:withStatus:)``.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & Syncable>(withStatus status: SyncStatus) async throws -> [T]
  {
    try await retrieveAll(T.self, withStatus: status)
  }

  /// All objects with this sync status, of all types that the garage was opened with (`types:`).
  ///
  /// - Throws: as ``GarageReading/retrieveAll(withStatus:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func retrieveAll(withStatus status: SyncStatus) async throws -> [any Syncable]
  {
    try await readingFetched { access in
      var objects: [any Syncable] = []
      try access.visitAllObjects(withStatus: status) { objects.append($0) }
      return objects
    }
  }

  /// The sync status of an object in the store; `.undetermined` if it was parked without one.
  ///
  /// - Throws: as ``GarageReading/syncStatus(for:)-(T)``, and `CancellationError`.
  nonisolated(nonsending)
    public func syncStatus<T: Codable & Syncable>(for object: T) async throws -> SyncStatus
  {
    try await syncStatus(ofAny: object)
  }

  /// The sync status in the store of an object whose type is only known at run time.
  ///
  /// - Throws: as ``syncStatus(for:)-(T)``.
  nonisolated(nonsending)
    public func syncStatus(for object: any Syncable) async throws -> SyncStatus
  {
    try await syncStatus(ofAny: object)
  }

  /// The sync status in the store of a mapped object whose class is only known at run time.
  ///
  /// - Throws: as ``syncStatus(for:)-(T)``, and ``GarageError/notSyncable(_:)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func syncStatus(for object: any MappableObject) async throws -> SyncStatus
  {
    try await syncStatus(ofAny: syncable(object))
  }

  nonisolated(nonsending)
    private func syncStatus(ofAny object: Any) async throws -> SyncStatus
  {
    let parked = try encoding { try ParkedObject(object, $0) }
    return try await readingHere { try $0.header(of: parked).syncStatus ?? .undetermined }
  }

  /// Sets the sync status of an object in the store.
  ///
  /// - Throws: as ``GarageWriting/setSyncStatus(_:for:)-(SyncStatus,T)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func setSyncStatus<T: Codable & Syncable>(_ status: SyncStatus, for object: T) async throws
  {
    try await setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects in the store: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  nonisolated(nonsending)
    public func setSyncStatus<S: Sequence>(_ status: SyncStatus, for objects: S) async throws
  where S.Element: Codable & Syncable {
    try await setSyncStatus(status, forAny: objects.map { $0 })
  }

  /// Sets the sync status of an object whose type is only known at run time.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for object: any Syncable) async throws
  {
    try await setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects of several types: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for objects: [any Syncable]) async throws
  {
    try await setSyncStatus(status, forAny: objects)
  }

  /// Sets the sync status of a mapped object whose class is only known at run time.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``, and ``GarageError/notSyncable(_:)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for object: any MappableObject) async throws
  {
    try await setSyncStatus(status, forAny: [syncable(object)])
  }

  /// Sets the sync status of mapped objects of several classes: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,MappableObject)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for objects: [any MappableObject]) async throws
  {
    try await setSyncStatus(status, forAny: objects.map { try syncable($0) })
  }

  nonisolated(nonsending)
    private func setSyncStatus(_ status: SyncStatus, forAny objects: [any Syncable]) async throws
  {
    let parked = try encoding { encoder in try objects.map { try ParkedObject($0, encoder) } }
    if parked.isEmpty { return }
    try await submitBytes { try $0.setSyncStatus(status, of: parked) }
    for var object in objects where type(of: object) is AnyClass { object.syncStatus = status }
  }
}

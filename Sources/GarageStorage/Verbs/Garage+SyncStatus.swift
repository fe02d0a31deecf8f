public import GarageCoding
internal import GarageDriver

extension GarageReading {
  /// All objects of this type with this sync status, in the order of their identifiers.
  ///
  /// For a class it also returns the objects of its subclasses, which the garage must know (`types:` when it is opened). The
  /// objects are found by an index: other objects are not read. Objects that were parked before their type was `Syncable` have
  /// no status until they are parked again or given one.
  ///
  /// - Throws: as ``retrieveAll(_:)``.
  public func retrieveAll<T: Codable & Syncable>(_ type: T.Type, withStatus status: SyncStatus) throws -> [T]
  {
    var objects: [T] = []
    try withRepeatableReadAccess { access in
      objects = []
      try access.visitObjects(type, withStatus: status) { objects.append($0) }
    }
    return objects
  }

  /// All objects of the result's type with this sync status.
  ///
  /// ```swift
  /// let waiting: [Task] = try garage.retrieveAll(withStatus: .notSynced)
  /// ```
  /// - Throws: as ``retrieveAll(_:withStatus:)``.
  public func retrieveAll<T: Codable & Syncable>(withStatus status: SyncStatus) throws -> [T] {
    try retrieveAll(T.self, withStatus: status)
  }

  /// All objects with this sync status, of all types that the garage was opened with (`types:`).
  ///
  /// Those of one type stand together, in the order of their identifiers.
  ///
  /// - Throws: ``GarageError/unregisteredClass(tag:type:identifier:)`` if an object with this status has a type that the garage
  ///   was not told about, so that no object is left out silently; and as ``retrieveAll(_:)``.
  public func retrieveAll(withStatus status: SyncStatus) throws -> [any Syncable] {
    var objects: [any Syncable] = []
    try withRepeatableReadAccess { access in
      objects = []
      try access.visitAllObjects(withStatus: status) { objects.append($0) }
    }
    return objects
  }

  /// The sync status of an object in the store; `.undetermined` if it was parked without one.
  ///
  /// It may differ from the status that `object` has: it may have been set in the store since.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if the object is not in the store,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)``, and as ``identifier(for:)``.
  public func syncStatus<T: Codable & Syncable>(for object: T) throws -> SyncStatus {
    try syncStatus(ofAny: object)
  }

  /// The sync status in the store of an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` if it is not `Codable`; and as ``syncStatus(for:)-(T)``.
  public func syncStatus(for object: any Syncable) throws -> SyncStatus {
    try syncStatus(ofAny: object)
  }

  /// The sync status in the store of a mapped object whose class is only known at run time.
  ///
  /// - Throws: ``GarageError/notSyncable(_:)`` if the class is not `Syncable`; and as ``syncStatus(for:)-(T)``.
  @_disfavoredOverload
  public func syncStatus(for object: any MappableObject) throws -> SyncStatus {
    try syncStatus(ofAny: syncable(object))
  }

  private func syncStatus(ofAny object: Any) throws -> SyncStatus {
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    return try withRepeatableReadAccess { try $0.header(of: parked).syncStatus ?? .undetermined }
  }
}

extension GarageWriting {
  /// Sets the sync status of an object in the store, without encoding or decoding the object: its present contents are not
  /// parked.
  ///
  /// An object of a class gets the new status as well, so that parking it again keeps the status. A value cannot get it:
  /// parking the caller's copy again stores the copy's status.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if the object is not in the store,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)``, and as ``park(_:)-(T)``.
  public func setSyncStatus<T: Codable & Syncable>(_ status: SyncStatus, for object: T) throws {
    try setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects in the store: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  public func setSyncStatus<S: Sequence>(_ status: SyncStatus, for objects: S) throws
  where S.Element: Codable & Syncable {
    try setSyncStatus(status, forAny: objects.map { $0 })
  }

  /// Sets the sync status of an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` if it is not `Codable`; and as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  public func setSyncStatus(_ status: SyncStatus, for object: any Syncable) throws {
    try setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects of several types: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,Syncable)``.
  public func setSyncStatus(_ status: SyncStatus, for objects: [any Syncable]) throws {
    try setSyncStatus(status, forAny: objects)
  }

  /// Sets the sync status of a mapped object whose class is only known at run time.
  ///
  /// - Throws: ``GarageError/notSyncable(_:)`` if the class is not `Syncable`; and as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  @_disfavoredOverload
  public func setSyncStatus(_ status: SyncStatus, for object: any MappableObject) throws {
    try setSyncStatus(status, forAny: [syncable(object)])
  }

  /// Sets the sync status of mapped objects of several classes: of all of them, or of none if it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,MappableObject)``.
  @_disfavoredOverload
  public func setSyncStatus(_ status: SyncStatus, for objects: [any MappableObject]) throws {
    try setSyncStatus(status, forAny: objects.map { try syncable($0) })
  }

  private func setSyncStatus(_ status: SyncStatus, forAny objects: [any Syncable]) throws {
    let parked = try garage.encoding { encoder in try objects.map { try ParkedObject($0, encoder) } }
    if parked.isEmpty { return }
    try withByteAccess { try $0.setSyncStatus(status, of: parked) }
    for var object in objects where type(of: object) is AnyClass { object.syncStatus = status }
  }
}

/// Returns the mapped object as one that has a status; throws if its class has none.
func syncable(_ object: any MappableObject) throws -> any Syncable {
  guard let object = object as? any Syncable else {
    throw GarageError.notSyncable("\(type(of: object))")
  }
  return object
}

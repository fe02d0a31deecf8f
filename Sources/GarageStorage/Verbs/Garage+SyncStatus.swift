public import GarageCoding
internal import GarageDriver

extension GarageReading {
  /// All objects of this type with this sync status, in the order of their identifiers.
  ///
  /// Of a class, those of its subclasses too, which the garage has to know (`types:` when it is opened).
  /// Found by an index: other objects are not read. Objects that were parked before their type was `Syncable`
  /// have no status until they are parked again or given one.
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

  /// All objects of the type that the result is to have, with this sync status.
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
  /// - Throws: ``GarageError/unregisteredClass(tag:type:identifier:)`` where an object with this status has a type
  ///   that the garage was not told about: none is left out silently. Else as ``retrieveAll(_:)``.
  public func retrieveAll(withStatus status: SyncStatus) throws -> [any Syncable] {
    var objects: [any Syncable] = []
    try withRepeatableReadAccess { access in
      objects = []
      try access.visitAllObjects(withStatus: status) { objects.append($0) }
    }
    return objects
  }

  /// The sync status that the store has for an object; `.undetermined` where it was parked without one.
  ///
  /// It may be another one than the object's own: somebody may have set it since.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` where the object is not in the store,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)``, and as ``identifier(for:)``.
  public func syncStatus<T: Codable & Syncable>(for object: T) throws -> SyncStatus {
    try syncStatus(ofAny: object)
  }

  /// The sync status that the store has for an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` where it is not `Codable`; else as
  ///   ``syncStatus(for:)-(T)``.
  public func syncStatus(for object: any Syncable) throws -> SyncStatus {
    try syncStatus(ofAny: object)
  }

  /// The sync status that the store has for a mapped object whose class is only known at run time.
  ///
  /// - Throws: ``GarageError/notSyncable(_:)`` where the class is not `Syncable`; else as
  ///   ``syncStatus(for:)-(T)``.
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
  /// Sets the sync status of an object in the store. The object is neither encoded nor decoded for that: what
  /// it holds now is not parked.
  ///
  /// An object of a class gets the status as well, so that parking it again keeps it. A value cannot: parking
  /// the caller's copy again stores the status that it has.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` where the object is not in the store,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)``, and as ``park(_:)-(T)``.
  public func setSyncStatus<T: Codable & Syncable>(_ status: SyncStatus, for object: T) throws {
    try setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects in the store: of all of them, or of none where it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  public func setSyncStatus<S: Sequence>(_ status: SyncStatus, for objects: S) throws
  where S.Element: Codable & Syncable {
    try setSyncStatus(status, forAny: objects.map { $0 })
  }

  /// Sets the sync status of an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` where it is not `Codable`; else as
  ///   ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  public func setSyncStatus(_ status: SyncStatus, for object: any Syncable) throws {
    try setSyncStatus(status, forAny: [object])
  }

  /// Sets the sync status of objects of several types: of all of them, or of none where it throws.
  ///
  /// - Throws: as ``setSyncStatus(_:for:)-(SyncStatus,Syncable)``.
  public func setSyncStatus(_ status: SyncStatus, for objects: [any Syncable]) throws {
    try setSyncStatus(status, forAny: objects)
  }

  /// Sets the sync status of a mapped object whose class is only known at run time.
  ///
  /// - Throws: ``GarageError/notSyncable(_:)`` where the class is not `Syncable`; else as
  ///   ``setSyncStatus(_:for:)-(SyncStatus,T)``.
  @_disfavoredOverload
  public func setSyncStatus(_ status: SyncStatus, for object: any MappableObject) throws {
    try setSyncStatus(status, forAny: [syncable(object)])
  }

  /// Sets the sync status of mapped objects of several classes: of all of them, or of none where it throws.
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

/// A mapped object that has a status.
func syncable(_ object: any MappableObject) throws -> any Syncable {
  guard let object = object as? any Syncable else {
    throw GarageError.notSyncable("\(type(of: object))")
  }
  return object
}

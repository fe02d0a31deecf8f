internal import Foundation
internal import GarageSQLite
public import GarageStorage

// GarageStorage's other spellings. Most of its calls have the same name here; `Docs/MigratingFromGarageStorage.md`
// goes through them all.

/// A mapped object with a sync status.
public typealias SyncableObject = MappableObject & Syncable

extension Garage {
  /// A garage in a SQLite file of that name, where apps keep their data.
  ///
  /// - Throws: as `SQLiteStorage(named:)` and `Garage.init(_:types:userInfo:)`.
  public convenience init(named name: String, types: [any Codable.Type] = []) throws {
    try self.init(SQLiteStorage(named: name), types: types)
  }

  /// Deletes all objects of all types, and says to `completion`, on this thread, how that went.
  public func deleteAllObjects(completion: (Result<Void, any Error>) -> Void) {
    completion(Result { try deleteAllObjects() })
  }
}

extension GarageWriting {
  /// The same as `park(_:)`.
  public func parkObject<T: MappableObject>(_ object: T) throws { try park(any: object) }

  /// The same as `parkAll(_:)`: objects of one or several classes, in one write.
  public func parkObjects(_ objects: [any MappableObject]) throws { try parkAll(objects) }

  /// The same as `delete(_:)`.
  public func deleteObject<T: MappableObject>(_ object: T) throws { try delete(any: object) }

  /// The same as `deleteAll(_:)`.
  public func deleteAllObjects<T: MappableObject>(_ type: T.Type) throws { try deleteAll(type) }
}

extension GarageReading {
  /// The same as `retrieve(_:identifier:)`.
  public func retrieveObject<T: MappableObject>(_ type: T.Type, identifier: some Hashable) throws -> T? {
    try retrieve(type, identifier: identifier)
  }

  /// The same as `retrieveAll(_:)`.
  public func retrieveAllObjects<T: MappableObject>(_ type: T.Type) throws -> [T] { try retrieveAll(type) }

  /// The same as `retrieveAll(withStatus:)`: objects of all types that the garage was told about.
  public func retrieveObjects(withStatus status: SyncStatus) throws -> [any Syncable] {
    try retrieveAll(withStatus: status)
  }

  /// The same as `retrieveAll(_:withStatus:)`.
  public func retrieveObjects<T: SyncableObject>(withStatus status: SyncStatus, ofClass type: T.Type) throws
    -> [T]
  {
    try retrieveAll(type, withStatus: status)
  }
}

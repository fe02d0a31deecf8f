internal import Foundation
internal import GarageSQLite
public import GarageStorage

// Other spellings of GarageStorage. Most of its calls have the same name here; `Docs/MigratingFromGarageStorage.md` lists them
// all.

/// A mapped object with a sync status.
///
/// A class may name it alone, or beside `MappableObject`. A class that is `MappableObject & Syncable` does just as well: no
/// verb requires this protocol.
public protocol SyncableObject: MappableObject, Syncable {}

extension Garage {
  /// A garage in an SQLite file of that name, in the folder where apps keep their data: `NAME.garage` in Application Support on
  /// Apple systems, and in `$XDG_DATA_HOME` (`~/.local/share`) on others. (GarageStorage had `NAME.sqlite` in Documents.)
  ///
  /// - Parameter name: the name of a file, without a slash. To open a file in another folder, give its path:
  ///   `Garage(SQLiteStorage(at: url))`.
  /// - Throws: as `SQLiteStorage(named:)` and `Garage.init(_:types:userInfo:)`.
  public convenience init(named name: String, types: [any Codable.Type] = []) throws {
    try self.init(SQLiteStorage(named: name), types: types)
  }

  /// Deletes all objects of all types, and calls `completion` with the outcome on this thread.
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

  /// The mapped objects with this status, of all classes that the garage knows. `retrieveAll(withStatus:)` also returns objects
  /// of other types.
  public func retrieveObjects(withStatus status: SyncStatus) throws -> [any MappableObject & Syncable] {
    let objects: [any Syncable] = try retrieveAll(withStatus: status)
    return objects.compactMap { $0 as? any MappableObject & Syncable }
  }

  /// The same as `retrieveAll(_:withStatus:)`.
  public func retrieveObjects<T: MappableObject & Syncable>(
    withStatus status: SyncStatus, ofClass type: T.Type
  ) throws -> [T] {
    try retrieveAll(type, withStatus: status)
  }

  /// Does the same for a class that is not known to be `Syncable`. If it is not, no object has a status.
  @_disfavoredOverload
  public func retrieveObjects<T: MappableObject>(withStatus status: SyncStatus, ofClass type: T.Type) throws
    -> [T]
  {
    func objects<S: Codable & Syncable>(_ type: S.Type) throws -> [T] {
      try retrieveAll(type, withStatus: status).compactMap { $0 as? T }
    }
    guard let syncable = type as? any (Codable & Syncable).Type else { return [] }
    return try objects(syncable)
  }
}

public import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs for tasks, for code that takes `some GarageWriting`. Without these it would silently block the task.

extension GarageWriting {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func park<T: Codable & Identifiable>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.park(object) }
    return try inPlace { try self.park(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func park<T: Codable & Hashable>(_ value: T) async throws
  {
    if let garage = self as? Garage { return try await garage.park(value) }
    return try inPlace { try self.park(value) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func park<T: Codable & Hashable & Identifiable>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.park(object) }
    return try inPlace { try self.park(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element: Codable & Identifiable
  {
    if let garage = self as? Garage { return try await garage.parkAll(objects) }
    return try inPlace { try self.parkAll(objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ values: S) async throws where S.Element: Codable & Hashable
  {
    if let garage = self as? Garage { return try await garage.parkAll(values) }
    return try inPlace { try self.parkAll(values) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Hashable & Identifiable {
    if let garage = self as? Garage { return try await garage.parkAll(objects) }
    return try inPlace { try self.parkAll(objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func park(any object: Any) async throws
  {
    if let garage = self as? Garage { return try await garage.park(any: object) }
    return try inPlace { try self.park(any: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(any objects: S) async throws
  {
    if let garage = self as? Garage { return try await garage.parkAll(any: objects) }
    return try inPlace { try self.parkAll(any: objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func park<T: MappableObject>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.park(object) }
    return try inPlace { try self.park(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element: MappableObject
  {
    if let garage = self as? Garage { return try await garage.parkAll(objects) }
    return try inPlace { try self.parkAll(objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element == any MappableObject
  {
    if let garage = self as? Garage { return try await garage.parkAll(objects) }
    return try inPlace { try self.parkAll(objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(object) }
    return try inPlace { try self.delete(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable & Hashable>(_ value: T) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(value) }
    return try inPlace { try self.delete(value) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable & Hashable & Identifiable>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(object) }
    return try inPlace { try self.delete(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject>(_ object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(object) }
    return try inPlace { try self.delete(object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete(any object: Any) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(any: object) }
    return try inPlace { try self.delete(any: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable>(_ type: T.Type, identifier: Identifier) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func deleteAll<T: Codable>(_ type: T.Type) async throws
  {
    if let garage = self as? Garage { return try await garage.deleteAll(type) }
    return try inPlace { try self.deleteAll(type) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func deleteAllObjects() async throws
  {
    if let garage = self as? Garage { return try await garage.deleteAllObjects() }
    return try inPlace { try self.deleteAllObjects() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func setSyncStatus<T: Codable & Syncable>(_ status: SyncStatus, for object: T) async throws
  {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: object) }
    return try inPlace { try self.setSyncStatus(status, for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func setSyncStatus<S: Sequence>(_ status: SyncStatus, for objects: S) async throws
  where S.Element: Codable & Syncable {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: objects) }
    return try inPlace { try self.setSyncStatus(status, for: objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for object: any Syncable) async throws
  {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: object) }
    return try inPlace { try self.setSyncStatus(status, for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for objects: [any Syncable]) async throws
  {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: objects) }
    return try inPlace { try self.setSyncStatus(status, for: objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for object: any MappableObject) async throws
  {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: object) }
    return try inPlace { try self.setSyncStatus(status, for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func setSyncStatus(_ status: SyncStatus, for objects: [any MappableObject]) async throws
  {
    if let garage = self as? Garage { return try await garage.setSyncStatus(status, for: objects) }
    return try inPlace { try self.setSyncStatus(status, for: objects) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func set<K: KeyType>(_ key: K, value: K.ValueType) async throws where K.ValueType: Codable
  {
    if let garage = self as? Garage { return try await garage.set(key, value: value) }
    return try inPlace { try self.set(key, value: value) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @discardableResult
  nonisolated(nonsending)
    public func update<K: KeyType, R>(_ key: K, _ body: (inout K.ValueType) throws -> R) async throws -> R
  where K.ValueType: Codable {
    if let garage = self as? Garage { return try await garage.update(key, body) }
    return try inPlace { try self.update(key, body) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func remove<K: KeyType>(_ key: K) async throws where K.ValueType: Codable
  {
    if let garage = self as? Garage { return try await garage.remove(key) }
    return try inPlace { try self.remove(key) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func clear<N: Namespace>(_ namespace: N.Type) async throws
  {
    if let garage = self as? Garage { return try await garage.clear(namespace) }
    return try inPlace { try self.clear(namespace) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func clear() async throws
  {
    if let garage = self as? Garage { return try await garage.clear() }
    return try inPlace { try self.clear() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func migrate(_ migrations: [KeyMigration]) async throws
  {
    if let garage = self as? Garage { return try await garage.migrate(migrations) }
    return try inPlace { try self.migrate(migrations) }
  }
}

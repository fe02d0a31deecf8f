public import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs for tasks, for code that takes `some GarageReading`. Without these it would silently block the task.

extension GarageReading {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ reference: Reference<T>) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(reference) }
    return try inPlace { try self.retrieve(reference) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func contains<T: Codable>(_ type: T.Type, identifier: Identifier) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func count<T: Codable>(_ type: T.Type) async throws -> Int
  {
    if let garage = self as? Garage { return try await garage.count(type) }
    return try inPlace { try self.count(type) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func typeNames() async throws -> [String: Int]
  {
    if let garage = self as? Garage { return try await garage.typeNames() }
    return try inPlace { try self.typeNames() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable>(_ type: T.Type) async throws -> [T]
  {
    if let garage = self as? Garage { return try await garage.retrieveAll(type) }
    return try inPlace { try self.retrieveAll(type) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable>(_ type: T.Type, onError: (UnreadableObject) throws -> Void)
    async throws -> [T]
  {
    if let garage = self as? Garage { return try await garage.retrieveAll(type, onError: onError) }
    return try inPlace { try self.retrieveAll(type, onError: onError) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func forEach<T: Codable>(_ type: T.Type, _ body: (T) throws -> Void) async throws
  {
    if let garage = self as? Garage { return try await garage.forEach(type, body) }
    return try inPlace { try self.forEach(type, body) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func forEach<T: Codable>(
      _ type: T.Type, onError: (UnreadableObject) throws -> Void, _ body: (T) throws -> Void
    ) async throws
  {
    if let garage = self as? Garage { return try await garage.forEach(type, onError: onError, body) }
    return try inPlace { try self.forEach(type, onError: onError, body) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & Syncable>(_ type: T.Type, withStatus status: SyncStatus) async throws
    -> [T]
  {
    if let garage = self as? Garage { return try await garage.retrieveAll(type, withStatus: status) }
    return try inPlace { try self.retrieveAll(type, withStatus: status) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & Syncable>(withStatus status: SyncStatus) async throws -> [T]
  {
    if let garage = self as? Garage { return try await garage.retrieveAll(withStatus: status) }
    return try inPlace { try self.retrieveAll(withStatus: status) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveAll(withStatus status: SyncStatus) async throws -> [any Syncable]
  {
    if let garage = self as? Garage { return try await garage.retrieveAll(withStatus: status) }
    return try inPlace { try self.retrieveAll(withStatus: status) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func syncStatus<T: Codable & Syncable>(for object: T) async throws -> SyncStatus
  {
    if let garage = self as? Garage { return try await garage.syncStatus(for: object) }
    return try inPlace { try self.syncStatus(for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func syncStatus(for object: any Syncable) async throws -> SyncStatus
  {
    if let garage = self as? Garage { return try await garage.syncStatus(for: object) }
    return try inPlace { try self.syncStatus(for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func syncStatus(for object: any MappableObject) async throws -> SyncStatus
  {
    if let garage = self as? Garage { return try await garage.syncStatus(for: object) }
    return try inPlace { try self.syncStatus(for: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func get<K: KeyType>(_ key: K) async throws -> K.ValueType where K.ValueType: Codable
  {
    if let garage = self as? Garage { return try await garage.get(key) }
    return try inPlace { try self.get(key) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func contains<K: KeyType>(_ key: K) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(key) }
    return try inPlace { try self.contains(key) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedKeys<N: Namespace>(in namespace: N.Type) async throws -> [StoredKey]
  {
    if let garage = self as? Garage { return try await garage.storedKeys(in: namespace) }
    return try inPlace { try self.storedKeys(in: namespace) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedKeys() async throws -> [StoredKey]
  {
    if let garage = self as? Garage { return try await garage.storedKeys() }
    return try inPlace { try self.storedKeys() }
  }
}

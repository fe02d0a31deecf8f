public import GarageCoding

// For code that takes `some GarageReading` or `some GarageWriting`. Without these it would silently block the task.

extension GarageReading {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func referrers<T: Codable>(of object: T) async throws -> [RecordIdentity]
  {
    if let garage = self as? Garage { return try await garage.referrers(of: object) }
    return try inPlace { try self.referrers(of: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func referrers<T: Codable & Identifiable>(of type: T.Type, identifier: T.ID) async throws
    -> [RecordIdentity]
  {
    if let garage = self as? Garage { return try await garage.referrers(of: type, identifier: identifier) }
    return try inPlace { try self.referrers(of: type, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func referrers<T: Codable & Identifiable>(of reference: Reference<T>) async throws
    -> [RecordIdentity]
  {
    if let garage = self as? Garage { return try await garage.referrers(of: reference) }
    return try inPlace { try self.referrers(of: reference) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func referrers(of identity: RecordIdentity) async throws -> [RecordIdentity]
  {
    if let garage = self as? Garage { return try await garage.referrers(of: identity) }
    return try inPlace { try self.referrers(of: identity) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable>(_ type: R.Type, of object: T)
    async throws -> [R]
  {
    if let garage = self as? Garage { return try await garage.retrieveReferrers(type, of: object) }
    return try inPlace { try self.retrieveReferrers(type, of: object) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable, V: Codable>(
      _ type: R.Type, of object: T, by property: KeyPath<R, V>
    ) async throws -> [R]
  {
    if let garage = self as? Garage {
      return try await garage.retrieveReferrers(type, of: object, by: property)
    }
    return try inPlace { try self.retrieveReferrers(type, of: object, by: property) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable & Identifiable>(
      _ type: R.Type, of targetType: T.Type, identifier: T.ID
    ) async throws -> [R]
  {
    if let garage = self as? Garage {
      return try await garage.retrieveReferrers(type, of: targetType, identifier: identifier)
    }
    return try inPlace { try self.retrieveReferrers(type, of: targetType, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func retrieveReferrers<R: Codable & SendableMetatype, T: Codable & Identifiable, V: Codable>(
      _ type: R.Type, of targetType: T.Type, identifier: T.ID, by property: KeyPath<R, V>
    ) async throws -> [R]
  {
    if let garage = self as? Garage {
      return try await garage.retrieveReferrers(type, of: targetType, identifier: identifier, by: property)
    }
    return try inPlace {
      try self.retrieveReferrers(type, of: targetType, identifier: identifier, by: property)
    }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func explainReferrers() async throws -> QueryPlan
  {
    if let garage = self as? Garage { return try await garage.explainReferrers() }
    return try inPlace { try self.explainReferrers() }
  }
}

extension GarageWriting {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable>(_ object: T, referrers: ReferrersRule) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(object, referrers: referrers) }
    return try inPlace { try self.delete(object, referrers: referrers) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID, referrers: ReferrersRule)
    async throws
  {
    if let garage = self as? Garage {
      return try await garage.delete(type, identifier: identifier, referrers: referrers)
    }
    return try inPlace { try self.delete(type, identifier: identifier, referrers: referrers) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func delete<T: Codable>(_ type: T.Type, identifier: Identifier, referrers: ReferrersRule)
    async throws
  {
    if let garage = self as? Garage {
      return try await garage.delete(type, identifier: identifier, referrers: referrers)
    }
    return try inPlace { try self.delete(type, identifier: identifier, referrers: referrers) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @discardableResult
  nonisolated(nonsending)
    public func deleteGraph<T: Codable>(_ object: T, referrers: ReferrersRule? = nil) async throws -> Int
  {
    if let garage = self as? Garage { return try await garage.deleteGraph(object, referrers: referrers) }
    return try inPlace { try self.deleteGraph(object, referrers: referrers) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @discardableResult
  nonisolated(nonsending)
    public func deleteGraph<T: Codable & Identifiable>(
      _ type: T.Type, identifier: T.ID, referrers: ReferrersRule? = nil
    ) async throws -> Int
  {
    if let garage = self as? Garage {
      return try await garage.deleteGraph(type, identifier: identifier, referrers: referrers)
    }
    return try inPlace { try self.deleteGraph(type, identifier: identifier, referrers: referrers) }
  }
}

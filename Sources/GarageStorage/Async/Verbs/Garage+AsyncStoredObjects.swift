public import GarageCoding

// Reading a store without the Swift types of its objects, for tasks, on a thread of the library's.

extension Garage {
  /// One page of the identifiers of the objects that are kept under a type's name, in their order.
  ///
  /// - Throws: as ``GarageReading/identifiers(ofTypeNamed:after:limit:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func identifiers(ofTypeNamed name: String, after last: Identifier? = nil, limit: Int) async throws
    -> [Identifier]
  {
    try await leaving { _ in
      try inPlace { try self.identifiers(ofTypeNamed: name, after: last, limit: limit) }
    }
  }

  /// The object that is kept under a type's name with this identifier, as it is stored; nil if there is none.
  ///
  /// - Throws: as ``GarageReading/storedObject(ofTypeNamed:identifier:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func storedObject(ofTypeNamed name: String, identifier: Identifier) async throws -> StoredObject?
  {
    try await leaving { _ in try inPlace { try self.storedObject(ofTypeNamed: name, identifier: identifier) }
    }
  }

  /// The object that a reference in a ``StoredObject`` leads to, as it is stored; nil if there is none.
  ///
  /// - Throws: as ``GarageReading/storedObject(_:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func storedObject(_ identity: RecordIdentity) async throws -> StoredObject?
  {
    try await leaving { _ in try inPlace { try self.storedObject(identity) } }
  }

  /// The name of the type in an identity; nil if the store has none for it.
  ///
  /// - Throws: as ``GarageReading/typeName(of:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func typeName(of identity: RecordIdentity) async throws -> String?
  {
    try await leaving { _ in try inPlace { try self.typeName(of: identity) } }
  }

  /// The values of all typed keys, in the order of their keys, as they are stored.
  ///
  /// - Throws: as ``GarageReading/storedKeyValues()``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func storedKeyValues() async throws -> [StoredKeyValue]
  {
    try await leaving { _ in try inPlace { try self.storedKeyValues() } }
  }

  /// The types that the store has objects of, in the order of their names.
  ///
  /// - Throws: as ``GarageReading/storedTypes()``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func storedTypes() async throws -> [StoredType]
  {
    try await leaving { _ in try inPlace { try self.storedTypes() } }
  }

  /// How many typed keys have a value.
  ///
  /// - Throws: as ``GarageReading/storedKeyCount()``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func storedKeyCount() async throws -> Int
  {
    try await leaving { _ in try inPlace { try self.storedKeyCount() } }
  }

  /// The identifier that people write as this text, of an object that is kept under a type's name; nil if there is no such
  /// object.
  ///
  /// - Throws: as ``GarageReading/identifier(describedAs:ofTypeNamed:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func identifier(describedAs text: String, ofTypeNamed name: String) async throws -> Identifier?
  {
    try await leaving { _ in try inPlace { try self.identifier(describedAs: text, ofTypeNamed: name) } }
  }

  /// The identity of the object that is kept under a type's name, with the identifier that people write as this text; nil if
  /// there is no such object.
  ///
  /// - Throws: as ``GarageReading/identity(describedAs:ofTypeNamed:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func identity(describedAs text: String, ofTypeNamed name: String) async throws -> RecordIdentity?
  {
    try await leaving { _ in try inPlace { try self.identity(describedAs: text, ofTypeNamed: name) } }
  }

  /// Changes the content of an object, as it is stored, without its Swift type.
  ///
  /// - Throws: as ``GarageWriting/changeStoredObject(ofTypeNamed:identifier:_:)``, and `CancellationError` if the task was
  ///   cancelled before anybody had begun with it.
  nonisolated(nonsending)
    public func changeStoredObject(
      ofTypeNamed name: String, identifier: Identifier,
      _ change: @escaping @Sendable (inout RecordValue) throws -> Void
    ) async throws
  {
    try await submit { try $0.changeStoredObject(name, identifier, change) }
  }

  /// Deletes an object without its Swift type. The objects that it refers to stay, and so do the objects that refer to it.
  ///
  /// - Throws: as ``GarageWriting/deleteStoredObject(ofTypeNamed:identifier:)``, and `CancellationError` if the task was
  ///   cancelled before anybody had begun with it.
  nonisolated(nonsending)
    public func deleteStoredObject(ofTypeNamed name: String, identifier: Identifier) async throws
  {
    try await submit { try $0.deleteStoredObject(name, identifier) }
  }
}

// The same verbs for code that takes `some GarageReading`. Without these it would silently block the task.
extension GarageReading {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func identifiers(ofTypeNamed name: String, after last: Identifier? = nil, limit: Int) async throws
    -> [Identifier]
  {
    if let garage = self as? Garage {
      return try await garage.identifiers(ofTypeNamed: name, after: last, limit: limit)
    }
    return try inPlace { try self.identifiers(ofTypeNamed: name, after: last, limit: limit) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedObject(ofTypeNamed name: String, identifier: Identifier) async throws -> StoredObject?
  {
    if let garage = self as? Garage {
      return try await garage.storedObject(ofTypeNamed: name, identifier: identifier)
    }
    return try inPlace { try self.storedObject(ofTypeNamed: name, identifier: identifier) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedObject(_ identity: RecordIdentity) async throws -> StoredObject?
  {
    if let garage = self as? Garage { return try await garage.storedObject(identity) }
    return try inPlace { try self.storedObject(identity) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func typeName(of identity: RecordIdentity) async throws -> String?
  {
    if let garage = self as? Garage { return try await garage.typeName(of: identity) }
    return try inPlace { try self.typeName(of: identity) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedKeyValues() async throws -> [StoredKeyValue]
  {
    if let garage = self as? Garage { return try await garage.storedKeyValues() }
    return try inPlace { try self.storedKeyValues() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedTypes() async throws -> [StoredType]
  {
    if let garage = self as? Garage { return try await garage.storedTypes() }
    return try inPlace { try self.storedTypes() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func storedKeyCount() async throws -> Int
  {
    if let garage = self as? Garage { return try await garage.storedKeyCount() }
    return try inPlace { try self.storedKeyCount() }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func identifier(describedAs text: String, ofTypeNamed name: String) async throws -> Identifier?
  {
    if let garage = self as? Garage {
      return try await garage.identifier(describedAs: text, ofTypeNamed: name)
    }
    return try inPlace { try self.identifier(describedAs: text, ofTypeNamed: name) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func identity(describedAs text: String, ofTypeNamed name: String) async throws -> RecordIdentity?
  {
    if let garage = self as? Garage { return try await garage.identity(describedAs: text, ofTypeNamed: name) }
    return try inPlace { try self.identity(describedAs: text, ofTypeNamed: name) }
  }
}

extension GarageWriting {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func changeStoredObject(
      ofTypeNamed name: String, identifier: Identifier,
      _ change: @escaping @Sendable (inout RecordValue) throws -> Void
    ) async throws
  {
    if let garage = self as? Garage {
      return try await garage.changeStoredObject(ofTypeNamed: name, identifier: identifier, change)
    }
    return try inPlace { try self.changeStoredObject(ofTypeNamed: name, identifier: identifier, change) }
  }

  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  nonisolated(nonsending)
    public func deleteStoredObject(ofTypeNamed name: String, identifier: Identifier) async throws
  {
    if let garage = self as? Garage {
      return try await garage.deleteStoredObject(ofTypeNamed: name, identifier: identifier)
    }
    return try inPlace { try self.deleteStoredObject(ofTypeNamed: name, identifier: identifier) }
  }
}

public import GarageCoding

// Looking into a store without the Swift types of what is in it, for tasks: on a thread of the library's.

extension Garage {
  /// The identifiers of the objects that are kept under a type's name, in their order, a page of them.
  ///
  /// - Throws: as ``GarageReading/identifiers(ofTypeNamed:after:limit:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func identifiers(ofTypeNamed name: String, after last: Identifier? = nil, limit: Int) async throws
    -> [Identifier]
  {
    try await leaving { _ in
      try inPlace { try self.identifiers(ofTypeNamed: name, after: last, limit: limit) }
    }
  }

  /// The object that is kept under a type's name with this identifier, as the store has it; nil where there is none.
  ///
  /// - Throws: as ``GarageReading/storedObject(ofTypeNamed:identifier:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func storedObject(ofTypeNamed name: String, identifier: Identifier) async throws -> StoredObject?
  {
    try await leaving { _ in try inPlace { try self.storedObject(ofTypeNamed: name, identifier: identifier) }
    }
  }

  /// The object that a reference in a ``StoredObject`` leads to, as the store has it; nil where there is none.
  ///
  /// - Throws: as ``GarageReading/storedObject(_:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func storedObject(_ identity: RecordIdentity) async throws -> StoredObject?
  {
    try await leaving { _ in try inPlace { try self.storedObject(identity) } }
  }

  /// The name of the type that an identity names; nil where the store has none for it.
  ///
  /// - Throws: as ``GarageReading/typeName(of:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func typeName(of identity: RecordIdentity) async throws -> String?
  {
    try await leaving { _ in try inPlace { try self.typeName(of: identity) } }
  }

  /// The values of all typed keys, in the order of their keys, as the store has them.
  ///
  /// - Throws: as ``GarageReading/storedKeyValues()``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func storedKeyValues() async throws -> [StoredKeyValue]
  {
    try await leaving { _ in try inPlace { try self.storedKeyValues() } }
  }

  /// The types that there are objects of, in the order of their names.
  ///
  /// - Throws: as ``GarageReading/storedTypes()``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func storedTypes() async throws -> [StoredType]
  {
    try await leaving { _ in try inPlace { try self.storedTypes() } }
  }

  /// How many typed keys have a value.
  ///
  /// - Throws: as ``GarageReading/storedKeyCount()``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func storedKeyCount() async throws -> Int
  {
    try await leaving { _ in try inPlace { try self.storedKeyCount() } }
  }

  /// The identifier that people write as this text, of an object that is kept under a type's name; nil where there is no
  /// such object.
  ///
  /// - Throws: as ``GarageReading/identifier(describedAs:ofTypeNamed:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func identifier(describedAs text: String, ofTypeNamed name: String) async throws -> Identifier?
  {
    try await leaving { _ in try inPlace { try self.identifier(describedAs: text, ofTypeNamed: name) } }
  }

  /// The identity of the object that is kept under a type's name, with the identifier that people write as this text; nil
  /// where there is no such object.
  ///
  /// - Throws: as ``GarageReading/identity(describedAs:ofTypeNamed:)``, and `CancellationError` where the task was cancelled.
  nonisolated(nonsending)
    public func identity(describedAs text: String, ofTypeNamed name: String) async throws -> RecordIdentity?
  {
    try await leaving { _ in try inPlace { try self.identity(describedAs: text, ofTypeNamed: name) } }
  }

  /// Changes what an object holds, as the store has it, without its Swift type.
  ///
  /// - Throws: as ``GarageWriting/changeStoredObject(ofTypeNamed:identifier:_:)``, and `CancellationError` where the task was
  ///   cancelled before anybody had begun with it.
  nonisolated(nonsending)
    public func changeStoredObject(
      ofTypeNamed name: String, identifier: Identifier,
      _ change: @escaping @Sendable (inout RecordValue) throws -> Void
    ) async throws
  {
    try await submit { try $0.changeStoredObject(name, identifier, change) }
  }

  /// Deletes an object without its Swift type. What it refers to stays, and so do those who refer to it.
  ///
  /// - Throws: as ``GarageWriting/deleteStoredObject(ofTypeNamed:identifier:)``, and `CancellationError` where the task was
  ///   cancelled before anybody had begun with it.
  nonisolated(nonsending)
    public func deleteStoredObject(ofTypeNamed name: String, identifier: Identifier) async throws
  {
    try await submit { try $0.deleteStoredObject(name, identifier) }
  }
}

// The same for code that takes `some GarageReading`: without these it would wait in place, without a word.
extension GarageReading {
  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func identifiers(ofTypeNamed name: String, after last: Identifier? = nil, limit: Int) async throws
    -> [Identifier]
  {
    if let garage = self as? Garage {
      return try await garage.identifiers(ofTypeNamed: name, after: last, limit: limit)
    }
    return try inPlace { try self.identifiers(ofTypeNamed: name, after: last, limit: limit) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func storedObject(ofTypeNamed name: String, identifier: Identifier) async throws -> StoredObject?
  {
    if let garage = self as? Garage {
      return try await garage.storedObject(ofTypeNamed: name, identifier: identifier)
    }
    return try inPlace { try self.storedObject(ofTypeNamed: name, identifier: identifier) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func storedObject(_ identity: RecordIdentity) async throws -> StoredObject?
  {
    if let garage = self as? Garage { return try await garage.storedObject(identity) }
    return try inPlace { try self.storedObject(identity) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func typeName(of identity: RecordIdentity) async throws -> String?
  {
    if let garage = self as? Garage { return try await garage.typeName(of: identity) }
    return try inPlace { try self.typeName(of: identity) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func storedKeyValues() async throws -> [StoredKeyValue]
  {
    if let garage = self as? Garage { return try await garage.storedKeyValues() }
    return try inPlace { try self.storedKeyValues() }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func storedTypes() async throws -> [StoredType]
  {
    if let garage = self as? Garage { return try await garage.storedTypes() }
    return try inPlace { try self.storedTypes() }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func storedKeyCount() async throws -> Int
  {
    if let garage = self as? Garage { return try await garage.storedKeyCount() }
    return try inPlace { try self.storedKeyCount() }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func identifier(describedAs text: String, ofTypeNamed name: String) async throws -> Identifier?
  {
    if let garage = self as? Garage {
      return try await garage.identifier(describedAs: text, ofTypeNamed: name)
    }
    return try inPlace { try self.identifier(describedAs: text, ofTypeNamed: name) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func identity(describedAs text: String, ofTypeNamed name: String) async throws -> RecordIdentity?
  {
    if let garage = self as? Garage { return try await garage.identity(describedAs: text, ofTypeNamed: name) }
    return try inPlace { try self.identity(describedAs: text, ofTypeNamed: name) }
  }
}

extension GarageWriting {
  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
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

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  nonisolated(nonsending)
    public func deleteStoredObject(ofTypeNamed name: String, identifier: Identifier) async throws
  {
    if let garage = self as? Garage {
      return try await garage.deleteStoredObject(ofTypeNamed: name, identifier: identifier)
    }
    return try inPlace { try self.deleteStoredObject(ofTypeNamed: name, identifier: identifier) }
  }
}

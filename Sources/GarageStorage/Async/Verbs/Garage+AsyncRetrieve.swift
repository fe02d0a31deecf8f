public import GarageCoding
internal import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Retrieving one object, for tasks. There are two verbs of each kind: one for types that belong to no actor, whose objects may
// be decoded anywhere, and one for all types, whose objects are decoded where the caller is.

extension Garage {
  /// The object of this type with this identifier, with everything it refers to; nil if there is none.
  ///
  /// The object is decoded where the caller is. If it refers to others, all are first fetched on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieve(_:identifier:)-(T.Type,T.ID)``, and `CancellationError` if the task was cancelled.
  @inlinable
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws -> T?
  {
    // Inlined, as the verb that is not async.
    var object: T?
    if try lone({ try $0.visitLoneObject(type, id: identifier) { object = $0 } }) { return object }
    return try await retrieveFetched(type, identifier)
  }

  /// Does the same if the record has to be fetched on a thread of the library's.
  @usableFromInline
  nonisolated(nonsending)
    func retrieveFetched<T: Codable & Identifiable>(_ type: T.Type, _ id: T.ID) async throws -> T?
  {
    try await readingFetched { access in
      var object: T?
      try access.visitObject(type, id: id) { object = $0 }
      return object
    }
  }

  /// The object of this type with this identifier, with everything it refers to; nil if there is none.
  ///
  /// An object that refers to others is decoded on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieve(_:identifier:)-(T.Type,T.ID)``, and `CancellationError` if the task was cancelled.
  @inlinable
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable & SendableMetatype>(
      _ type: T.Type, identifier: T.ID
    ) async throws -> sending T?
  {
    // Nobody else uses it.
    nonisolated(unsafe) var object: T?
    if try lone({ try $0.visitLoneObject(type, id: identifier) { object = $0 } }) { return object }
    return try await retrieveElsewhere(type, identifier)
  }

  /// Does the same on a thread of the library's.
  @usableFromInline
  nonisolated(nonsending)
    func retrieveElsewhere<T: Codable & Identifiable & SendableMetatype>(
      _ type: T.Type, _ id: T.ID
    ) async throws -> sending T?
  {
    let identifier = try encoding { _ in try self.identifier(of: type, id) }
    return try await reading { access, _ in try access.object(type, identifier) }
  }

  /// The object of this type with an identifier from ``GarageReading/identifier(for:)``; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) async throws -> T?
  {
    var object: T?
    if try lone({ try $0.visitObject(type, identifier, onlyLone: true) { object = $0 } }) { return object }
    return try await readingFetched { try $0.object(type, identifier) }
  }

  /// The object of this type with an identifier from ``GarageReading/identifier(for:)``; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func retrieve<T: Codable & SendableMetatype>(
      _ type: T.Type, identifier: Identifier
    ) async throws -> sending T?
  {
    // Nobody else uses it.
    nonisolated(unsafe) var object: T?
    if try lone({ try $0.visitObject(type, identifier, onlyLone: true) { object = $0 } }) { return object }
    return try await reading { access, _ in try access.object(type, identifier) }
  }

  /// The object that a reference names; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ reference: Reference<T>) async throws -> T?
  {
    try await readingFetched { try $0.object(of: reference) }
  }

  /// The object that a reference names; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable & SendableMetatype>(
      _ reference: Reference<T>
    ) async throws -> sending T?
  {
    try await reading { access, _ in try access.object(of: reference) }
  }

  /// The object of this type whose identifier has this text; nil if there is none.
  ///
  /// - Throws: as ``GarageReading/retrieve(_:identifier:)-(T.Type,LosslessStringConvertible)`` and
  ///   ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> T?
  {
    try await retrieve(type, identifier: converted(identifier, for: type))
  }

  /// The object of this type whose identifier is this UUID, or its text; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws -> T?
  {
    try await retrieve(type, identifier: converted(identifier, for: type))
  }

  /// The mapped object of this class with this value of its identifying attribute; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``, and ``GarageError/invalidMapping(type:reason:)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws -> T?
  {
    try await retrieve(type, identifier: converted(identifier, for: type))
  }

  // MARK: Without decoding

  /// Whether there is an object of this type with this identifier.
  ///
  /// - Throws: as ``GarageReading/contains(_:identifier:)-(T.Type,T.ID)``, and `CancellationError`.
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws -> Bool
  {
    try await readingHere { try $0.storageKey(of: type, $0.identifier(of: type, identifier)) != nil }
  }

  /// Whether there is an object of this type with an identifier from ``GarageReading/identifier(for:)``.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func contains<T: Codable>(_ type: T.Type, identifier: Identifier) async throws -> Bool
  {
    try await readingHere { try $0.storageKey(of: type, identifier) != nil }
  }

  /// Whether there is an object of this type whose identifier has this text.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> Bool
  {
    try await contains(type, identifier: converted(identifier, for: type))
  }

  /// Whether there is an object of this type whose identifier is this UUID, or its text.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws -> Bool
  {
    try await contains(type, identifier: converted(identifier, for: type))
  }

  /// Whether there is a mapped object of this class with this value of its identifying attribute.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws -> Bool
  {
    try await contains(type, identifier: converted(identifier, for: type))
  }

  /// The number of objects of this type. Takes time in proportion to that number.
  ///
  /// - Throws: as ``GarageReading/count(_:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func count<T: Codable>(_ type: T.Type) async throws -> Int
  {
    try translatingErrors { _ = try RecordTypeFacts.of(type) }
    return try await reading { access, _ in try access.count(type) }
  }

  /// The names under which objects are parked in the store, with the number of objects under each.
  ///
  /// - Throws: as ``GarageReading/typeNames()``, and `CancellationError`.
  nonisolated(nonsending)
    public func typeNames() async throws -> [String: Int]
  {
    try await leaving { _ in try inPlace { try self.typeNames() } }
  }

  // MARK: Objects that refer to nothing

  /// Decodes an object in the task, if its record refers to no other and the storage never makes it wait. Returns false if it
  /// has to be read on a thread of the library's.
  ///
  /// It is not generic: the runtime would look up an optional of the type each time.
  @usableFromInline
  func lone(_ visit: (ReadAccess) throws -> Void) throws -> Bool {
    if Task.isCancelled { throw CancellationError() }
    if store.roundTripsAreExpensive { return false }
    do { try withReadAccess(visit) } catch is RefersToOthers { return false }
    return true
  }
}

/// Thrown if an object that was to be read alone refers to others.
struct RefersToOthers: Error {}

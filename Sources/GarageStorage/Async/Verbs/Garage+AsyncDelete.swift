public import GarageCoding
internal import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Deleting for tasks.

extension Garage {
  /// Deletes the record of an object. The objects that it refers to stay.
  ///
  /// - Throws: as ``GarageWriting/delete(_:)-(T)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ object: T) async throws
  {
    try await delete(any: object)
  }

  /// Deletes the record of a value that is identified by its content.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  nonisolated(nonsending)
    public func delete<T: Codable & Hashable>(_ value: T) async throws
  {
    try await delete(any: value)
  }

  /// Deletes the record of an object. The objects that it refers to stay.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  nonisolated(nonsending)
    public func delete<T: Codable & Hashable & Identifiable>(_ object: T) async throws
  {
    try await delete(any: object)
  }

  /// Deletes the record of a mapped object. The objects that it refers to stay.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject>(_ object: T) async throws
  {
    try await delete(any: object)
  }

  /// Deletes the record of an object whose type is only known at run time.
  ///
  /// - Throws: as ``GarageWriting/delete(any:)`` and ``delete(_:)-(T)``.
  nonisolated(nonsending)
    public func delete(any object: Any) async throws
  {
    let parked = try encoding { try ParkedObject(object, $0) }
    if followsDeleteRules(parked.facts) {
      _ = try await delete(DeletionRequest(parked))
    } else {
      try await submitBytes { try $0.delete(parked) }
    }
  }

  /// Deletes the record of the object of this type with this identifier. The objects that it refers to stay.
  ///
  /// - Throws: as ``GarageWriting/delete(_:identifier:)-(T.Type,T.ID)``, and as ``delete(_:)-(T)``.
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) async throws
  {
    let identifier = try encoding { _ in try self.identifier(of: type, identifier) }
    try await delete(type, identifier: identifier)
  }

  /// Deletes the record of the object with an identifier from ``GarageReading/identifier(for:)``.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  nonisolated(nonsending)
    public func delete<T: Codable>(_ type: T.Type, identifier: Identifier) async throws
  {
    // What has to be asked of the type is asked in the task.
    if try followsDeleteRules(type) {
      _ = try await delete(DeletionRequest(type, identifier))
      return
    }
    try await submitBytes { try $0.delete(type, identifier) }
  }

  /// Deletes the record of the object of this type whose identifier has this text.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws
  {
    try await delete(type, identifier: converted(identifier, for: type))
  }

  /// Deletes the record of the object of this type whose identifier is this UUID, or its text.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) async throws
  {
    try await delete(type, identifier: converted(identifier, for: type))
  }

  /// Deletes the record of the mapped object with this value of its identifying attribute.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject>(_ type: T.Type, identifier: some Hashable) async throws
  {
    try await delete(type, identifier: converted(identifier, for: type))
  }

  /// Deletes all objects of this type. For a class it also deletes those of its subclasses.
  ///
  /// - Throws: as ``GarageWriting/deleteAll(_:)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func deleteAll<T: Codable>(_ type: T.Type) async throws
  {
    if try followsDeleteRules(type) { try await prepareReferrerIndexElsewhere() }
    try await submit { try $0.deleteAll(type) }
  }

  /// Deletes all objects of all types.
  ///
  /// - Throws: as ``GarageWriting/deleteAllObjects()``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func deleteAllObjects() async throws
  {
    try await submit { try $0.deleteAllObjects() }
  }

  /// The identifier that another value stands for.
  func converted<T: Codable>(_ identifier: some Hashable, for type: T.Type) throws -> Identifier {
    try encoding { _ in try TypeDescription.identity(of: type, converting: identifier).identifier }
  }
}

internal import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs for tasks again, for mapped classes that are Identifiable as well: their identifying attribute need not be
// what `id` is, and the compiler could not tell which of two verbs is meant.

extension Garage {
  /// The same, where the class is Identifiable by something else.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> T?
  {
    try await retrieve(type, identifier: converted(identifier, for: type))
  }

  /// The same, for a UUID.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws -> T?
  {
    try await retrieve(type, identifier: converted(identifier, for: type))
  }

  /// The same, where the class is Identifiable by something else.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> Bool
  {
    try await contains(type, identifier: converted(identifier, for: type))
  }

  /// The same, for a UUID.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws -> Bool
  {
    try await contains(type, identifier: converted(identifier, for: type))
  }

  /// The same, where the class is Identifiable by something else.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws
  {
    try await delete(type, identifier: converted(identifier, for: type))
  }

  /// The same, for a UUID.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws
  {
    try await delete(type, identifier: converted(identifier, for: type))
  }
}

extension GarageReading {
  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws -> T?
  {
    if let garage = self as? Garage { return try await garage.retrieve(type, identifier: identifier) }
    return try inPlace { try self.retrieve(type, identifier: identifier) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func contains<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }
}

extension GarageWriting {
  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
    ) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }

  /// As the verb of ``Garage``; inside a transaction at once.
  ///
  /// - Throws: as there.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }
}

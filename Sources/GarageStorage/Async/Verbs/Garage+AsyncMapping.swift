internal import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs for tasks once more, for mapped classes that are also Identifiable. Their identifying attribute may differ from
// their `id`, and without these the compiler could not tell which of two verbs is meant.

extension Garage {
  /// Does the same if the class is Identifiable by something else.
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

  /// Does the same for a UUID.
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

  /// Does the same if the class is Identifiable by something else.
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

  /// Does the same for a UUID.
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

  /// Does the same if the class is Identifiable by something else.
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

  /// Does the same for a UUID.
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
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func retrieve<T: MappableObject & Identifiable>(
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
    public func retrieve<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
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
    public func contains<T: MappableObject & Identifiable>(
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
    public func contains<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws -> Bool
  {
    if let garage = self as? Garage { return try await garage.contains(type, identifier: identifier) }
    return try inPlace { try self.contains(type, identifier: identifier) }
  }
}

extension GarageWriting {
  /// Does as the verb of ``Garage``. Inside a transaction it runs at once, without waiting for a thread.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func delete<T: MappableObject & Identifiable>(
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
    public func delete<T: MappableObject & Identifiable>(
      _ type: T.Type, identifier: UUID
    ) async throws
  {
    if let garage = self as? Garage { return try await garage.delete(type, identifier: identifier) }
    return try inPlace { try self.delete(type, identifier: identifier) }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageCoding

// The verbs for mapped objects. The verbs that take a type and no identifier are the same for all types. For a mapped class
// that is also Identifiable or Hashable the compiler takes the other verbs, which do the same.

extension GarageWriting {
  /// Parks a mapped object and everything it refers to: under its identifying attribute, or by its content.
  ///
  /// - Throws: ``GarageError/invalidMapping(type:reason:)``,
  ///   ``GarageError/emptyIdentifyingAttribute(type:attribute:)``; else as ``park(_:)-(T)``.
  @_disfavoredOverload
  public func park<T: MappableObject>(_ object: T) throws {
    try park(any: object)
  }

  /// Parks mapped objects and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)`` of a mapped object.
  @_disfavoredOverload
  public func parkAll<S: Sequence>(_ objects: S) throws where S.Element: MappableObject {
    try parkAll(any: objects)
  }

  /// Parks mapped objects of several classes and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)`` of a mapped object.
  public func parkAll<S: Sequence>(_ objects: S) throws where S.Element == any MappableObject {
    try parkAll(any: objects)
  }

  /// Deletes the record of a mapped object. The objects that it refers to stay.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  @_disfavoredOverload
  public func delete<T: MappableObject>(_ object: T) throws {
    try delete(any: object)
  }

  /// Deletes the record of the mapped object with this value of its identifying attribute.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func delete<T: MappableObject>(_ type: T.Type, identifier: some Hashable) throws {
    try withWriteAccess {
      try $0.delete(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }

  /// Does the same if the class is Identifiable by something else.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func delete<T: MappableObject & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws {
    try withWriteAccess {
      try $0.delete(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }

  /// Does the same for a UUID.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func delete<T: MappableObject & Identifiable>(_ type: T.Type, identifier: UUID) throws {
    try withWriteAccess {
      try $0.delete(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }
}

extension GarageReading {
  /// The mapped object of this class with this value of its identifying attribute; nil if there is none.
  ///
  /// An anonymous object is found by the identifier that ``identifier(for:)`` gives for it.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``, and ``GarageError/invalidMapping(type:reason:)``.
  @_disfavoredOverload
  public func retrieve<T: MappableObject>(_ type: T.Type, identifier: some Hashable) throws -> T? {
    try withRepeatableReadAccess {
      try $0.object(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }

  /// Does the same if the class is Identifiable by something else.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func retrieve<T: MappableObject & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> T? {
    try withRepeatableReadAccess {
      try $0.object(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }

  /// Does the same for a UUID.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func retrieve<T: MappableObject & Identifiable>(_ type: T.Type, identifier: UUID) throws -> T? {
    try withRepeatableReadAccess {
      try $0.object(type, TypeDescription.identity(of: type, converting: identifier).identifier)
    }
  }

  /// Whether there is a mapped object of this class with this value of its identifying attribute.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func contains<T: MappableObject>(_ type: T.Type, identifier: some Hashable) throws -> Bool {
    try withRepeatableReadAccess {
      try $0.storageKey(of: type, TypeDescription.identity(of: type, converting: identifier).identifier)
        != nil
    }
  }

  /// Does the same if the class is Identifiable by something else.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func contains<T: MappableObject & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> Bool {
    try withRepeatableReadAccess {
      try $0.storageKey(of: type, TypeDescription.identity(of: type, converting: identifier).identifier)
        != nil
    }
  }

  /// Does the same for a UUID.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func contains<T: MappableObject & Identifiable>(_ type: T.Type, identifier: UUID) throws -> Bool {
    try withRepeatableReadAccess {
      try $0.storageKey(of: type, TypeDescription.identity(of: type, converting: identifier).identifier)
        != nil
    }
  }
}

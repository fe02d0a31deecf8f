public import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs that return objects or take them, for closures that run on another thread than their caller. A returned object
// belongs to the closure alone, so the closure may return it. The compiler also refuses types that belong to an actor, which it
// would accept in a verb of a protocol.

extension GarageReader {
  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,T.ID)``.
  ///
  /// - Throws: as that verb.
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,Identifier)``.
  ///
  /// - Throws: as that verb.
  public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:)``.
  ///
  /// - Throws: as that verb.
  public func retrieve<T: Codable & Identifiable>(_ reference: Reference<T>) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(reference))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,LosslessStringConvertible)``.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  public func retrieve<T: Codable & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,UUID)``.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,Hashable)``.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  public func retrieve<T: MappableObject>(_ type: T.Type, identifier: some Hashable) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,LosslessStringConvertible)``.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  public func retrieve<T: MappableObject & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> sending T? {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieve(_:identifier:)-(T.Type,UUID)``.
  ///
  /// - Throws: as that verb.
  @_disfavoredOverload
  public func retrieve<T: MappableObject & Identifiable>(_ type: T.Type, identifier: UUID) throws
    -> sending T?
  {
    let result: Carried<T?> = Carried(try reading(self).retrieve(type, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieveAll(_:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveAll<T: Codable>(_ type: T.Type) throws -> sending [T] {
    let result: Carried<[T]> = Carried(try reading(self).retrieveAll(type))
    return result.value
  }

  /// Does as ``GarageReading/retrieveAll(_:onError:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveAll<T: Codable>(_ type: T.Type, onError: (UnreadableObject) throws -> Void) throws
    -> sending [T]
  {
    let result: Carried<[T]> = Carried(try reading(self).retrieveAll(type, onError: onError))
    return result.value
  }

  /// Does as ``GarageReading/retrieveAll(_:withStatus:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveAll<T: Codable & Syncable>(_ type: T.Type, withStatus status: SyncStatus) throws
    -> sending [T]
  {
    let result: Carried<[T]> = Carried(try reading(self).retrieveAll(type, withStatus: status))
    return result.value
  }

  /// Does as ``GarageReading/retrieveAll(withStatus:)-[T]``.
  ///
  /// - Throws: as that verb.
  public func retrieveAll<T: Codable & Syncable>(withStatus status: SyncStatus) throws -> sending [T] {
    let result: Carried<[T]> = Carried(try reading(self).retrieveAll(withStatus: status))
    return result.value
  }

  /// Does as ``GarageReading/forEach(_:_:)``.
  ///
  /// - Throws: as that verb.
  public func forEach<T: Codable>(_ type: T.Type, _ body: (T) throws -> Void) throws {
    try reading(self).forEach(type, body)
  }

  /// Does as ``GarageReading/forEach(_:onError:_:)``.
  ///
  /// - Throws: as that verb.
  public func forEach<T: Codable>(
    _ type: T.Type, onError: (UnreadableObject) throws -> Void, _ body: (T) throws -> Void
  ) throws {
    try reading(self).forEach(type, onError: onError, body)
  }

  /// Does as ``GarageReading/contains(_:identifier:)-(T.Type,T.ID)``.
  ///
  /// - Throws: as that verb.
  public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> Bool {
    try reading(self).contains(type, identifier: identifier)
  }

  /// Does as ``GarageReading/contains(_:identifier:)-(T.Type,Identifier)``.
  ///
  /// - Throws: as that verb.
  public func contains<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> Bool {
    try reading(self).contains(type, identifier: identifier)
  }

  /// Does as ``GarageReading/count(_:)``.
  ///
  /// - Throws: as that verb.
  public func count<T: Codable>(_ type: T.Type) throws -> Int {
    try reading(self).count(type)
  }

  /// Does as ``GarageReading/referrers(of:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func referrers<T: Codable>(of object: T) throws -> [RecordIdentity] {
    try reading(self).referrers(of: object)
  }

  /// Does as ``GarageReading/referrers(of:identifier:)``.
  ///
  /// - Throws: as that verb.
  public func referrers<T: Codable & Identifiable>(
    of type: T.Type, identifier: T.ID
  ) throws -> [RecordIdentity] {
    try reading(self).referrers(of: type, identifier: identifier)
  }

  /// Does as ``GarageReading/retrieveReferrers(_:of:)-(_,T)``.
  ///
  /// - Throws: as that verb.
  public func retrieveReferrers<R: Codable, T: Codable>(_ type: R.Type, of object: T) throws -> sending [R] {
    let result: Carried<[R]> = Carried(try reading(self).retrieveReferrers(type, of: object))
    return result.value
  }

  /// Does as ``GarageReading/retrieveReferrers(_:of:by:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveReferrers<R: Codable, T: Codable, V: Codable>(
    _ type: R.Type, of object: T, by property: KeyPath<R, V>
  ) throws -> sending [R] {
    let result: Carried<[R]> = Carried(try reading(self).retrieveReferrers(type, of: object, by: property))
    return result.value
  }

  /// Does as ``GarageReading/retrieveReferrers(_:of:identifier:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveReferrers<R: Codable, T: Codable & Identifiable>(
    _ type: R.Type, of targetType: T.Type, identifier: T.ID
  ) throws -> sending [R] {
    let result: Carried<[R]> = Carried(
      try reading(self).retrieveReferrers(type, of: targetType, identifier: identifier))
    return result.value
  }

  /// Does as ``GarageReading/retrieveReferrers(_:of:identifier:by:)``.
  ///
  /// - Throws: as that verb.
  public func retrieveReferrers<R: Codable, T: Codable & Identifiable, V: Codable>(
    _ type: R.Type, of targetType: T.Type, identifier: T.ID, by property: KeyPath<R, V>
  ) throws -> sending [R] {
    let result: Carried<[R]> = Carried(
      try reading(self).retrieveReferrers(type, of: targetType, identifier: identifier, by: property))
    return result.value
  }

  /// Does as ``GarageReading/get(_:)``.
  ///
  /// - Throws: as that verb.
  public func get<K: KeyType>(_ key: K) throws -> sending K.ValueType where K.ValueType: Codable {
    let result: Carried<K.ValueType> = Carried(try reading(self).get(key))
    return result.value
  }
}

/// The same reader or writer as a type that is only known to read, whose verbs are those of the protocol.
@inline(__always)
func reading<Reading: GarageReading>(_ verbs: Reading) -> some GarageReading { verbs }

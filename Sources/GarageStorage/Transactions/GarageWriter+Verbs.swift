public import GarageCoding

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The verbs that return objects or take them, for closures that run on another thread than their caller. A returned object
// belongs to the closure alone, so the closure may return it. The compiler also refuses types that belong to an actor, which it
// would accept in a verb of a protocol.

extension GarageWriter {
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

// Of several generic types the compiler checks only the first for whether it belongs to an actor. So the type of the elements
// stands before that of the sequence.
extension GarageWriter {
  /// Does as ``GarageWriting/park(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func park<T: Codable & Identifiable>(_ object: T) throws {
    try writing(self).park(object)
  }

  /// Does as ``GarageWriting/park(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func park<T: Codable & Hashable>(_ object: T) throws {
    try writing(self).park(object)
  }

  /// Does as ``GarageWriting/park(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func park<T: Codable & Hashable & Identifiable>(_ object: T) throws {
    try writing(self).park(object)
  }

  /// Does as ``GarageWriting/parkAll(_:)``.
  ///
  /// - Throws: as that verb.
  public func parkAll<T: Codable & Identifiable, S: Sequence>(_ objects: S) throws where S.Element == T {
    try writing(self).parkAll(objects)
  }

  /// Does as ``GarageWriting/parkAll(_:)``.
  ///
  /// - Throws: as that verb.
  public func parkAll<T: Codable & Hashable, S: Sequence>(_ objects: S) throws where S.Element == T {
    try writing(self).parkAll(objects)
  }

  /// Does as ``GarageWriting/parkAll(_:)``.
  ///
  /// - Throws: as that verb.
  public func parkAll<T: Codable & Hashable & Identifiable, S: Sequence>(_ objects: S) throws
  where S.Element == T {
    try writing(self).parkAll(objects)
  }

  /// Does as ``GarageWriting/delete(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable & Identifiable>(_ object: T) throws {
    try writing(self).delete(object)
  }

  /// Does as ``GarageWriting/delete(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable & Hashable>(_ object: T) throws {
    try writing(self).delete(object)
  }

  /// Does as ``GarageWriting/delete(_:)-(T)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable & Hashable & Identifiable>(_ object: T) throws {
    try writing(self).delete(object)
  }

  /// Does as ``GarageWriting/delete(_:referrers:)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable>(_ object: T, referrers: ReferrersRule) throws {
    try writing(self).delete(object, referrers: referrers)
  }

  /// Does as ``GarageWriting/delete(_:identifier:referrers:)-(T.Type,T.ID,_)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable & Identifiable>(
    _ type: T.Type, identifier: T.ID, referrers: ReferrersRule
  ) throws {
    try writing(self).delete(type, identifier: identifier, referrers: referrers)
  }

  /// Does as ``GarageWriting/delete(_:identifier:referrers:)-(T.Type,Identifier,_)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable>(_ type: T.Type, identifier: Identifier, referrers: ReferrersRule) throws {
    try writing(self).delete(type, identifier: identifier, referrers: referrers)
  }

  /// Does as ``GarageWriting/deleteGraph(_:referrers:)``.
  ///
  /// - Throws: as that verb.
  @discardableResult
  public func deleteGraph<T: Codable>(_ object: T, referrers: ReferrersRule? = nil) throws -> Int {
    try writing(self).deleteGraph(object, referrers: referrers)
  }

  /// Does as ``GarageWriting/deleteGraph(_:identifier:referrers:)``.
  ///
  /// - Throws: as that verb.
  @discardableResult
  public func deleteGraph<T: Codable & Identifiable>(
    _ type: T.Type, identifier: T.ID, referrers: ReferrersRule? = nil
  ) throws -> Int {
    try writing(self).deleteGraph(type, identifier: identifier, referrers: referrers)
  }

  /// Does as ``GarageWriting/delete(_:identifier:)-(T.Type,T.ID)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws {
    try writing(self).delete(type, identifier: identifier)
  }

  /// Does as ``GarageWriting/delete(_:identifier:)-(T.Type,Identifier)``.
  ///
  /// - Throws: as that verb.
  public func delete<T: Codable>(_ type: T.Type, identifier: Identifier) throws {
    try writing(self).delete(type, identifier: identifier)
  }

  /// Does as ``GarageWriting/deleteAll(_:)``.
  ///
  /// - Throws: as that verb.
  public func deleteAll<T: Codable>(_ type: T.Type) throws {
    try writing(self).deleteAll(type)
  }

  /// Does as ``GarageWriting/set(_:value:)``.
  ///
  /// - Throws: as that verb.
  public func set<K: KeyType>(_ key: K, value: K.ValueType) throws where K.ValueType: Codable {
    try writing(self).set(key, value: value)
  }

  /// Does as ``GarageWriting/update(_:_:)``.
  ///
  /// - Throws: as that verb.
  @discardableResult
  public func update<K: KeyType, R>(_ key: K, _ body: (inout K.ValueType) throws -> R) throws -> R
  where K.ValueType: Codable {
    try writing(self).update(key, body)
  }
}

/// The same writer as a type that is only known to write, whose verbs are those of the protocol.
@inline(__always)
private func writing<Writing: GarageWriting>(_ verbs: Writing) -> some GarageWriting { verbs }

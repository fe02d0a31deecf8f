#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import GarageCoding

// The verbs for callers that have an identifier as text or UUID, while the type's `ID` is another type.

extension GarageReading {
  /// The object of this type whose identifier has this text; nil if there is none.
  ///
  /// If an `id` is an integer or a UUID, the text of it stands for it; if an `id` is text, an integer stands for it. Each must
  /// convert to the other without loss: `"7"` finds the object whose `id` is 7.
  ///
  /// - Throws: ``GarageError/unsuitableIdentifier(type:identifier:idType:)`` if the text stands for no `id` of the type, for
  ///   instance `"x"` for an integer; and as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func retrieve<T: Codable & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> T? {
    try withRepeatableReadAccess { try $0.object(type, $0.identifier(of: type, converting: identifier)) }
  }

  /// The object of this type whose identifier is this UUID, or its text; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) throws -> T? {
    try withRepeatableReadAccess { try $0.object(type, $0.identifier(of: type, converting: identifier)) }
  }

  /// Whether there is an object of this type whose identifier has this text.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func contains<T: Codable & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws -> Bool {
    try withRepeatableReadAccess {
      try $0.storageKey(of: type, $0.identifier(of: type, converting: identifier)) != nil
    }
  }

  /// Whether there is an object of this type whose identifier is this UUID, or its text.
  ///
  /// - Throws: as ``contains(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) throws -> Bool {
    try withRepeatableReadAccess {
      try $0.storageKey(of: type, $0.identifier(of: type, converting: identifier)) != nil
    }
  }
}

extension GarageWriting {
  /// Deletes the record of the object of this type whose identifier has this text.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func delete<T: Codable & Identifiable>(
    _ type: T.Type, identifier: some LosslessStringConvertible & Hashable
  ) throws {
    try withWriteAccess { try $0.delete(type, $0.reading.identifier(of: type, converting: identifier)) }
  }

  /// Deletes the record of the object of this type whose identifier is this UUID, or its text.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  @_disfavoredOverload
  public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: UUID) throws {
    try withWriteAccess { try $0.delete(type, $0.reading.identifier(of: type, converting: identifier)) }
  }
}

// MARK: - Values that are no identifiers

// Declared only for the compiler's messages. Without these declarations the compiler would ask for a mapped class.
extension GarageReading {
  /// Not available: the identifier is not an `id` of the type.
  @available(*, unavailable, message: "the identifier has to be of the type of the object's id")
  @_disfavoredOverload
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: some Any) throws -> T? { nil }

  /// Not available: the identifier is not an `id` of the type.
  @available(*, unavailable, message: "the identifier has to be of the type of the object's id")
  @_disfavoredOverload
  public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: some Any) throws -> Bool {
    false
  }
}

extension GarageWriting {
  /// Not available: the identifier is not an `id` of the type.
  @available(*, unavailable, message: "the identifier has to be of the type of the object's id")
  @_disfavoredOverload
  public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: some Any) throws {}
}

extension ReadAccess {
  /// The identifier for an `id` of the type's own kind.
  func identifier<T: Codable & Identifiable>(of type: T.Type, _ id: T.ID) throws -> Identifier {
    try garage.identifier(of: type, id)
  }

  /// The identifier that an `id` of another kind stands for.
  func identifier<T: Codable & Identifiable>(
    of type: T.Type, converting id: some Hashable
  ) throws -> Identifier {
    try TypeDescription.identity(of: type, converting: id).identifier
  }
}

extension Garage {
  /// The identifier for an `id` of the type's own kind.
  func identifier<T: Codable & Identifiable>(of type: T.Type, _ id: T.ID) throws -> Identifier {
    let facts = try RecordTypeFacts.of(type)
    if facts.isIdentifiedByID { return try facts.identifier(of: type, id) }
    // An object that is its own `id` is identified by its content.
    guard let object = id as? T else { throw GraphCodingError.unsupportedIdentifier(type: facts.name) }
    return try encoder.identity(of: object).identifier
  }
}

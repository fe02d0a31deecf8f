internal import GarageCoding

/// Where an object's record is, found by the object itself.
struct ParkedObject {
  let facts: RecordTypeFacts
  let identifier: Identifier

  /// - Throws: ``GarageError/missingConformance(_:)``, ``GraphCodingError``, and what `encode(to:)` throws.
  init(_ object: Any, _ encoder: GraphEncoder) throws {
    let object = try codable(object)
    facts = try RecordTypeFacts.of(type(of: object))
    identifier = try encoder.identity(of: object).identifier
  }
}

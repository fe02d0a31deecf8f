internal import GarageCoding

/// The types that a garage was told about when it was opened.
///
/// Unchecked: nothing changes after `init`, and metatypes are the same on every thread.
struct KnownTypes: @unchecked Sendable {
  /// For the decoder.
  let registered: RegisteredTypes
  private let types: [UInt64: any Codable.Type]

  /// - Throws: ``GraphCodingError`` where tags are in conflict.
  init(_ types: [any Codable.Type]) throws {
    registered = try RegisteredTypes(types)
    var byTag: [UInt64: any Codable.Type] = [:]
    for type in types {
      for tag in try KnownTypes.tags(of: type) where byTag[tag] == nil { byTag[tag] = type }
    }
    self.types = byTag
  }

  /// The type with this tag of its own, present or former.
  func type(tag: UInt64) -> (any Codable.Type)? { types[tag] }

  /// The digests of the type's own tags, the present one first.
  static func tags(of type: any Codable.Type) throws -> [UInt64] {
    try [TypeTag.of(type).digest] + TypeTag.former(of: type).map(\.digest)
  }
}

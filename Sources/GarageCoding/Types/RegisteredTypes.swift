/// The types that a garage was told about: the subclasses that records may name.
public struct RegisteredTypes: @unchecked Sendable {
  // @unchecked: metatypes, which nothing changes.
  let byTag: [UInt64: any (Encodable & Decodable).Type]
  /// Older tags of the types' identity spaces, with the tags that replaced them.
  let currentTags: [UInt64: UInt64]
  let formerTags: [UInt64: [UInt64]]

  static let none = RegisteredTypes(none: ())

  private init(none: Void) { (byTag, currentTags, formerTags) = ([:], [:], [:]) }

  /// - Throws: ``GraphCodingError`` for a type whose tag is in conflict, or that has no identity.
  public init(_ types: [any (Encodable & Decodable).Type] = []) throws {
    var byTag: [UInt64: any (Encodable & Decodable).Type] = [:]
    var currentTags: [UInt64: UInt64] = [:]
    var formerTags: [UInt64: [UInt64]] = [:]
    for type in types {
      let tags = try TypeFacts.of(type).object.tags()
      byTag[tags.concrete.digest] = type
      for former in TypeTag.former(of: type) { byTag[former.digest] = type }
      if tags.former.isEmpty { continue }
      formerTags[tags.identity.digest] = tags.former.map(\.digest)
      for former in tags.former { currentTags[former.digest] = tags.identity.digest }
    }
    self.byTag = byTag
    self.currentTags = currentTags
    self.formerTags = formerTags
  }

  /// The types.
  package var all: [any (Encodable & Decodable).Type] { Array(byTag.values) }

  /// The type that has, or had, this tag as its own.
  package func type(tag: UInt64) -> (any (Encodable & Decodable).Type)? { byTag[tag] }
}

import Synchronization

/// A type that declares the name under which its objects are stored, in place of its qualified Swift name.
///
/// A type that was renamed declares its old name as its tag, or as a former one:
/// ```swift
/// extension Person: TypeTagged {
///   static var typeTag: String { "person" }
///   static var formerTypeTags: [String] { ["MyApp.Person"] }
/// }
/// ```
/// Types that declare the same tag share its records. In a class hierarchy declare both as `class var`
/// in the base class and override them in every subclass: a subclass must not have its superclass's tag.
public protocol TypeTagged {
  /// The name of the type in the store; any text but an empty one. It must never change.
  static var typeTag: String { get }
  /// Names under which objects of the type were stored before. Default: none.
  static var formerTypeTags: [String] { get }
}

extension TypeTagged {
  /// None.
  public static var formerTypeTags: [String] { [] }
}

/// The name of a type in the store.
///
/// Format: keys and records hold the digest, 8 bytes, big-endian:
/// ```
/// +---------------------------------------------------------+
/// | the first 8 bytes of SHA-256 of the name (UTF-8, NFC)   |
/// +---------------------------------------------------------+
/// ```
/// The derived name of a type is its qualified Swift name, e.g. `MyApp.Person`, `MyApp.Box<Swift.Int>`.
/// Private and local types are named as if they were not: `MyApp.Person`.
public struct TypeTag: Hashable, Sendable {
  /// The text of the tag, in Unicode normalization form C.
  public let name: String
  /// What stands for the name in keys and records: the first 8 bytes of its SHA-256.
  public let digest: UInt64

  /// The tag of this name. Makes no statement about any type.
  public init(name: String) {
    var name = composed(name)
    self.digest = name.withUTF8 { ContentDigest.digest8(of: UnsafeRawBufferPointer($0)) }
    self.name = name
  }

  /// The tag of a type: the one it declares by ``TypeTagged``, or else one derived from its qualified name.
  ///
  /// - Throws: ``GraphCodingError`` when the declared tag is empty or that of a superclass, or when the derived
  ///   one is also that of another type of this process.
  public static func of(_ type: Any.Type) throws -> TypeTag {
    let key = ObjectIdentifier(type)
    if let known = registry.withLock({ $0.tags[key] }) { return known }
    // Declared tags are users' code: read them outside the lock.
    let declared = (type as? any TypeTagged.Type)?.typeTag
    if let declared { try validate(declared, of: type) }
    let tag = TypeTag(name: declared ?? TypeName.stable(of: type))
    try registry.withLock { registry in
      if declared == nil {
        if let other = registry.derived[tag.name], other != type {
          throw GraphCodingError.derivedTagCollision(
            tag: tag.name, type: String(reflecting: type), other: String(reflecting: other))
        }
        registry.derived[tag.name] = type
      }
      if registry.tags.updateValue(tag, forKey: key) == nil {
        registry.types[tag.digest, default: []].append(type)
      }
    }
    return tag
  }

  /// The types whose tag this process was asked for and has this digest.
  package static func types(withDigest digest: UInt64) -> [Any.Type] {
    registry.withLock { $0.types[digest] ?? [] }
  }

  /// The tags under which objects of a type were stored before, in the order declared, each once. Those that a class
  /// only inherits belong to its superclass and are left out.
  public static func former(of type: Any.Type) -> [TypeTag] {
    guard let tagged = type as? any TypeTagged.Type else { return [] }
    var former = tagged.formerTypeTags
    if !former.isEmpty, let superclass = superclass(of: type) as? any TypeTagged.Type {
      let inherited = Set(superclass.formerTypeTags)
      former.removeAll(where: inherited.contains)
    }
    var tags: [TypeTag] = []
    for tag in former.map(TypeTag.init(name:)) where !tags.contains(tag) { tags.append(tag) }
    return tags
  }

  /// The type whose tag names the space in which an object's identifier is unique: for a class the topmost
  /// of its superclasses that is itself `Codable & Identifiable`, or a mapped class with an identifying attribute,
  /// else the type itself.
  public static func identitySpace(of type: Any.Type) -> Any.Type {
    var space = type
    var next: AnyClass? = superclass(of: type)
    while let ancestor = next {
      if hasIdentity(ancestor) { space = ancestor }
      next = _getSuperclass(ancestor)
    }
    return space
  }

  /// Whether objects whose own tag has this digest are of the class with one of these, or of a subclass; nil where their type is
  /// not known.
  package static func isOfClass(_ digest: UInt64, _ classDigests: [UInt64]) -> Bool? {
    if classDigests.contains(digest) { return true }
    let types = types(withDigest: digest)
    if types.isEmpty { return nil }
    return types.contains { type in
      var next: AnyClass? = superclass(of: type)
      while let ancestor = next {
        if let tag = try? of(ancestor), classDigests.contains(tag.digest) { return true }
        next = _getSuperclass(ancestor)
      }
      return false
    }
  }

  private static func hasIdentity(_ type: AnyClass) -> Bool {
    if let mapped = type as? any MappableObject.Type { return MappingPlan.hasIdentity(mapped) }
    return type is any (Codable & Identifiable).Type
  }

  private struct Registry {
    var tags: [ObjectIdentifier: TypeTag] = [:]
    var derived: [String: Any.Type] = [:]
    /// The types that have a tag, by its digest.
    var types: [UInt64: [Any.Type]] = [:]
  }
  private static let registry = Mutex(Registry())

  private static func validate(_ declared: String, of type: Any.Type) throws {
    guard !declared.isEmpty else { throw GraphCodingError.emptyTag(type: String(reflecting: type)) }
    var next: AnyClass? = superclass(of: type)
    while let ancestor = next {
      if (ancestor as? any TypeTagged.Type)?.typeTag == declared {
        throw GraphCodingError.tagOfSuperclass(
          tag: declared, type: String(reflecting: type), superclass: String(reflecting: ancestor))
      }
      next = _getSuperclass(ancestor)
    }
  }

  private static func superclass(of type: Any.Type) -> AnyClass? {
    (type as? AnyClass).flatMap(_getSuperclass)
  }
}

extension TypeTag: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}

/// The identity of a record: the identity space that it is in, and its identifier there.
public struct RecordIdentity: Hashable, Sendable {
  /// The digest of the type tag that names the identity space.
  public var tag: UInt64
  /// The object's identifier in that space.
  public var identifier: Identifier

  /// The identity with this tag digest and identifier.
  public init(tag: UInt64, identifier: Identifier) {
    self.tag = tag
    self.identifier = identifier
  }
}

extension RecordIdentity: CustomStringConvertible {
  /// `Person "3"`: the type's name if the program has met the type, and otherwise the tag in hexadecimal digits; then the
  /// identifier.
  public var description: String {
    let name = TypeTag.types(withDigest: tag).first.map { "\($0)" } ?? String(tag, radix: 16)
    return "\(name) \"\(identifier)\""
  }
}

/// The identity of a record: whose identity space it is in, and its identifier there.
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

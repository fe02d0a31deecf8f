/// Why an object has no usable identity: its type tag or its identifier cannot name a record.
public enum IdentityError: Error, Sendable, Hashable {
  /// Two types have the same derived tag, because their private, file-private or local names differ only
  /// in their place in the source.
  case derivedTagCollision(tag: String, type: String, other: String)
  /// A type declares an empty tag.
  case emptyTag(type: String)
  /// A class declares the tag of one of its superclasses, most likely by inheriting it.
  case tagOfSuperclass(tag: String, type: String, superclass: String)
  /// The type of an `id` can name no record.
  case unsupportedIdentifier(type: String)
  /// An integer `id` beyond 128 bits.
  case integerTooWide(type: String)
}

extension IdentityError: CustomStringConvertible {
  /// What failed, on what, and what to do next.
  public var description: String {
    switch self {
    case .derivedTagCollision(let tag, let type, let other):
      """
      The types \(type) and \(other) would both be stored as "\(tag)", because private and local types \
      have no other name that is the same in the next process. Conform one of them to TypeTagged and give \
      it a typeTag of its own.
      """
    case .emptyTag(let type):
      """
      The type \(type) declares an empty typeTag. Return a name that no other type uses, or drop the \
      conformance to TypeTagged to use the name of the type.
      """
    case .tagOfSuperclass(let tag, let type, let superclass):
      """
      The class \(type) has the typeTag "\(tag)" of its superclass \(superclass), so its objects would be \
      read back as \(superclass). Declare it as `class var typeTag` in \(superclass) and override it in \
      \(type) with a tag of its own.
      """
    case .unsupportedIdentifier(let type):
      """
      An id of type \(type) cannot name a record. Use an integer, String, UUID, Date, a RawRepresentable \
      of these, a LosslessStringConvertible or any other Codable & Hashable type as id. A type that \
      needs no record of its own can conform to Inlined.
      """
    case .integerTooWide(let type):
      """
      An id of type \(type) holds a number beyond 128 bits. Use integers up to 128 bits, or a String, as id.
      """
    }
  }
}

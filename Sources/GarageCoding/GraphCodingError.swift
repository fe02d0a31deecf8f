/// An error of the coder, beside Swift's own `EncodingError` and `DecodingError`.
///
/// Every case names the type that it is about and, if there is one, the identifier. `description` adds what to do next.
public enum GraphCodingError: Error, Sendable, Hashable {
  /// A value without an identity of its own was to become a record: it is neither `Identifiable` nor `Hashable`.
  case missingConformance(type: String)
  /// An `id` cannot name a record, for instance a class's default `ObjectIdentifier`. `type` is the object's type if that is
  /// known, and otherwise the type of the `id`.
  case unsupportedIdentifier(type: String)
  /// The identifier that was given for objects of this type stands for no value of the type of their `id`.
  case unsuitableIdentifier(type: String, identifier: String, idType: String)
  /// An integer `id` has more than 128 bits.
  case integerTooWide(type: String)
  /// Two types have the same derived tag, because their private, file-private or local names differ only in their places in the
  /// source.
  case derivedTagCollision(tag: String, type: String, other: String)
  /// A type declares an empty tag.
  case emptyTag(type: String)
  /// A class declares the tag of one of its superclasses, most likely by inheriting it.
  case tagOfSuperclass(tag: String, type: String, superclass: String)
  /// Two different texts have the same digest, or the store holds another text under it.
  case digestCollision(what: String)
  /// The record was parked as a subclass that this process was not told about.
  case unregisteredSubclass(tag: String, type: String, identifier: String)
  /// Plain properties refer to each other in a circle. The path names every object on it.
  case cycle(path: String)
  /// A record's bytes are damaged.
  case corrupt(type: String, identifier: String, reason: String)
  /// A record was written by a newer version of the library.
  case newerFormat(type: String, identifier: String, version: Int)
  /// A value was encoded in a version of its type (`Evolving`) that is newer than this program's. The identifier is nil if the
  /// value stands inside another object.
  case newerVersion(type: String, identifier: String?, version: Int, known: Int)
  /// The `id` of the decoded object is not the identifier that its record is kept under.
  case identityMismatch(type: String, recordIdentifier: String, decodedIdentifier: String)
  /// An object was to be encoded that could never be found and decoded under its `id`.
  case unretrievable(type: String, identifier: String, reason: String)
  /// The mapping of this class is wrong.
  case invalidMapping(type: String, reason: String)
  /// The identifying attribute of an object of this mapped class is nil or empty.
  case emptyIdentifyingAttribute(type: String, attribute: String)
  /// Values nest deeper than the coder, or the stack of the calling thread, allows.
  case nestingTooDeep(depth: Int)
}

extension GraphCodingError: CustomStringConvertible {
  /// What failed, on what, and what to do next.
  public var description: String {
    switch self {
    case .missingConformance(let type):
      "\(type) has no identity: it is neither Identifiable nor Hashable. Conform it to one of them to park it by itself."
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
      The id of \(type) cannot name a record. Use an integer, String, UUID, Date, a RawRepresentable \
      of these, a LosslessStringConvertible or any other Codable & Hashable type as id. A type that \
      needs no record of its own can conform to Inlined.
      """
    case .unsuitableIdentifier(let type, let identifier, let idType):
      """
      No \(type) can have the identifier "\(identifier)", which stands for none of type \(idType), the type of its id. \
      Pass one of that type.
      """
    case .integerTooWide(let type):
      """
      An id of type \(type) holds a number beyond 128 bits. Use integers up to 128 bits, or a String, as id.
      """
    case .digestCollision(let what):
      "Two different texts have the same digest: \(what). Rename one of them."
    case .unregisteredSubclass(let tag, let type, let identifier):
      """
      \(type) "\(identifier)" was parked as "\(tag)", a class this garage was not told about. \
      Name it in types: when you open the garage.
      """
    case .cycle(let path):
      """
      Plain properties refer to each other in a circle: \(path). Declare the property that closes the circle \
      as @Linked, or make it a Reference.
      """
    case .corrupt(let type, let identifier, let reason):
      """
      The record of \(type) "\(identifier)" is damaged: \(reason). It was left as it is; restore it from a \
      backup, or park or delete the object.
      """
    case .newerFormat(let type, let identifier, let version):
      """
      The record of \(type) "\(identifier)" has format \(version), which is newer than this version of Garage \
      reads (\(RecordFormat.version)). Update the library.
      """
    case .newerVersion(let type, let identifier, let version, let known):
      """
      \(type)\(identifier.map { " \"\($0)\"" } ?? "") was parked in version \(version) of its type, and this \
      program knows versions up to \(known). Nothing was changed. Update the program.
      """
    case .identityMismatch(let type, let recordIdentifier, let decodedIdentifier):
      """
      The record of \(type) "\(recordIdentifier)" decodes to an object whose id is "\(decodedIdentifier)". \
      A property that is declared "let id = …", or left out of the CodingKeys, is never decoded: declare it "var id", \
      and name it there.
      """
    case .unretrievable(let type, let identifier, let reason):
      "\(type) \"\(identifier)\" could never be retrieved: \(reason)."
    case .invalidMapping(let type, let reason):
      "The objectMapping of \(type) is wrong: \(reason)."
    case .emptyIdentifyingAttribute(let type, let attribute):
      """
      The identifying attribute "\(attribute)" of an object of \(type) is empty, so that nothing names its \
      record. Give it a value before you park the object.
      """
    case .nestingTooDeep(let depth):
      "Values nest \(depth) deep, which is more than the coder or the stack of this thread allows."
    }
  }
}

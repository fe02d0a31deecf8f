internal import GarageCoding
internal import Synchronization

/// What the verbs have to know of a type: found out once in a process, since asking the runtime costs more than
/// a read.
///
/// Unchecked: nothing changes after `init`.
final class StoredType: @unchecked Sendable {
  /// The unqualified name, for error messages.
  let name: String
  /// The digest of the tag that names the identity space.
  let tag: UInt64
  /// The digests of all tags under which there may be records, the present one first.
  let tags: [UInt64]
  /// Whether objects are identified by their `id`, and not by their content.
  let isIdentifiedByID: Bool
  /// Whether the identity space holds objects of other classes than this one and its subclasses.
  let sharesSpaceWithSuperclass: Bool
  /// How an `id` becomes an identifier, where that takes no encoder.
  private let identifierPlan: IdentifierPlan?

  private static let known = Mutex<[ObjectIdentifier: StoredType]>([:])
  /// Most calls are about the types of the calls before: these are found here without lock and dictionary.
  private static let recent = RecentTypes()

  /// - Throws: ``GraphCodingError/missingConformance(type:)`` for a type whose objects have no records, and
  ///   ``GraphCodingError`` where tags are in conflict.
  static func of(_ type: any Codable.Type) throws -> StoredType {
    let key = ObjectIdentifier(type)
    if let stored = recent.find(key) { return stored }
    var stored = known.withLock { $0[key] }
    if stored == nil {
      // Tags are users' code: they are asked for outside the lock.
      let new = StoredType(type, try TypeDescription.of(type))
      stored = known.withLock { known in
        if known[key] == nil { known[key] = new }
        return known[key] ?? new
      }
    }
    let found = stored.unsafelyUnwrapped
    recent.note(found)
    return found
  }

  fileprivate let key: ObjectIdentifier

  private init(_ type: any Codable.Type, _ description: TypeDescription) {
    key = ObjectIdentifier(type)
    name = description.name
    tag = description.identityTag.digest
    tags = [tag] + description.formerTags.map(\.digest)
    isIdentifiedByID = description.identification == .identifier
    sharesSpaceWithSuperclass = description.isClass && description.tag != description.identityTag
    let identifiable =
      isIdentifiedByID && !(type is any MappableObject.Type) ? type as? any Identifiable.Type : nil
    identifierPlan = identifiable.flatMap { StoredType.plan(of: $0) }
  }

  private static func plan<T: Identifiable>(of _: T.Type) -> IdentifierPlan? {
    let plan = try? IdentifierPlan.of(T.ID.self)
    return plan?.kind == .canonical ? nil : plan
  }

  /// The identifier of an `id` of the type's own kind.
  func identifier<T: Codable & Identifiable>(of type: T.Type, _ id: T.ID) throws -> Identifier {
    guard let identifierPlan else { return try TypeDescription.identity(of: type, id: id).identifier }
    var writer = IdentifierWriter(minimumCapacity: 64)
    try withUnsafePointer(to: id) { try identifierPlan.write(at: $0, to: &writer, canonical: { _ in [] }) }
    return Identifier(writer)
  }

  /// Lends the identifier of an `id` of the type's own kind to `body`, in the form it has in keys.
  ///
  /// - Returns: false, and nothing is lent, where finding it out takes more than writing it down.
  func withShortIdentifier<ID>(of id: ID, _ body: (RawSpan) throws -> Void) throws -> Bool {
    guard let identifierPlan else { return false }
    var writer = IdentifierWriter(minimumCapacity: 64)
    try withUnsafePointer(to: id) { try identifierPlan.write(at: $0, to: &writer, canonical: { _ in [] }) }
    if Identifier.isCut(byteCount: writer.count) { return false }
    try body(writer.bytes.bytes)
    return true
  }
}

/// The types asked for last, each at the place that its address gives it: a later one takes an earlier one's.
///
/// Unchecked: the memory is never given back, and holds atomics.
private struct RecentTypes: @unchecked Sendable {
  /// Addresses of types that `StoredType.known` keeps for good; 0 where there is none.
  private let places: UnsafeMutablePointer<Atomic<UInt>>
  private static let count = 64

  init() {
    places = .allocate(capacity: RecentTypes.count)
    for place in 0..<RecentTypes.count { (places + place).initialize(to: Atomic(0)) }
  }

  @inline(__always)
  private func place(_ key: ObjectIdentifier) -> UnsafeMutablePointer<Atomic<UInt>> {
    // Metadata is aligned to 16 bytes or more.
    let address = UInt(bitPattern: key)
    return places + Int((address >> 4 ^ address >> 10) % UInt(RecentTypes.count))
  }

  @inline(__always)
  func find(_ key: ObjectIdentifier) -> StoredType? {
    let address = place(key).pointee.load(ordering: .acquiring)
    guard let address = UnsafeRawPointer(bitPattern: address) else { return nil }
    let stored = Unmanaged<StoredType>.fromOpaque(address).takeUnretainedValue()
    return stored.key == key ? stored : nil
  }

  func note(_ stored: StoredType) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque())
    place(stored.key).pointee.store(address, ordering: .releasing)
  }
}

internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How values of one type are encoded where they stand inside others. Decided once for each type: asking
/// `value as? any Identifiable` for each value would cost more than encoding it.
enum ValueKind: UInt8 {
  /// By its own `encode(to:)`.
  case codable
  /// By its own `encode(to:)`, behind its sync status or the version of its type, or with the name of its class.
  case prefixed
  case bool, string, double, float
  case int, int8, int16, int32, int64, int128
  case uint, uint8, uint16, uint32, uint64, uint128
  case date, data, uuid, url, decimal
  // Arrays of one of the kinds that `PackedKind` names: written without a tag for each element.
  case strings, dates, doubles, floats, bools
  case ints, int8s, int16s, int32s, int64s, uints, uint8s, uint16s, uint32s, uint64s
  /// A set or dictionary: encoded in the order of its canonical bytes, not of its hash values.
  case unordered
  /// One of this module's own types: `Linked` and `Reference`.
  case own
  /// An object with an identity: a record of its own.
  case reference
  /// A value that is stored once by digest.
  case interned
  /// An array in its usual form, whose elements are written and read by the coders themselves. To encoders also an optional.
  case elements

  /// Whether values of the kind have neither parts with a tag nor an identity.
  @inline(__always)
  var isScalar: Bool { rawValue >= ValueKind.bool.rawValue && rawValue <= ValueKind.uint64s.rawValue }

  /// Whether this goes for all values of the kind, if dates have no strategy: a URL relative to another one has parts.
  @inline(__always)
  var isAlwaysScalar: Bool { isScalar && self != .url }

  /// Whether values stand inline, are no scalars, and consist only of their content.
  @inline(__always)
  var mayStandUnwrapped: Bool { self == .codable || self == .unordered || self == .elements }

  var isPacked: Bool { rawValue >= ValueKind.strings.rawValue && rawValue <= ValueKind.uint64s.rawValue }
}

/// What both coders know of one type.
package final class TypeFacts: @unchecked Sendable {
  // @unchecked: metatypes and closures that capture nothing else.
  let type: Any.Type
  let kind: ValueKind
  /// How objects of the type are identified when they are roots.
  let rootIdentification: TypeDescription.Identification
  /// The tags, made ahead for types that become references wherever they stand.
  private let referenceTags: Result<Tags, any Error>?
  private let referenceDigest: UInt64?
  /// The same tags, to be read without counting a reference; nil where there was an error. Facts stay for good.
  let lastingTags: Permanent<Tags>?
  /// The tags of a type that has some only as a root, once they were asked for. Kept, like the facts, for good.
  private let rootTags = Mutex<Tags?>(nil)
  /// Where `kind` is `.reference`, or a root is identified by `id`: how its identifier is written.
  private let identifier: Permanent<IdentifierAccess>?
  /// Whether the `id` may be another one after a value was encoded.
  private let stability: Atomic<IdentifierStability>
  /// Whether some values of the `id`'s type are not read back as they were.
  let hasIdentifierFaults: Bool
  /// The error if the type's `id` is of no use.
  private let identifierError: (any Error)?
  package let isClass: Bool
  /// Whether every record of the type has the one form that its `init(from:)` reads: it is no class, and not ``Evolving``.
  let isUniform: Bool
  /// Where it is a mapped class.
  let mapping: MappingPlan?
  /// How older forms of its values are read; nil where it does not declare that.
  let evolution: Evolution?
  /// The version in which values are encoded.
  let version: Int
  /// Whether values have a sync status.
  let isSyncable: Bool
  let syncStatusAccess: SyncStatusAccess?
  /// If it is an array in its usual form, or an optional: how encoders write it.
  let encodableInPlace: (any EncodableInPlace.Type)?
  /// Where it is a collection that decoders read themselves.
  let decodableCollection: (any DecodableCollection.Type)?
  /// If dictionaries with keys of this type are keyed by text or numbers in records, and it is neither `String` nor `Int`: the
  /// type as such a key.
  let textKey: (any CodingKeyRepresentable.Type)?
  /// Where it is an optional.
  let decodableInPlace: (any DecodableInPlace.Type)?
  /// How arrays of it are made; nil where the standard library does that.
  let arrayForm: ArrayForm?
  /// The type, where it codes itself through the coder's own functions, or is a set or dictionary: found once, because
  /// to ask a value of a generic type for such a conformance takes longer than to code it.
  let ownEncodable: (any GraphCodable.Type)?
  let ownDecodable: (any GraphDecodable.Type)?
  /// What it refers to, where it is a `Reference`.
  let referenceTarget: Any.Type?
  /// How a property of the type is read, where it is a linked one.
  let link: LinkForm?
  let unordered: (any UnorderedCollection.Type)?
  /// The type as a metatype to decode by, where it is `Decodable`.
  let decodable: (any Decodable.Type)?

  /// An object, so that handing it around copies no texts.
  final class Tags: Sendable {
    /// Names the identity space.
    let identity: TypeTag
    /// Names the type itself.
    let concrete: TypeTag
    /// Former names of the identity space.
    let former: [TypeTag]
    let formerDigests: [UInt64]
    /// Whether the type is a class in the identity space of a superclass.
    let isSubclass: Bool

    init(identity: TypeTag, concrete: TypeTag, former: [TypeTag]) {
      self.identity = identity
      self.concrete = concrete
      self.former = former
      formerDigests = former.map(\.digest)
      isSubclass = identity != concrete
    }
  }

  /// How the identifier of a value at an address is written.
  class IdentifierAccess: @unchecked Sendable {
    // @unchecked: a plan, which nothing changes.
    let idType: Any.Type
    let plan: IdentifierPlan

    init(_ idType: Any.Type, _ plan: IdentifierPlan) {
      self.idType = idType
      self.plan = plan
    }

    func write(_ value: UnsafeRawPointer, _ writer: inout IdentifierWriter) throws {}

    /// Why the value's `id` is not that of its record, or will not be when it is read; nil where it is.
    func fault(
      _ value: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer, mayChange: Bool,
      _ writer: inout IdentifierWriter
    ) throws -> String? { nil }

    /// See ``IdentifierPlan/isSurely(_:at:)``.
    func isSurely(_ identifier: UnsafeRawBufferPointer, _ value: UnsafeRawPointer) -> Bool { false }
  }

  private final class TypedAccess<T: Identifiable>: IdentifierAccess, @unchecked Sendable {
    override func write(_ value: UnsafeRawPointer, _ writer: inout IdentifierWriter) throws {
      // A variable's address costs no call, unlike a constant's.
      var id = value.lent(T.self).pointee.identifier()
      try withUnsafeMutablePointer(to: &id) {
        try plan.write(at: UnsafeRawPointer($0), to: &writer, canonical: canonicalBytes)
      }
    }

    override func fault(
      _ value: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer, mayChange: Bool,
      _ writer: inout IdentifierWriter
    ) throws -> String? {
      var id = value.lent(T.self).pointee.identifier()
      return try withUnsafeMutablePointer(to: &id) {
        try fault(ofIdentifierAt: UnsafeRawPointer($0), wanted, mayChange: mayChange, &writer)
      }
    }

    override func isSurely(_ identifier: UnsafeRawBufferPointer, _ value: UnsafeRawPointer) -> Bool {
      var id = value.lent(T.self).pointee.identifier()
      return withUnsafeMutablePointer(to: &id) { plan.isSurely(identifier, at: UnsafeRawPointer($0)) }
    }
  }

  /// The unqualified name, for error messages.
  let name: String

  fileprivate init(_ type: Any.Type) {
    self.type = type
    name = String(describing: type)
    let identifiable = type as? any Identifiable.Type
    let isEmbedded = type is any Inlined.Type
    let mapped = type as? any MappableObject.Type
    mapping = mapped.map { MappingPlan.of($0) }
    let hasIdentity =
      mapped.map { MappingPlan.hasIdentity($0) } ?? identifiable.map { TypeFacts.hasIdentity($0) } ?? false
    let isHashable = type is any Hashable.Type
    isClass = type is AnyClass
    evolution = Evolution(type)
    isUniform = !isClass && evolution == nil
    version = evolution?.version ?? 0
    syncStatusAccess = SyncStatusAccess(type)
    isSyncable = syncStatusAccess != nil
    decodable = type as? any Decodable.Type
    rootIdentification = hasIdentity ? .identifier : isHashable || mapped != nil ? .digest : .none
    if let scalar = TypeFacts.scalarKind(type) {
      kind = scalar
    } else if type is any GraphCodable.Type && !(type is any CheckedFoundationType.Type) {
      kind = .own
    } else if hasIdentity && !isEmbedded {
      kind = .reference
    } else if type is any Interned.Type {
      kind = .interned
    } else if type is any UnorderedCollection.Type {
      kind = .unordered
    } else if evolution != nil || isSyncable || mapping != nil {
      kind = .prefixed
    } else {
      kind = type is any CheckedFoundationType.Type ? .own : .codable
    }
    ownEncodable = kind == .own ? type as? any GraphCodable.Type : nil
    ownDecodable = kind == .own ? type as? any GraphDecodable.Type : nil
    referenceTarget = (type as? any LazyReference.Type)?.target
    link = kind == .own ? (type as? any LinkDecodable.Type)?.linkForm : nil
    unordered = kind == .unordered ? type as? any UnorderedCollection.Type : nil
    encodableInPlace = kind == .codable ? type as? any EncodableInPlace.Type : nil
    decodableCollection =
      kind == .codable || kind == .unordered ? type as? any DecodableCollection.Type : nil
    textKey = type as? any CodingKeyRepresentable.Type
    decodableInPlace = kind == .codable ? type as? any DecodableInPlace.Type : nil
    arrayForm = decodable.flatMap { ArrayForm($0) }
    let isReferenced = kind == .reference || kind == .interned
    referenceTags = isReferenced ? Result { try TypeFacts.makeTags(of: type) } : nil
    let tags = try? referenceTags?.get()
    referenceDigest = tags?.identity.digest
    lastingTags = tags.map { Permanent($0) }
    let (access, error) = hasIdentity ? TypeFacts.access(identifiable, mapping, type) : (nil, nil)
    // Kept, like the facts, for good.
    identifier = access.map { Permanent(keeping: $0) }
    identifierError = error
    stability = Atomic(access == nil ? .constant : .unknown)
    hasIdentifierFaults = access?.plan.fault != nil
  }

  private static func access(
    _ identifiable: (any Identifiable.Type)?, _ mapping: MappingPlan?, _ type: Any.Type
  ) -> (IdentifierAccess?, (any Error)?) {
    do {
      if let mapping, mapping.identifying != nil || mapping.fault != nil {
        return (try MappedAccess(mapping, mapping.identifying, type), nil)
      }
      return (try identifiable.map { try access($0) }, nil)
    } catch {
      return (nil, error)
    }
  }

  /// An `id` that is the value itself, or a raw value, is no identity apart from the content.
  private static func hasIdentity<T: Identifiable>(_: T.Type) -> Bool {
    T.ID.self != T.self && !(T.self is any RawRepresentable.Type)
  }

  /// The tags of the type and of its identity space.
  ///
  /// - Throws: ``GraphCodingError`` where they are in conflict, or the type has no identity.
  func tags() throws -> Tags {
    if let referenceTags { return try referenceTags.get() }
    if rootIdentification == .none { throw GraphCodingError.missingConformance(type: name) }
    if let tags = rootTags.withLock({ $0 }) { return tags }
    let tags = try TypeFacts.makeTags(of: type)
    return rootTags.withLock { known in
      let first = known ?? tags
      known = first
      return first
    }
  }

  /// The digest of the identity space's tag.
  func identityDigest() throws -> UInt64 {
    if let referenceDigest { return referenceDigest }
    return try tags().identity.digest
  }

  private static func makeTags(of type: Any.Type) throws -> Tags {
    let space = TypeTag.identitySpace(of: type)
    let identity = try TypeTag.of(space)
    return Tags(
      identity: identity, concrete: try TypeTag.of(type),
      former: TypeTag.former(of: space).filter { $0 != identity })
  }

  private static func access<T: Identifiable>(_: T.Type) throws -> IdentifierAccess {
    let plan: IdentifierPlan
    do { plan = try IdentifierPlan.of(T.ID.self) } catch GraphCodingError.unsupportedIdentifier {
      // The object's own type is what the reader of the error can change.
      throw GraphCodingError.unsupportedIdentifier(type: String(describing: T.self))
    }
    return TypedAccess<T>(T.ID.self, plan)
  }

  /// Writes the identifier of the value at `address`.
  ///
  /// - Throws: ``GraphCodingError`` where its type has none that is of use.
  func writeIdentifier(of address: UnsafeRawPointer, _ writer: inout IdentifierWriter) throws {
    writer.removeAll()
    guard let identifier else { throw identifierError ?? GraphCodingError.missingConformance(type: name) }
    try identifier.with { try $0.write(address, &writer) }
  }

  /// Whether the identifier of the value at `address` is sure to be this one.
  @inline(__always)
  func isSurely(_ wanted: UnsafeRawBufferPointer, at address: UnsafeRawPointer) -> Bool {
    identifier?.with { $0.isSurely(wanted, address) } ?? false
  }

  var identifierStability: IdentifierStability {
    @inline(__always) get { stability.load(ordering: .relaxed) }
  }

  func note(_ stability: IdentifierStability) { self.stability.store(stability, ordering: .relaxed) }

  /// Why the `id` of the value at `address` is not that of its record, or will not be when it is read; nil where it is.
  func identifierFault(
    of address: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer, mayChange: Bool,
    _ writer: inout IdentifierWriter
  ) throws -> String? {
    try identifier?.with { try $0.fault(address, wanted, mayChange: mayChange, &writer) }
  }

  /// Why the case of an enum that is the `id` is not read back as it was; nil where it is.
  func identifierFault(ofIdentifierAt address: UnsafeRawPointer) -> String? {
    identifier?.with { $0.plan.fault?(address, UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  /// The type of the `id`; nil where there is none.
  ///
  /// - Throws: ``GraphCodingError`` where it is of no use.
  func identifierType() throws -> Any.Type? {
    if let identifierError { throw identifierError }
    return identifier?.with { $0.idType }
  }

  private static func scalarKind(_ type: Any.Type) -> ValueKind? {
    scalars[ObjectIdentifier(type)] ?? packedArrays[ObjectIdentifier(type)]
  }

  private static let scalars: [ObjectIdentifier: ValueKind] = [
    ObjectIdentifier(Bool.self): .bool, ObjectIdentifier(String.self): .string,
    ObjectIdentifier(Double.self): .double, ObjectIdentifier(Float.self): .float,
    ObjectIdentifier(Int.self): .int, ObjectIdentifier(Int8.self): .int8,
    ObjectIdentifier(Int16.self): .int16, ObjectIdentifier(Int32.self): .int32,
    ObjectIdentifier(Int64.self): .int64, ObjectIdentifier(Int128.self): .int128,
    ObjectIdentifier(UInt.self): .uint, ObjectIdentifier(UInt8.self): .uint8,
    ObjectIdentifier(UInt16.self): .uint16, ObjectIdentifier(UInt32.self): .uint32,
    ObjectIdentifier(UInt64.self): .uint64, ObjectIdentifier(UInt128.self): .uint128,
    ObjectIdentifier(Date.self): .date, ObjectIdentifier(Data.self): .data,
    ObjectIdentifier(UUID.self): .uuid, ObjectIdentifier(URL.self): .url,
    ObjectIdentifier(Decimal.self): .decimal,
  ]

  /// The array types that are written without a tag for each element. `UInt8` keeps its width.
  private static let packedArrays: [ObjectIdentifier: ValueKind] = [
    ObjectIdentifier([String].self): .strings, ObjectIdentifier([Date].self): .dates,
    ObjectIdentifier([Double].self): .doubles, ObjectIdentifier([Float].self): .floats,
    ObjectIdentifier([Bool].self): .bools, ObjectIdentifier([Int].self): .ints,
    ObjectIdentifier([Int8].self): .int8s, ObjectIdentifier([Int16].self): .int16s,
    ObjectIdentifier([Int32].self): .int32s, ObjectIdentifier([Int64].self): .int64s,
    ObjectIdentifier([UInt].self): .uints, ObjectIdentifier([UInt8].self): .uint8s,
    ObjectIdentifier([UInt16].self): .uint16s, ObjectIdentifier([UInt32].self): .uint32s,
    ObjectIdentifier([UInt64].self): .uint64s,
  ]

  // MARK: - All types of the process

  private static let known = Mutex<[ObjectIdentifier: Permanent<TypeFacts>]>([:])

  /// The facts of a type; made once and kept for the life of the process.
  static func of(_ type: Any.Type) -> Permanent<TypeFacts> {
    let key = ObjectIdentifier(type)
    if let facts = known.withLock({ $0[key] }) { return facts }
    // Made outside the lock: conformances of the type may run user code (`typeTag`) that comes back here.
    let facts = TypeFacts(type)
    return known.withLock { known in
      if let first = known[key] { return first }
      let kept = Permanent(keeping: facts)
      known[key] = kept
      return kept
    }
  }
}

/// A small direct-mapped cache before ``TypeFacts/of(_:)``, which takes a lock. One for each coder.
struct TypeFactsCache {
  private struct Slot {
    var type: TypeAddress?
    var facts: Permanent<TypeFacts>?
    var kind = ValueKind.codable
  }
  private static let slotCount = 256
  private let slots: UnsafeMutablePointer<Slot>
  private let isOfEncoder: Bool

  init(ofEncoder isOfEncoder: Bool) {
    self.isOfEncoder = isOfEncoder
    slots = .allocate(capacity: TypeFactsCache.slotCount)
    slots.initialize(repeating: Slot(), count: TypeFactsCache.slotCount)
  }

  @inline(__always)
  func facts(of type: Any.Type) -> (Permanent<TypeFacts>, ValueKind) {
    let address = TypeAddress(type)
    let slot = slots + address.line(of: TypeFactsCache.slotCount)
    if slot.pointee.type == address, let facts = slot.pointee.facts { return (facts, slot.pointee.kind) }
    return fill(slot, address, type)
  }

  /// The facts of an object's own type: for an object of a class those of its own class, not of the declared one.
  @inline(__always)
  func facts<T>(ofObject object: T) -> Permanent<TypeFacts> {
    facts(ofObject: object, facts(of: T.self).0)
  }

  /// - Parameter declared: what is known of `T`.
  @inline(__always)
  func facts<T>(ofObject object: T, _ declared: Permanent<TypeFacts>) -> Permanent<TypeFacts> {
    declared.with({ $0.isClass }) ? facts(of: type(of: Reinterpretation.object(object))).0 : declared
  }

  @inline(never)
  private func fill(
    _ slot: UnsafeMutablePointer<Slot>, _ address: TypeAddress, _ type: Any.Type
  ) -> (Permanent<TypeFacts>, ValueKind) {
    let facts = TypeFacts.of(type)
    let kind = facts.with { known in
      let isKnown = isOfEncoder ? known.encodableInPlace != nil : known.decodableCollection != nil
      return known.kind == .codable && isKnown ? .elements : known.kind
    }
    slot.pointee = Slot(type: address, facts: facts, kind: kind)
    return (facts, kind)
  }
}

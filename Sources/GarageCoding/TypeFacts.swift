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
  case plain
  /// The same, behind its sync status or the version of its type.
  case prefixed
  case bool, string, double, float
  case int, int8, int16, int32, int64, int128
  case uint, uint8, uint16, uint32, uint64, uint128
  case date, data, uuid, url, decimal
  /// An array of one of the kinds that `PackedKind` names.
  case packed
  /// A set or dictionary: encoded in the order of its canonical bytes, not of its hash values.
  case unordered
  /// One of this module's own types: `Linked` and `Reference`.
  case own
  /// An object with an identity: a record of its own.
  case reference
  /// A value that is stored once by digest.
  case interned
}

/// What both coders know of one type.
final class TypeFacts: @unchecked Sendable {
  // @unchecked: metatypes and closures that capture nothing else.
  let type: Any.Type
  let kind: ValueKind
  /// How objects of the type are identified when they are roots.
  let rootIdentification: TypeDescription.Identification
  /// The tags, made ahead for types that become references wherever they stand.
  private let referenceTags: Result<Tags, any Error>?
  private let referenceDigest: UInt64?
  /// Where `kind` is `.reference`, or a root is identified by `id`: how its identifier is written.
  let identifier: Result<IdentifierAccess, any Error>?
  let isClass: Bool
  /// Where it is a mapped class.
  let mapping: MappingPlan?
  /// How older forms of its values are read, where it says so.
  let evolution: Evolution?
  /// The version in which values are encoded.
  let version: Int
  /// Whether values have a sync status.
  let isSyncable: Bool
  let syncStatusAccess: SyncStatusAccess?
  /// The type as a metatype to decode by, where it is `Decodable`.
  let decodable: (any Decodable.Type)?

  /// An object, so that handing it around copies no texts.
  final class Tags: Sendable {
    /// Names the identity space.
    let identity: TypeTag
    /// Names the type itself.
    let concrete: TypeTag
    /// Names the identity space had before.
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
  struct IdentifierAccess {
    var write: (UnsafeRawPointer, inout IdentifierWriter, CanonicalEncoding) throws -> Void
    var idType: Any.Type
  }

  /// The unqualified name, for error messages.
  var name: String { String(describing: type) }

  fileprivate init(_ type: Any.Type) {
    self.type = type
    let identifiable = type as? any Identifiable.Type
    let isEmbedded = type is any Inlined.Type
    let mapped = type as? any MappableObject.Type
    mapping = mapped.map { MappingPlan.of($0) }
    let hasIdentity =
      mapped.map { MappingPlan.hasIdentity($0) } ?? identifiable.map { TypeFacts.hasIdentity($0) } ?? false
    let isHashable = type is any Hashable.Type
    isClass = type is AnyClass
    evolution = Evolution(type)
    version = evolution?.version ?? 0
    syncStatusAccess = SyncStatusAccess(type)
    isSyncable = syncStatusAccess != nil
    decodable = type as? any Decodable.Type
    rootIdentification = hasIdentity ? .identifier : isHashable || mapped != nil ? .digest : .none
    if let scalar = TypeFacts.scalarKind(type) {
      kind = scalar
    } else if type is any GraphCodable.Type {
      kind = .own
    } else if hasIdentity && !isEmbedded {
      kind = .reference
    } else if type is any Interned.Type {
      kind = .interned
    } else if type is any UnorderedCollection.Type {
      kind = .unordered
    } else {
      kind = evolution == nil && !isSyncable ? .plain : .prefixed
    }
    let isReferenced = kind == .reference || kind == .interned
    referenceTags = isReferenced ? Result { try TypeFacts.makeTags(of: type) } : nil
    referenceDigest = (try? referenceTags?.get())?.identity.digest
    if hasIdentity, let mapping, mapping.identifying != nil || mapping.fault != nil {
      identifier = Result { try TypeFacts.access(mapping, mapping.identifying, type) }
    } else if hasIdentity, let identifiable {
      identifier = Result { try TypeFacts.access(identifiable) }
    } else {
      identifier = nil
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
    return try TypeFacts.makeTags(of: type)
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
      // The object's type is what the reader can change.
      throw GraphCodingError.unsupportedIdentifier(type: String(describing: T.self))
    }
    return IdentifierAccess(
      write: { value, writer, canonical in
        let id = value.assumingMemoryBound(to: T.self).pointee.id
        try withUnsafePointer(to: id) { try plan.write(at: $0, to: &writer, canonical: canonical) }
      },
      idType: T.ID.self)
  }

  private static func scalarKind(_ type: Any.Type) -> ValueKind? {
    if let kind = scalars[ObjectIdentifier(type)] { return kind }
    return packedKind(type) == nil ? nil : .packed
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
  static func packedKind(_ type: Any.Type) -> PackedArray? { packedArrays[ObjectIdentifier(type)] }

  enum PackedArray { case string, date, double, float, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64 }

  private static let packedArrays: [ObjectIdentifier: PackedArray] = [
    ObjectIdentifier([String].self): .string, ObjectIdentifier([Date].self): .date,
    ObjectIdentifier([Double].self): .double, ObjectIdentifier([Float].self): .float,
    ObjectIdentifier([Bool].self): .bool, ObjectIdentifier([Int].self): .int,
    ObjectIdentifier([Int8].self): .int8, ObjectIdentifier([Int16].self): .int16,
    ObjectIdentifier([Int32].self): .int32, ObjectIdentifier([Int64].self): .int64,
    ObjectIdentifier([UInt].self): .uint, ObjectIdentifier([UInt8].self): .uint8,
    ObjectIdentifier([UInt16].self): .uint16, ObjectIdentifier([UInt32].self): .uint32,
    ObjectIdentifier([UInt64].self): .uint64,
  ]

  // MARK: - All types of the process

  private static let known = Mutex<[ObjectIdentifier: Unmanaged<TypeFacts>]>([:])

  /// The facts of a type; made once and kept for the life of the process.
  static func of(_ type: Any.Type) -> Unmanaged<TypeFacts> {
    let key = ObjectIdentifier(type)
    if let facts = known.withLock({ $0[key] }) { return facts }
    // Made outside the lock: conformances of the type may run user code (`typeTag`) that comes back here.
    let facts = Unmanaged.passRetained(TypeFacts(type))
    return known.withLock { known in
      if let first = known[key] {
        facts.release()
        return first
      }
      known[key] = facts
      return facts
    }
  }
}

/// A small direct-mapped cache before ``TypeFacts/of(_:)``, which takes a lock. One for each coder.
struct TypeFactsCache {
  private struct Slot {
    var type: UnsafeRawPointer?
    var facts: Unmanaged<TypeFacts>?
    var kind = ValueKind.plain
  }
  private static let slotCount = 256
  private let slots: UnsafeMutablePointer<Slot>

  init() {
    slots = .allocate(capacity: TypeFactsCache.slotCount)
    slots.initialize(repeating: Slot(), count: TypeFactsCache.slotCount)
  }

  @inline(__always)
  func facts(of type: Any.Type) -> (Unmanaged<TypeFacts>, ValueKind) {
    let address = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let bits = UInt(bitPattern: address)
    let slot = slots + Int(bitPattern: (bits >> 4 ^ bits >> 12) & UInt(TypeFactsCache.slotCount - 1))
    if slot.pointee.type == address, let facts = slot.pointee.facts { return (facts, slot.pointee.kind) }
    return fill(slot, address, type)
  }

  @inline(never)
  private func fill(
    _ slot: UnsafeMutablePointer<Slot>, _ address: UnsafeRawPointer, _ type: Any.Type
  ) -> (Unmanaged<TypeFacts>, ValueKind) {
    let facts = TypeFacts.of(type)
    let kind = facts.takeUnretainedValue().kind
    slot.pointee = Slot(type: address, facts: facts, kind: kind)
    return (facts, kind)
  }
}

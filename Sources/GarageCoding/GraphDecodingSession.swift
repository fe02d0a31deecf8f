#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where a decoder finds records: one consistent snapshot of a store.
public protocol RecordSource: AnyObject {
  /// Lends a record's bytes to `body`, nil where there is none. Calls nest inside each other's closures.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag.
  ///   - keyIdentifier: the identifier as keys hold it.
  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R

  /// The text of the shape with that digest; nil where the store has none.
  func shapeText(_ digest: UInt64) throws -> [UInt8]?

  /// The name of the type tag with that digest; nil where the store has none.
  func tagName(_ digest: UInt64) throws -> String?
}

/// The types a garage was told about: the subclasses that records may name.
public struct RegisteredTypes: @unchecked Sendable {
  // @unchecked: metatypes, which nothing changes.
  let byTag: [UInt64: any Decodable.Type]
  /// Older tags of the types' identity spaces, and the tags that took their place.
  let currentTags: [UInt64: UInt64]
  let formerTags: [UInt64: [UInt64]]

  /// - Throws: ``GraphCodingError`` for a type whose tag is in conflict, or that has no identity.
  public init(_ types: [any (Encodable & Decodable).Type] = []) throws {
    var byTag: [UInt64: any Decodable.Type] = [:]
    var currentTags: [UInt64: UInt64] = [:]
    var formerTags: [UInt64: [UInt64]] = [:]
    for type in types {
      let tags = try TypeFacts.of(type).takeUnretainedValue().tags()
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
}

/// Turns records back into objects. Within one session every identity is decoded once, so that shared objects
/// are shared again and cycles close.
///
/// Not `Sendable`: it belongs to one thread, and to one snapshot of the store.
public final class GraphDecodingSession {
  private let core: Unmanaged<DecodingCore>
  private let walk: GraphWalk

  /// - Parameters:
  ///   - source: where records are found, for as long as the session is used.
  ///   - types: the registered types.
  ///   - userInfo: what `init(from:)` finds in its decoder's `userInfo`.
  ///   - dates: how dates are decoded that were not encoded exactly.
  public init(
    source: any RecordSource, types: RegisteredTypes, userInfo: [CodingUserInfoKey: any Sendable] = [:],
    dates: DateDecodingStrategy = .deferredToDate
  ) {
    core = DecodingCore.take()
    let core = core.takeUnretainedValue()
    core.userInfo = userInfo
    core.dateStrategy = dates
    walk = GraphWalk(core: core, source: source, types: types)
    core.graph = walk
  }

  /// Reads records that were made of another library's JSON.
  func read(_ foreign: any ForeignReading) { core.takeUnretainedValue().foreign = foreign }

  deinit {
    walk.forget()
    DecodingCore.giveBack(core)
  }

  /// The object with that identity, complete with everything it refers to; nil where there is no record, or
  /// one of a class that is not `T`.
  ///
  /// - Throws: ``GraphCodingError``, `DecodingError`, what the source throws, and what `init(from:)` of the
  ///   objects throws. The session then forgets what it decoded.
  public func object<T: Decodable>(_ type: T.Type, _ identity: RecordIdentity) throws -> T? {
    try walk.completing {
      let facts = walk.core.state.pointee.types.facts(of: type).0
      walk.learn(tag: identity.tag, facts)
      let number = identity.identifier.bytes.withUnsafeBytes { walk.number(tag: identity.tag, $0) }
      return try walk.object(type, facts, number)
    }
  }

  /// The same for a record whose bytes are at hand, as in a scan.
  public func object<T: Decodable>(
    _ type: T.Type, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> T? {
    try keyIdentifier.withUnsafeBytes { identifier in
      try record.withUnsafeBytes { record in
        try withKey(tag: tag, identifier) { key in
          try walk.completing {
            let facts = walk.core.state.pointee.types.facts(of: type).0.takeUnretainedValue()
            return try walk.root(type, facts, key: key, record)
          }
        }
      }
    }
  }

  /// Runs `body`, and then what it left to be filled in.
  func completing<R>(_ body: (GraphWalk) throws -> R) throws -> R {
    try walk.completing { try body(walk) }
  }

  /// How many identities the session has met: what it holds grows with it.
  public var objectCount: Int { walk.identities.count }

  /// Forgets the objects decoded so far: what is decoded afterwards is not shared with them.
  public func reset() { walk.forget() }
}

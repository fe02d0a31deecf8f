#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Is told of an object that could not be decoded, and why.
package typealias FailureListener = (RecordIdentity, any Error) -> Void

/// Turns records back into objects. Within one session every identity is decoded once, so that shared objects
/// are shared again and cycles close.
///
/// Not `Sendable`: it belongs to one thread, and to one snapshot of the store.
public final class GraphDecodingSession {
  private let core: Permanent<DecodingCore>
  let walk: GraphWalk

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
    let core = core.object
    if !userInfo.isEmpty { core.userInfo = userInfo }
    core.dateStrategy = dates
    walk = core.walk
    walk.begin(source, types)
  }

  /// Makes the session read records that were made from another library's JSON.
  func read(_ foreign: any ForeignReading) { walk.state.foreign = foreign }

  deinit { DecodingCore.giveBack(core) }

  /// The object with that identity, complete with everything it refers to; nil where there is no record, or
  /// one of a class that is not `T`.
  ///
  /// - Throws: ``GraphCodingError``, `DecodingError`, what the source throws, and what `init(from:)` of the
  ///   objects throws. The session then forgets what it decoded.
  public func object<T: Decodable>(_ type: T.Type, _ identity: RecordIdentity) throws -> T? {
    do {
      let facts = walk.state.types.facts(of: type).0
      walk.learn(tag: identity.tag, facts)
      let named = identity.identifier.bytes.withUnsafeBytes { walk.number(tag: identity.tag, $0) }
      let number = try walk.load(type, facts, named)
      try walk.fillAll()
      return number < 0 ? nil : walk.loaded(type, number)
    } catch {
      throw walk.failed(error)
    }
  }

  /// The same for a record whose bytes are at hand, as in a scan.
  public func object<T: Decodable>(
    _ type: T.Type, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> T? {
    let facts = walk.state.types.facts(of: type).0
    do {
      return try root(type, facts, tag: tag, keyIdentifier: keyIdentifier, record: record)
    } catch is GraphWalk.OtherClass {
      return nil
    }
  }

  /// The same, handed to `found` and not returned in an optional, from which generic code would copy it.
  ///
  /// - Parameter facts: those of the type, which the caller has looked up.
  /// - Throws: also the errors of `found`, after which the session is as before.
  package func visit<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan,
    _ found: (consuming T) throws -> Void
  ) throws {
    let object: T
    do {
      object = try root(
        type, Permanent(facts), tag: tag, keyIdentifier: keyIdentifier, record: record)
    } catch is GraphWalk.OtherClass {
      return
    }
    try found(consume object)
  }

  /// Lets the roots that follow wait for ``completeTogether()``. For a scan of objects that link to one another: most
  /// are decoded in the order of their records then, and need not be looked up.
  package func completeLater() { walk.completesLater = true }

  /// Fetches what the roots decoded since ``completeLater()`` link to, and fills their links in.
  ///
  /// - Throws: as ``object(_:_:)``.
  package func completeTogether() throws {
    walk.completesLater = false
    do { try walk.completeTogether() } catch { throw walk.failed(error) }
  }

  /// Sets a function that is told of objects that cannot be decoded, and why, far below the object that is asked for. It is
  /// called while that object is being decoded.
  package func listenToFailures(_ listener: @escaping FailureListener) { walk.failureListener = listener }

  // MARK: - Reading ahead

  /// Sets a function that reads records before they are asked for. It is called when held roots are decoded, and when links are
  /// filled in together.
  package func readAhead(by read: @escaping WantedReading) { walk.wantedReading = read }

  /// Whether records are read before they are asked for.
  package var readsAhead: Bool { walk.wantedReading != nil }

  /// How many bytes records may have that are held, and those that are read ahead of them.
  package static var heldByteLimit: Int { KeptRecords.byteLimit }
  /// Larger records are not to be held: they are copied.
  package static var largestHeldByteCount: Int { KeptRecords.largestByteCount }

  /// How many bytes the records that are held have.
  package var heldByteCount: Int { walk.heldRoots.isEmpty ? 0 : walk.kept.byteCount }

  /// Whether records were held since ``visitHeld(_:_:_:)``, and how many.
  package var isHolding: Bool { !walk.heldRoots.isEmpty }
  package var heldCount: Int { walk.heldRoots.count }

  /// Whether there was no room for all that the records held last refer to. Fewer should be held the next time.
  package var heldTooMuch: Bool { walk.heldTooMuch }

  /// Holds a record back, which is copied, until ``visitHeld(_:_:_:)``.
  package func hold(_ facts: TypeFacts, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan) {
    keyIdentifier.withUnsafeBytes { identifier in
      record.withUnsafeBytes {
        walk.hold(RecordKey(tag: tag, identifier: identifier), $0, Permanent(facts))
      }
    }
  }

  /// Decodes the objects of the records that are held, in their order, and hands them to `found`.
  ///
  /// - Throws: as ``object(_:_:)``, and the errors of `found`. The session then forgets what it holds.
  package func visitHeld<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ found: (consuming T) throws -> Void
  ) throws {
    defer { walk.forgetKept() }
    walk.readAheadOfHeld()
    for index in 0..<walk.heldRoots.count {
      // By index, and copied: a root that fails empties the list.
      let held = walk.heldRoots[index]
      let object: T
      do {
        object = try root(type, Permanent(facts), held.key, held.record, number: held.number)
      } catch is GraphWalk.OtherClass {
        continue
      }
      try found(consume object)
    }
  }

  /// - Throws: also ``GraphWalk/OtherClass``.
  @inline(__always)
  private func root<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> T {
    // Lent to the end of this call. Not in closures: in generic code each asks for the metadata of its result.
    let identifier = keyIdentifier.withUnsafeBytes { $0 }
    let record = record.withUnsafeBytes { $0 }
    return try root(type, facts, RecordKey(tag: tag, identifier: identifier), record, number: -1)
  }

  /// - Parameter number: that of its identity; -1 where it has none yet.
  @inline(__always)
  private func root<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer,
    number: Int
  ) throws -> T {
    do {
      let object = try walk.root(type, facts, key, record, number: number)
      if !walk.completesLater {
        try walk.fillAll()
      } else if walk.fills.isUrgent {
        try walk.completeTogether()
      }
      return object
    } catch let other as GraphWalk.OtherClass {
      throw other
    } catch {
      throw walk.failed(walk.naming(error, inRecordOf: facts.object.name, key))
    }
  }

  /// The value of a typed key, complete with everything it refers to.
  func value<T: Decodable>(_ type: T.Type, _ parsed: ParsedRecord, key: CheckedKey) throws -> T {
    do {
      let value = try walk.value(type, parsed, key: key)
      try walk.fillAll()
      return value
    } catch {
      // The caller knows the key and names it.
      let isOfValue = error is UnregisteredClass || error is NewerInlineVersion
      let value = RecordInHand(type: "the", identifier: "value")
      throw walk.failed(isOfValue ? value.naming(error) : error)
    }
  }

  /// How many identities the session has met: what it holds grows with it.
  public var objectCount: Int { walk.identities.count }

  /// Forgets the objects decoded so far: what is decoded afterwards is not shared with them.
  public func reset() { walk.forget() }
}

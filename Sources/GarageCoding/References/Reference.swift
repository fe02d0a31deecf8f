/// Names an object without loading it: a small value that holds only the object's identity.
///
/// Parking a reference does not park its target, loading an object that has one loads nothing behind it.
/// `garage.retrieve(reference)` loads the target. References may form cycles, and break those that would keep
/// objects alive in memory.
///
/// `Target` is `Codable & Identifiable`, which the initializers ask for and the type itself does not: so a class whose
/// conformances belong to the main actor can hold references to its own type.
public struct Reference<Target>: Hashable, Sendable {
  /// One enum, so that a target that stood inline costs other references nothing; errors are boxed, because they are large.
  private enum Name: Sendable {
    case identity(RecordIdentity)
    indirect case failure(GraphCodingError)
    /// The target itself, which stood inline when this was read. It has the identity.
    case inline(InlineTarget)
  }
  private let name: Name

  /// The identity of the target.
  ///
  /// - Throws: ``GraphCodingError`` where the target's type or `id` can name no record.
  public var identity: RecordIdentity {
    get throws {
      switch name {
      case .identity(let identity): return identity
      case .failure(let error): throw error
      case .inline(let target): return target.identity
      }
    }
  }

  /// The identity of the target, if that is all that this holds.
  @inline(__always)
  var knownIdentity: RecordIdentity? {
    if case .identity(let identity) = name { identity } else { nil }
  }

  /// The target itself, where it stood inline when this was read.
  package var inlineTarget: InlineTarget? {
    if case .inline(let target) = name { target } else { nil }
  }

  private var named: Result<RecordIdentity, GraphCodingError> {
    switch name {
    case .identity(let identity): .success(identity)
    case .failure(let error): .failure(error)
    case .inline(let target): .success(target.identity)
    }
  }

  fileprivate init(_ identity: () throws -> RecordIdentity) {
    do {
      name = .identity(try identity())
    } catch let error as GraphCodingError {
      name = .failure(error)
    } catch {
      name = .failure(.unsupportedIdentifier(type: String(describing: Target.self)))
    }
  }
}

extension Reference where Target: Codable & Identifiable {
  /// A reference to `target`, parked or not.
  public init(to target: Target) {
    // The identity space is that of the object's own type, not of the property's.
    self.init { try GraphEncoder().identity(of: target) }
  }

  /// A reference to the object of this type whose `id` is `identifier`, parked or not.
  public init(_ type: Target.Type, identifier: Target.ID) {
    self.init { try TypeDescription.identity(of: type, id: identifier) }
  }

  /// The same for an identifier given as a text, number or UUID that stands for an `id`, or as ``Identifier``.
  ///
  /// If it stands for none, as `"x"` where the `id` is a number, each use of the reference throws
  /// ``GraphCodingError/unsuitableIdentifier(type:identifier:idType:)``.
  @_disfavoredOverload
  public init(_ type: Target.Type, identifier: some Hashable) {
    self.init { try TypeDescription.identity(of: type, converting: identifier) }
  }
}

extension Reference {
  /// Whether both name the same object, be it by the present tag of its type or by a former one.
  public static func == (a: Reference, b: Reference) -> Bool {
    // The usual case, without making results of both.
    if let a = a.knownIdentity, let b = b.knownIdentity { return areOfOneObject(a, b) }
    switch (a.named, b.named) {
    case (.success(let first), .success(let second)): return areOfOneObject(first, second)
    case (.failure(let first), .failure(let second)): return first == second
    default: return false
    }
  }

  @inline(__always)
  private static func areOfOneObject(_ a: RecordIdentity, _ b: RecordIdentity) -> Bool {
    a.identifier == b.identifier && (a.tag == b.tag || areNamesOfTarget(a.tag, b.tag))
  }

  /// Whether both are tags of the target's type: the present one or former ones.
  @inline(never)
  private static func areNamesOfTarget(_ first: UInt64, _ second: UInt64) -> Bool {
    guard let tags = try? TypeFacts.of(Target.self).object.tags() else { return false }
    let names = [tags.identity.digest] + tags.former.map(\.digest)
    return names.contains(first) && names.contains(second)
  }

  /// Hashes what identifies the target, and not by which tag it is named, because equal references may have several.
  public func hash(into hasher: inout Hasher) {
    switch name {
    case .identity(let identity): hasher.combine(identity.identifier)
    case .failure(let error): hasher.combine(error)
    case .inline(let target): hasher.combine(target.identity.identifier)
    }
  }
}

extension Reference: CustomStringConvertible {
  /// The target's type and identifier.
  public var description: String {
    switch named {
    case .success(let identity): "Reference to \(Target.self) \"\(identity.identifier)\""
    case .failure(let error): "Reference to no \(Target.self): \(error)"
    }
  }
}

// MARK: - Coding

/// `Reference` itself, for a question at run time.
package protocol LazyReference {
  static var target: Any.Type { get }
  /// The identity of what it names.
  var identity: RecordIdentity { get throws }
}

extension Reference: LazyReference {
  package static var target: Any.Type { Target.self }
}

extension Reference: GraphCodable, GraphDecodable {
  static func encode(at address: UnsafeRawPointer, toGraph state: EncoderPointer) throws {
    try address[as: Reference.self].encode(toGraph: state)
  }

  @inline(__always)
  private func encode(toGraph state: EncoderPointer) throws {
    state.writeReference(to: try identity, of: Target.self, .lazy)
    if case .inline(let target) = name { state.note(target) }
  }

  /// Where the target once stood inline, the reference names it by its `id`, and carries it along until it is parked.
  init(fromGraph state: DecoderPointer) throws {
    if try !state.isReference() {
      self = try Reference.read(state)
    } else {
      // The usual case, with nothing in its way.
      state.lastReference = state.cursor
      let identity = state.identity(ofReference: try state.readReferenceIndex())
      if !state.walk.inlineTargets.lendsNone, let target = state.walk.inlineTargets.lent(identity) {
        name = .inline(target)
      } else {
        name = .identity(identity)
      }
    }
  }

  private init(inline target: InlineTarget) { name = .inline(target) }

  @inline(never)
  private static func read(_ state: DecoderPointer) throws -> Reference {
    if let id = try state.foreignIdentifier() {
      return Reference { try TypeDescription.identity(of: Target.self, id: id) }
    }
    guard let target = Target.self as? any (Codable & Identifiable).Type else {
      throw state.mismatch(Target.self)
    }
    return try read(target, inlineIn: state)
  }

  private static func read<T: Codable & Identifiable>(
    _ type: T.Type, inlineIn state: DecoderPointer
  ) throws -> Reference {
    let target = try state.readInlineTarget(type)
    let reference = Reference { try GraphEncoder().identity(of: target) }
    guard case .identity(let identity) = reference.name else { return reference }
    return Reference(inline: state.walk.noteInlineTarget(target, identity))
  }
}

extension Reference: Codable {
  private enum CodingKeys: String, CodingKey { case tag, identifier }

  /// With a garage's coder a reference in the record's table; with others the digest of the type tag and the
  /// identifier's bytes.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueEncoder {
      try encoder.writeOwn { try encode(toGraph: $0) }
    } else {
      let identity = try identity
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(identity.tag, forKey: .tag)
      try container.encode(identity.identifier.bytes, forKey: .identifier)
    }
  }

  /// Reads what `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueDecoder {
      self = try decoder.readOwn { try Reference(fromGraph: $0) }
    } else {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      guard let identifier = Identifier(bytes: try container.decode([UInt8].self, forKey: .identifier)) else {
        throw DecodingError.dataCorruptedError(
          forKey: .identifier, in: container, debugDescription: "The bytes are no identifier.")
      }
      let tag = try container.decode(UInt64.self, forKey: .tag)
      self.init { RecordIdentity(tag: tag, identifier: identifier) }
    }
  }
}

extension ValueEncoder {
  /// Lets one of this module's types write itself as the single value of this encoder.
  func writeOwn(_ body: (EncoderPointer) throws -> Void) throws {
    try state.resume(serial)
    try state.attempt {
      try state.beginSingle(serial: serial)
      try body(state)
    }
  }
}

extension ValueDecoder {
  /// Lets one of this module's types read itself from this decoder's value.
  func readOwn<R>(_ body: (DecoderPointer) throws -> R) throws -> R {
    try request { state in
      state.cursor = state.frame.start
      if state.frame.kind != .value { return try state.readingWhole { try body(state) } }
      return try body(state)
    }
  }
}

extension Reference: ProbeValue {
  /// A reference to an object that there need not be.
  static func probe(isSecond: Bool) -> Reference {
    Reference {
      RecordIdentity(
        tag: isSecond ? 2 : 1, identifier: try Identifier(isSecond ? 2 : 1, canonical: canonicalBytes))
    }
  }
}

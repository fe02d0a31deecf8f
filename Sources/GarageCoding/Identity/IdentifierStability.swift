internal import Synchronization

// Whether an object that was encoded can be retrieved: under the identifier that its record has been given, and as an
// object whose `id` has that identifier. Everything else is refused while the object is still there.

extension EncodingCore {
  /// Makes sure that the object's `id` is that of its record, now that it was encoded, and will be when it is read.
  ///
  /// - Parameter identifier: that of its record.
  /// - Throws: ``GraphCodingError/unretrievable(type:identifier:reason:)``.
  @inline(__always)
  func checkIdentifier<T>(of object: T, _ facts: TypeFacts, _ identifier: UnsafeRawBufferPointer) throws {
    if facts.identifierStability == .changeable && !facts.hasIdentifierFaults,
      withUnsafePointer(to: object, { facts.isSurely(identifier, at: UnsafeRawPointer($0)) })
    {
      return
    }
    try checkThoroughly(object, facts, identifier)
  }

  @inline(never)
  private func checkThoroughly<T>(
    _ object: T, _ facts: TypeFacts, _ identifier: UnsafeRawBufferPointer
  ) throws {
    let mayChange = facts.identifierStability != .stored
    let reason = try withUnsafePointer(to: object) {
      try facts.identifierFault(
        of: UnsafeRawPointer($0), identifier, mayChange: mayChange, &identifierWriter.pointee)
    }
    if let reason {
      throw GraphCodingError.unretrievable(
        type: facts.name, identifier: Identifier(unchecked: Array(identifier)).description, reason: reason)
    }
    if facts.identifierStability == .unknown { facts.learnStability(of: object) }
  }
}

/// Whether the `id` of a type's values may be another one when they are asked again.
enum IdentifierStability: UInt8, AtomicRepresentable {
  case unknown
  /// Never, and it is read back as it is: a stored property of a struct, whose `encode(to:)` cannot change it.
  case constant
  /// Never, but it may be of a value that is not read back as it is.
  case stored
  case changeable
}

extension TypeFacts {
  /// Learns from a value whether its `id` is stored in it.
  fileprivate func learnStability<T>(of object: T) {
    guard !isClass, !(object is any CustomReflectable), let idType = try? identifierType(),
      !(idType is AnyClass)
    else { return note(.changeable) }
    let mirror = Mirror(reflecting: object)
    // A case of an enum may be called "id".
    guard mirror.displayStyle == .struct else { return note(.changeable) }
    let id = mirror.children.first {
      $0.label == "id" && Swift.type(of: $0.value) == idType
    }
    guard let id else { return note(.changeable) }
    func byteCount<ID>(_: ID.Type) -> Int { MemoryLayout<ID>.size }
    // The cases of a plain enum are made of their raw values.
    let isCase =
      !(id.value is any CustomReflectable) && id.value is any RawRepresentable
      && Mirror(reflecting: id.value).displayStyle == .enum && _openExistential(idType, do: byteCount) <= 1
    note(hasIdentifierFaults && !isCase ? .stored : .constant)
  }
}

extension TypeFacts.IdentifierAccess {
  /// What is wrong with an `id`; nil where nothing is.
  func fault(
    ofIdentifierAt id: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer, mayChange: Bool,
    _ writer: inout IdentifierWriter
  ) throws -> String? {
    if mayChange && !plan.isSurely(wanted, at: id) {
      writer.removeAll()
      try plan.write(at: id, to: &writer, canonical: canonicalBytes)
      if compareBytes(writer.bytes, wanted) != 0 {
        return """
          after it was encoded its id is "\(Identifier(writer))". An id names one object for good: keep it in a \
          property, and change it neither in encode(to:) nor each time it is asked for
          """
      }
    }
    return plan.fault?(id, wanted)
  }
}

// MARK: - Values that are not read back as they were

extension IdentifierPlan {
  static var nestedNilFault: String {
    """
    its id is an optional inside another one, whose inner one is nil: that is read back as the nil of the outer one. \
    Use a single optional, or give the object an id
    """
  }

  /// Why a raw value does not stand for the value that it is of.
  static func rawValueFault<T: RawRepresentable>(
    _ type: T.Type, _ address: UnsafeRawPointer, _ raw: IdentifierPlan
  ) -> String? {
    let value = address[as: T.self]
    let rawValue = value.rawValue
    if let again = T(rawValue: rawValue), isSame(again.rawValue, rawValue, raw) { return nil }
    if isReadBack(value) { return nil }
    return """
      its id has the raw value \(rawValue), from which \(T.self)(rawValue:) makes no \(T.self), or another one. Let it \
      make the value again that has that raw value
      """
  }

  private static func isSame<Raw>(_ a: Raw, _ b: Raw, _ plan: IdentifierPlan) -> Bool {
    func bytes(_ value: Raw) -> [UInt8]? {
      var writer = IdentifierWriter(minimumCapacity: 64)
      try? withUnsafePointer(to: value) { try plan.write(at: $0, to: &writer, canonical: canonicalBytes) }
      return Array(writer.bytes)
    }
    // The usual ones, without an allocation.
    if Raw.self == String.self {
      return Reinterpretation.same(a, as: String.self) == Reinterpretation.same(b, as: String.self)
    }
    if Raw.self == Int.self {
      return Reinterpretation.same(a, as: Int.self) == Reinterpretation.same(b, as: Int.self)
    }
    return bytes(a) == bytes(b)
  }

  /// Why a value is not read back whose canonical bytes are its identifier. Asked where they hold a null: perhaps the
  /// inner nil of an optional in an optional.
  static func canonicalFault<T: Codable & Hashable>(
    _ type: T.Type, _ address: UnsafeRawPointer, _ identifier: UnsafeRawBufferPointer
  ) -> String? {
    guard mayHoldNull(identifier) else { return nil }
    if isReadBack(address[as: T.self]) { return nil }
    return """
      its id, of type \(T.self), is not the same any more when it was encoded and decoded. Encode all that tells it from \
      others; of an optional in an optional the inner nil is lost
      """
  }

  /// Whether an identifier's canonical body holds a null, and not only a byte that looks like one.
  private static func mayHoldNull(_ identifier: UnsafeRawBufferPointer) -> Bool {
    guard identifier.contains(BodyTag.null), let base = identifier.baseAddress else { return false }
    guard identifier.first == IdentifierKind.canonical.rawValue else { return true }
    // What cannot be told may be so.
    return (try? BodyScanner.holdsNull(base, 1, end: identifier.count)) ?? true
  }

  /// Whether a value has the same identifier when it was encoded and decoded.
  private static func isReadBack<T>(_ value: T) -> Bool {
    guard let codable = value as? any Codable else { return true }
    func check<C: Codable>(_ codable: C) -> Bool {
      do {
        let again = try readBack(codable)
        return try canonicalBytes(again) == canonicalBytes(codable)
      } catch {
        return false
      }
    }
    return check(codable)
  }
}

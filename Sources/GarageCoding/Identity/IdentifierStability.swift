internal import Synchronization

// Whether an encoded object can be retrieved: under the identifier that its record has, and as an object whose `id` has that
// identifier. An object that cannot is refused here, while it still exists.

extension EncodingCore {
  /// Makes sure, after an object was encoded, that its `id` is still that of its record, and will be so when it is read.
  ///
  /// - Parameter identifier: the identifier of its record.
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

/// Whether the `id` of a type's values may differ when it is read again.
enum IdentifierStability: UInt8, AtomicRepresentable {
  case unknown
  /// It never differs, and is read back as it is: it is a stored property of a struct, and `encode(to:)` cannot change it.
  case constant
  /// It never differs, but may belong to a value that is not read back as it is.
  case stored
  case changeable
}

extension TypeFacts {
  /// Finds out from a value whether its `id` is stored in it.
  fileprivate func learnStability<T>(of object: T) {
    guard !isClass, !(object is any CustomReflectable), let idType = try? identifierType(),
      !(idType is AnyClass)
    else { return note(.changeable) }
    let mirror = Mirror(reflecting: object)
    // An enum may have a case named "id".
    guard mirror.displayStyle == .struct else { return note(.changeable) }
    let id = mirror.children.first {
      $0.label == "id" && Swift.type(of: $0.value) == idType
    }
    guard let id else { return note(.changeable) }
    func byteCount<ID>(_: ID.Type) -> Int { MemoryLayout<ID>.size }
    // The cases of a plain enum are made from their raw values, unless it does that by hand and has forgotten one.
    let isCase =
      !(id.value is any CustomReflectable) && id.value is any RawRepresentable
      && Mirror(reflecting: id.value).displayStyle == .enum && _openExistential(idType, do: byteCount) <= 1
    note(hasIdentifierFaults && !(isCase && areCasesReadBack(of: idType)) ? .stored : .constant)
  }

  /// Whether every case of a plain enum that is the `id` is read back as it was.
  private func areCasesReadBack(of idType: Any.Type) -> Bool {
    func isReadBack(_ id: some Any) -> Bool {
      withUnsafePointer(to: id) { identifierFault(ofIdentifierAt: UnsafeRawPointer($0)) == nil }
    }
    guard let cases = EnumCases.all(of: idType), !cases.isEmpty else { return false }
    return cases.allSatisfy { _openExistential($0, do: isReadBack) }
  }
}

extension TypeFacts.IdentifierAccess {
  /// What is wrong with an `id`; nil if nothing is.
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

  /// Why a raw value does not stand for the value that it belongs to.
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
    // The usual types are compared without an allocation.
    if Raw.self == String.self {
      return Reinterpretation.same(a, as: String.self) == Reinterpretation.same(b, as: String.self)
    }
    if Raw.self == Int.self {
      return Reinterpretation.same(a, as: Int.self) == Reinterpretation.same(b, as: Int.self)
    }
    return bytes(a) == bytes(b)
  }

  /// Why a value that is identified by its canonical bytes is not read back as it was. Called if these bytes hold a null, which
  /// may be the inner nil of an optional in an optional.
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

  /// Whether the canonical body in an identifier may hold a null, and not only a byte that looks like one.
  private static func mayHoldNull(_ identifier: UnsafeRawBufferPointer) -> Bool {
    guard identifier.contains(BodyTag.null), let base = identifier.baseAddress else { return false }
    guard identifier.first == IdentifierKind.canonical.rawValue else { return true }
    // If that cannot be told, it may hold one.
    return (try? BodyScanner.holdsNull(base, 1, end: identifier.count)) ?? true
  }

  /// Whether a value still has the same identifier after it was encoded and decoded.
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

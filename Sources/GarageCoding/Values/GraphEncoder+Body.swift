// A value's body without a record around it: as much as other coders make of a value, for measuring beside them.

extension GraphEncoder {
  /// Encodes a value as the body of a record, behind the record's table of shapes. That is all that other coders do, without
  /// the additions that a store needs: identity, time and checksum.
  ///
  /// - Throws: the errors of encoding the value; ``GraphCodingError/missingConformance(type:)`` if the value refers to objects,
  ///   which are records of their own.
  @_spi(Measuring) public func body<T: Encodable>(of value: T) throws -> [UInt8] {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      let body = try core.body(of: value)
      guard core.graph.pointee.references.isEmpty else {
        throw GraphCodingError.missingConformance(
          type: "\(T.self), which refers to objects and has no body alone,")
      }
      return Array(core.builder.pointee.shapesAndBody(body, core.graph))
    }
  }
}

extension GraphDecodingSession {
  /// The value of a body that ``GraphEncoder/body(of:)`` made.
  ///
  /// - Throws: the errors of decoding the value.
  @_spi(Measuring) public func value<T: Decodable>(_ type: T.Type, ofBody bytes: RawSpan) throws -> T {
    // Lent to the end of this call, as in `object(_:tag:keyIdentifier:record:)`.
    let bytes = bytes.withUnsafeBytes { $0 }
    do {
      return try walk.value(type, walk.state.types.facts(of: type).1, ofBody: bytes)
    } catch {
      throw walk.failed(error)
    }
  }
}

extension GraphWalk {
  fileprivate func value<T: Decodable>(
    _ type: T.Type, _ kind: ValueKind, ofBody bytes: UnsafeRawBufferPointer
  ) throws -> T {
    guard let base = bytes.baseAddress else { throw DamagedBytes(reason: "it is empty", offset: 0) }
    let record = try ParsedRecord(shapesAndBody: base, bytes.count)
    defer { state.leaveRoot() }
    try state.enterRoot(record, isDigest: false)
    let value = try state.readRoot(type, kind)
    if let failure = state.failure { throw failure }
    return value
  }
}

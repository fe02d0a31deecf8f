internal import GarageCoding
internal import GarageDriver

/// The keys of objects in one garage: the one place that knows how an identifier becomes part of a key, and a key
/// an identifier again.
///
/// In most garages identifiers stand in keys as they are (`KeyLayout`). In a garage that hides them, the first 16 bytes of
/// their HMAC-SHA-256 stand there, and each record holds its whole identifier, so that it can be told from the record.
/// ```
/// record        | 10 | tag 8 | hash 16 |
/// sync status   | 21 | status 1 | tag 8 | hash 16 |
/// ```
/// The hash is of the identifier's key form (`Identifier.keyBytes`) and not of the tag, so that objects keep it when they get
/// another tag. The encoder, the decoder and checksums work with identifiers that are not hidden.
struct ObjectKeys: Sendable {
  /// Nil where identifiers are not hidden.
  private let hash: KeyedHash?

  /// Whether what the storage holds is sealed, so that a value may be there and not open.
  let isSealed: Bool

  /// - Parameter hidingKey: the key of the hash; nil where identifiers are not hidden.
  init(hidingKey: [UInt8]?, isSealed: Bool) {
    hash = hidingKey.map { KeyedHash(key: $0) }
    self.isSealed = isSealed
  }

  var hidesIdentifiers: Bool { hash != nil }

  // MARK: - From identifiers to keys

  /// The record of one object.
  func record(tag: UInt64, _ identifier: Identifier) throws -> StorageKey {
    let keyForm = identifier.keyBytes
    return try withStorageKey(tag: tag, keyForm.span.bytes) { StorageKey($0) }
  }

  /// Lends the key of one object's record, made on the stack. `identifier` is in its key form.
  @inline(__always)
  func withStorageKey<R>(tag: UInt64, _ identifier: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    guard let hash else { return try KeyLayout.withStorageKey(tag: tag, identifier, body) }
    return try hash.withHash(of: identifier) { try KeyLayout.withStorageKey(tag: tag, $0, body) }
  }

  /// The graph with the keys that its records are to be put under.
  func hiding(_ graph: EncodedGraph) throws -> EncodedGraph {
    guard let hash else { return graph }
    var graph = graph
    try graph.replaceKeys { key, other in
      let start = KeyLayout.identifierOffset
      other += [UInt8](copying: key.extracting(..<start))
      try hash.withHash(of: key.extracting(start...)) { other += [UInt8](copying: $0) }
    }
    return graph
  }

  // MARK: - From keys to identifiers

  /// Lends the identifier of the record with this key, in its key form.
  ///
  /// - Parameter typeName: for errors. An autoclosure, because each call would otherwise count a reference to it.
  /// - Throws: ``GraphCodingError``, in a garage that hides identifiers, for a record that does not hold its
  ///   identifier, or another object's.
  @inline(__always)
  func withIdentifier<R>(
    of key: RawSpan, _ record: RawSpan, typeName: @autoclosure () -> String, _ body: (RawSpan) throws -> R
  ) throws -> R {
    guard let hash else { return try body(key.extracting(KeyLayout.identifierStart(of: key)...)) }
    return try withHiddenIdentifier(hash, key, record, typeName(), body)
  }

  @inline(never)
  private func withHiddenIdentifier<R>(
    _ hash: KeyedHash, _ key: RawSpan, _ record: RawSpan, _ typeName: String, _ body: (RawSpan) throws -> R
  ) throws -> R {
    try RecordSummary.withUncheckedIdentifier(of: record, typeName: typeName, name: hexadecimal(key)) {
      whole in
      try Identifier.withKeyForm(of: whole) { identifier in
        let isOfKey = try hash.withHash(of: identifier.bytes) {
          compareKeys($0, key.extracting(KeyLayout.identifierStart(of: key)...)) == 0
        }
        if !isOfKey {
          throw GraphCodingError.corrupt(
            type: typeName, identifier: hexadecimal(key),
            reason: "it holds another object's identifier, or a damaged one"
          )
        }
        return try body(identifier.bytes)
      }
    }
  }

  /// Reads and checks the header of the record with this key.
  func header(of key: RawSpan, _ record: RawSpan, typeName: String) throws -> RecordSummary {
    try withIdentifier(of: key, record, typeName: typeName) { identifier in
      try RecordSummary(
        tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record, typeName: typeName)
    }
  }

  /// Makes sure that the record under a key with a cut identifier is that of this one.
  ///
  /// - Throws: ``GraphCodingError``.
  func check(_ identifier: Identifier, _ key: RawSpan, _ record: RawSpan, typeName: String) throws {
    guard let whole = try header(of: key, record, typeName: typeName).wholeIdentifier,
      whole != identifier
    else { return }
    throw GraphCodingError.corrupt(
      type: typeName, identifier: identifier.description, reason: "it holds another object's identifier")
  }

  /// The identifier of the record with this key in words, for messages: its hash where that is all that is known.
  func identifierText(of key: RawSpan, _ record: RawSpan?) -> String {
    guard hidesIdentifiers else {
      return Identifier.description(
        ofKeyBytes: [UInt8](copying: key.extracting(KeyLayout.identifierStart(of: key)...)))
    }
    guard let record else { return hexadecimal(key) }
    let text = try? withIdentifier(of: key, record, typeName: "") {
      Identifier.description(ofKeyBytes: [UInt8](copying: $0))
    }
    return text ?? hexadecimal(key)
  }

  /// `hidden as 0123…`
  private func hexadecimal(_ key: RawSpan) -> String {
    "hidden as \(StorageKey(key.extracting(KeyLayout.identifierStart(of: key)...)))"
  }
}

// Elements of a set, or keys of a dictionary, whose canonical bytes are the same. Mostly they stay apart when they are
// read back: several NaN, objects that only their addresses tell apart. Those that would become one are refused, because
// what is read back would be less than what was parked.

extension EncoderPointer {
  /// Makes sure that elements of the same canonical bytes stay apart.
  ///
  /// - Throws: `EncodingError.invalidValue` where they do not.
  func refuseMerging<Element: Encodable & Hashable>(_ elements: [Element], _ collection: String) throws {
    let isEqual =
      zip(elements, elements.dropFirst()).contains { $0 == $1 } || Set(elements).count < elements.count
    let reason: String
    if isEqual {
      reason = """
        that are equal, so that one only would be read back. One of them was changed after it was put in: make the \
        \(collection) anew, and change nothing that tells the elements of a set or the keys of a dictionary apart.
        """
    } else if types.facts(of: Element.self).1 == .reference && !inlinesEverything {
      reason = """
        of one id, which have one record, so that one of them would be lost. Give each an id of its own, conform \
        \(Element.self) to Inlined, or hold a Reference<\(Element.self)> and park them by themselves.
        """
    } else if areOneOnceRead(elements) {
      reason = """
        whose encoded forms are the same and equal when they are read back, so that one of them would be lost. Encode \
        what tells them apart. (Where that is an object inside them that is Identifiable: all objects of one id have \
        one record.)
        """
    } else {
      return
    }
    throw EncodingError.invalidValue(
      elements,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription:
          "The \(collection) holds \(elements.count) values of type \(Element.self) \(reason) They are: \(texts(elements))."
      ))
  }

  /// The error for elements of a set that a date strategy writes alike.
  func writtenAlike<Element>(_ elements: [Element]) -> any Error {
    EncodingError.invalidValue(
      elements,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: """
          The set holds values of type \(Element.self) that the date strategy writes alike, so that one of them would be \
          lost. Round their dates before they are put in, or park the set with exact dates (.deferredToDate). They are: \
          \(texts(elements)).
          """))
  }

  private func texts(_ elements: [some Any]) -> String {
    elements.prefix(3).map { String(String(describing: $0).prefix(200)) }.joined(separator: ", ")
      + (elements.count > 3 ? ", …" : "")
  }

  /// Whether elements become equal by being encoded and decoded. Only tried where their bytes are the same already.
  private func areOneOnceRead<Element: Encodable & Hashable>(_ elements: [Element]) -> Bool {
    // An element that is not even equal to itself equals no other one when it is read, either.
    guard !core.isTrial, elements.contains(where: { $0 == $0 }),
      let type = [Element].self as? any Decodable.Type,
      let read = try? copy(elements, as: type) as? [Element]
    else { return false }
    return Set(read).count < read.count || zip(read, read.dropFirst()).contains { $0 == $1 }
  }

  /// The elements as they would be read back.
  private func copy<T: Decodable>(_ elements: some Encodable, as type: T.Type) throws -> T {
    try readBack(elements, as: type, userInfo: core.userInfo)
  }
}

/// The elements of a set that were written so far, where a date strategy may write different ones alike.
struct WrittenElements {
  private var elements: [[UInt8]: (canonical: [UInt8], place: Int)] = [:]

  /// Nil where elements that differ are written as different bytes.
  init?(of kind: ValueKind, hasDateStrategy: Bool) {
    if !hasDateStrategy || kind.isScalar && kind != .date && kind != .dates { return nil }
  }

  /// Notes an element. Returns the place of another one that has the same bytes, and not the same canonical ones.
  mutating func note(
    _ bytes: UnsafeRawBufferPointer, _ canonical: UnsafeRawBufferPointer, _ place: Int
  ) -> Int? {
    let canonical = Array(canonical)
    guard let other = elements.updateValue((canonical, place), forKey: Array(bytes)) else { return nil }
    return other.canonical == canonical ? nil : other.place
  }
}

/// A value as it is after it was encoded, with all that it refers to, and decoded.
func readBack<T: Codable>(_ value: T) throws -> T { try readBack(value, as: T.self, userInfo: [:]) }

private func readBack<T: Decodable>(
  _ value: some Encodable, as type: T.Type, userInfo: [CodingUserInfoKey: any Sendable]
) throws -> T {
  // Any key will do for a value that nobody stores.
  let anyKey: [UInt8] = [0]
  let encoded = try EncodingCore.withCore(userInfo: userInfo) { core in
    // Where the value refers to its own collection, encoding it comes to this question again. It is then not asked.
    core.isTrial = true
    return try anyKey.withUnsafeBytes {
      try GraphEncoder().value(value, key: CheckedKey($0), fullKey: nil, core)
    }
  }
  let source = GraphSource(encoded.graph)
  let session = GraphDecodingSession(source: source, types: .none, userInfo: userInfo)
  return try anyKey.withUnsafeBytes {
    try session.value(type, key: CheckedKey($0), fullKey: nil, record: encoded.bytes.span.bytes)
  }
}

/// The records of one graph.
private final class GraphSource: RecordSource {
  private var records: [[UInt8]: [UInt8]] = [:]
  private let graph: EncodedGraph

  init(_ graph: EncodedGraph) {
    self.graph = graph
    for (key, record) in graph.recordsByKey { records[key] = record }
  }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    let key = keyIdentifier.withUnsafeBytes { RecordKey(tag: tag, identifier: $0).bytes }
    guard let record = records[key] else { return try body(nil) }
    return try body(record.span.bytes)
  }

  func shapeText(_ digest: UInt64) -> [UInt8]? { graph.shapes.first { $0.digest == digest }?.text }
  func tagName(_ digest: UInt64) -> String? { graph.tags.first { $0.digest == digest }?.name }
}

// Containers that are asked for where a reference stands, as by who looks at an element before deciding as what to decode it: they
// are those of the object, as everywhere where a reference is found and the object's own value is expected. Its value is written
// out into the record that is being decoded, which nobody pays for who decodes the object as a whole.

extension DecoderPointer {
  /// Where the value of the object now stands that the current frame's value refers to; nil where that is no reference, or one
  /// that is not followed.
  ///
  /// - Throws: also where the object's record is gone.
  @inline(never)
  func targetOfFrame() throws -> Range<Int>? {
    guard frame.start < frame.valueEnd, BodyTag.isReference(base.byte(at: frame.start)) else { return nil }
    let before = cursor
    defer { cursor = before }
    cursor = frame.start
    let index = try readReferenceIndex()
    if entry(ofReference: index).1 == .lazy { return nil }
    let number = number(ofReference: index)
    if let content = try walk.content(of: number) { return try keep(content) }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "Missing Identifiable reference: \(walk.name(of: number))"))
  }
}

extension GraphWalk {
  /// What the record with that number holds, as it was encoded; nil where there is none.
  fileprivate func content(of named: Int) throws -> RecordValue? {
    let number = current(named)
    var content: RecordValue?
    try look(at: number) { key, record in
      guard let record else { return }
      do {
        let parsed = try ParsedRecord(key, record)
        try checkWholeIdentifier(parsed, number, record)
        content = try RecordValue(parsed) { try source.shapeText($0) }
      } catch {
        throw naming(error, inRecordOf: (try? tagName(key.tag)) ?? "object", key)
      }
    }
    return content
  }
}

internal import GarageCoding

// Invariant: the question is there as long as the run that holds it, which makes this of it, and asks it nowhere but in its
// own methods.

/// A question that somebody else holds for as long as this is used: asking it counts no references, which takes as long as
/// many an answer does.
struct LentQuestion {
  private let question: Unmanaged<RecordQuestion>

  init(_ question: RecordQuestion) { self.question = .passUnretained(question) }

  /// The answer for a record whose key has its identifier as it is.
  @inline(__always)
  func answer(_ key: RawSpan, _ record: RawSpan) throws -> FieldAnswer {
    try asking(key) { try $0.answer(tag: $1, keyIdentifier: $2, record: record) }
  }

  /// Lends the question, with the tag and the identifier in a record's key that has it as it is.
  @inline(__always)
  func asking<R>(_ key: RawSpan, _ body: (RecordQuestion, UInt64, RawSpan) throws -> R) rethrows -> R {
    try question._withUnsafeGuaranteedRef { question in
      try body(
        question, KeyLayout.tag(inRecordKey: key), key.extracting(KeyLayout.identifierStart(of: key)...))
    }
  }
}

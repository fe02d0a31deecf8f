internal import GarageCoding

// Invariant: the question exists as long as the run that holds it. That run makes this value, and uses it only in its own
// methods.

/// A question that is held elsewhere as long as this value is used. Asking it counts no references, which would take as long as
/// many an answer.
struct LentQuestion {
  private let question: Unmanaged<RecordQuestion>

  init(_ question: RecordQuestion) { self.question = .passUnretained(question) }

  /// The answer for a record whose key holds the identifier itself, and not its hash.
  @inline(__always)
  func answer(_ key: RawSpan, _ record: RawSpan) throws -> FieldAnswer {
    try asking(key) { try $0.answer(tag: $1, keyIdentifier: $2, record: record) }
  }

  /// Lends the question, with the tag and the identifier in the key of a record, which holds no hash of the identifier.
  @inline(__always)
  func asking<R>(_ key: RawSpan, _ body: (RecordQuestion, UInt64, RawSpan) throws -> R) rethrows -> R {
    try question._withUnsafeGuaranteedRef { question in
      try body(
        question, KeyLayout.tag(inRecordKey: key), key.extracting(KeyLayout.identifierStart(of: key)...))
    }
  }
}

/// Where a decoder finds records: one consistent snapshot of a store.
public protocol RecordSource: AnyObject {
  /// Lends a record's bytes to `body`, nil where there is none. Calls nest inside each other's closures.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag.
  ///   - keyIdentifier: the identifier as keys hold it.
  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R

  /// The text of the shape with that digest; nil where the store has none.
  func shapeText(_ digest: UInt64) throws -> [UInt8]?

  /// The name of the type tag with that digest; nil where the store has none.
  func tagName(_ digest: UInt64) throws -> String?
}

/// Where there is no session.
final class NoRecords: RecordSource {
  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try body(nil)
  }
  func shapeText(_ digest: UInt64) throws -> [UInt8]? { nil }
  func tagName(_ digest: UInt64) throws -> String? { nil }
}

/// The source in which a decoder finds records: one consistent snapshot of a store.
public protocol RecordSource: AnyObject {
  /// Lends `body` the bytes of a record; nil if there is none. Calls nest inside each other's closures.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag.
  ///   - keyIdentifier: the identifier in the form of keys.
  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R

  /// The text of the shape with this digest; nil if the store has none.
  func shapeText(_ digest: UInt64) throws -> [UInt8]?

  /// The name of the type tag with this digest; nil if the store has none.
  func tagName(_ digest: UInt64) throws -> String?
}

/// A source without records, for coding outside of a session.
final class NoRecords: RecordSource {
  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try body(nil)
  }
  func shapeText(_ digest: UInt64) throws -> [UInt8]? { nil }
  func tagName(_ digest: UInt64) throws -> String? { nil }
}

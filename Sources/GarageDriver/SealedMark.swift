/// The bytes that every sealed value begins with. They tell a caller that reads a sealed store as a plain one what its values
/// are.
///
/// Format: these bytes are stored and never change. The first one occurs in no UTF-8 text.
package enum SealedMark {
  package static let bytes: [UInt8] = [0xF8, 0x53, 0x4C]

  /// Whether the value begins with these bytes.
  package static func begins(_ value: RawSpan) -> Bool {
    value.byteCount >= bytes.count && compareKeys(value.extracting(first: bytes.count), bytes.span.bytes) == 0
  }
}

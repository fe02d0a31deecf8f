/// The bytes that every sealed value begins with: those who read a sealed store as if it were a plain one can so
/// tell what they have before them.
///
/// Format: these bytes are stored and never change. The first is in no UTF-8 text.
package enum SealedMark {
  package static let bytes: [UInt8] = [0xF8, 0x53, 0x4C]

  /// Whether the value begins as a sealed one does.
  package static func begins(_ value: RawSpan) -> Bool {
    value.byteCount >= bytes.count && compareKeys(value.extracting(first: bytes.count), bytes.span.bytes) == 0
  }
}

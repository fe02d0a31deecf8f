internal import CGarage

extension UnsafeRawBufferPointer {
  /// Whether these bytes are UTF-8.
  var isUTF8: Bool { garage_is_utf8(baseAddress, count) }

  /// The text in these bytes; nil if they are not UTF-8. Nothing is repaired.
  ///
  /// The standard library validates scalar by scalar, which takes a nanosecond for each byte.
  func validText() -> String? {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      guard garage_is_utf8(baseAddress, count) else { return nil }
      return withTypedBytes { String(copying: UTF8Span(unchecked: $0.span, isKnownASCII: false)) }
    }
    return String(validating: self, as: UTF8.self)
  }
}

internal import GarageDriver

/// A key and its value, as a scan lends them.
struct Entry: Hashable, CustomStringConvertible, Sendable {
  var key: [UInt8]
  var value: [UInt8]

  init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }

  init(_ key: String, _ value: String) {
    self.init(key: Array(key.utf8), value: Array(value.utf8))
  }

  var description: String { "\(readable(key)): \(readable(value))" }
}

// MARK: - Text as bytes, and bytes as text

/// The bytes of `text`.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Lent bytes as text.
func text(_ span: RawSpan) -> String { String(decoding: [UInt8](copying: span), as: UTF8.self) }

/// Lent bytes as text; nil if there are none.
func ownedText(_ span: RawSpan?) -> String? {
  guard let span else { return nil }
  return text(span)
}

/// A copy of lent bytes; nil if there are none.
func owned(_ span: RawSpan?) -> [UInt8]? {
  guard let span else { return nil }
  return [UInt8](copying: span)
}

/// A number as four digits, so that the order of keys is the order of numbers.
func digits(_ number: Int, _ count: Int = 4) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, count - text.count)) + text
}

/// Printable bytes as text; other bytes as their number and their first digits.
func readable(_ bytes: [UInt8]) -> String {
  if bytes.count <= 60 && bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
    return "\"\(String(decoding: bytes, as: UTF8.self))\""
  }
  return "<\(StorageKey(Array(bytes.prefix(24)))), \(bytes.count) bytes>"
}

/// How many bytes there are, in words.
func byteCount(_ bytes: [UInt8]?) -> String { bytes.map { "\($0.count) bytes" } ?? "none" }

func byteCount(_ bytes: RawSpan?) -> String {
  guard let bytes else { return "none" }
  return "\(bytes.byteCount) bytes"
}

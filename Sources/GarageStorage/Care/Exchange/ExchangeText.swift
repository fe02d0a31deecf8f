#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import GarageCoding

/// JSON that is being written. `Docs/Format.md` describes the form of values.
struct ExchangeText {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func put(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private mutating func put(plain text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func put(_ number: Int) { put(plain: String(number)) }

  /// Bytes in Base64, in quotes.
  mutating func put(base64 content: some Collection<UInt8>) {
    put("\"")
    put(plain: Data(content).base64EncodedString())
    put("\"")
  }

  /// Text in quotes. Everything is escaped that JSON requires, or that could end a line.
  mutating func put(quoted text: String) {
    put("\"")
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": put("\\\"")
      case "\\": put("\\\\")
      case "\n": put("\\n")
      case "\r": put("\\r")
      case "\t": put("\\t")
      case "\u{0}"..<"\u{20}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        put("\\u")
        put(plain: String(repeating: "0", count: 4 - digits.count) + digits)
      default: bytes.append(contentsOf: String(scalar).utf8)
      }
    }
    put("\"")
  }

  mutating func put(list: [String]) {
    put("[")
    for (place, text) in list.enumerated() {
      if place > 0 { put(", ") }
      put(quoted: text)
    }
    put("]")
  }

  /// A stored value.
  ///
  /// - Parameter typeName: names the type of a reference.
  mutating func put(_ value: RecordValue, typeName: (UInt64) throws -> String) throws {
    switch value {
    case .null: put("null")
    case .bool(let value): put(value ? "true" : "false")
    case .integer(let value): put(plain: String(value))
    case .wideInteger(let value): put(plain: String(value))
    case .unsignedInteger(let value): put(plain: String(value))
    case .float(let value): put(floating: Double(value))
    case .double(let value): put(floating: value)
    case .date(let value): put(floating: value.timeIntervalSinceReferenceDate)
    case .uuid(let value): put(quoted: value.uuidString)
    case .decimal(let value): put(plain: value.isNaN ? "\"NaN\"" : "\(value)")
    case .data(let value): put(base64: value)
    case .string(let value): put(quoted: value)
    case .array(let elements):
      put("[")
      for (place, element) in elements.enumerated() {
        if place > 0 { put(", ") }
        try put(element, typeName: typeName)
      }
      put("]")
    case .map(let fields):
      put("{")
      for (place, field) in fields.enumerated() {
        if place > 0 { put(", ") }
        put(quoted: field.key)
        put(": ")
        try put(field.value, typeName: typeName)
      }
      put("}")
    case .reference(let identity, _):
      put("{\"$reference\": {\"type\": ")
      put(quoted: try typeName(identity.tag))
      put(", \"id\": ")
      put(quoted: "\(identity.identifier)")
      put("}}")
    case .versioned(_, let value), .withSyncStatus(_, let value): try put(value, typeName: typeName)
    }
  }

  private mutating func put(floating number: Double) {
    if number.isNaN { return put("\"NaN\"") }
    if number.isInfinite { return number < 0 ? put("\"-Infinity\"") : put("\"Infinity\"") }
    put(plain: "\(number)")
  }
}

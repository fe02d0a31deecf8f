/// A JSON value (RFC 8259) with its numbers as they were written, and its fields in their order.
indirect enum LegacyJSON {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([LegacyJSON])
  case object([(key: String, value: LegacyJSON)])

  /// - Throws: ``LegacyJSONError`` for what is not JSON.
  init(_ bytes: [UInt8]) throws {
    var parser = LegacyJSONParser(bytes: bytes)
    self = try parser.parse()
  }

  /// The value of an object under a key.
  subscript(key: String) -> LegacyJSON? {
    guard case .object(let fields) = self else { return nil }
    return fields.last { $0.key == key }?.value
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A string, or a number as it was written.
  var text: String? {
    switch self {
    case .string(let text), .number(let text): text
    default: nil
    }
  }
}

/// The reason why a text is no JSON.
struct LegacyJSONError: Error, CustomStringConvertible {
  let reason: String
  let offset: Int
  var description: String { "the text is no JSON: \(reason) at byte \(offset)" }
}

private struct LegacyJSONParser {
  let bytes: [UInt8]
  var at = 0
  var depth = 0

  /// As many levels as the coder allows values to nest.
  private static let maximumDepth = 256

  mutating func parse() throws -> LegacyJSON {
    let value = try value()
    skipSpace()
    guard at == bytes.count else { throw error("something follows the value") }
    return value
  }

  private func error(_ reason: String) -> LegacyJSONError { LegacyJSONError(reason: reason, offset: at) }

  private mutating func skipSpace() {
    while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard at < bytes.count, bytes[at] == byte else { return false }
    at += 1
    return true
  }

  private mutating func value() throws -> LegacyJSON {
    skipSpace()
    guard at < bytes.count else { throw error("it ends where a value is expected") }
    switch bytes[at] {
    case UInt8(ascii: "{"): return try nested { try $0.object() }
    case UInt8(ascii: "["): return try nested { try $0.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default:
      if takeWord("true") { return .bool(true) }
      if takeWord("false") { return .bool(false) }
      if takeWord("null") { return .null }
      throw error("no value begins so")
    }
  }

  private mutating func nested(_ body: (inout LegacyJSONParser) throws -> LegacyJSON) throws -> LegacyJSON {
    guard depth < LegacyJSONParser.maximumDepth else { throw error("it nests too deep") }
    depth += 1
    defer { depth -= 1 }
    at += 1
    return try body(&self)
  }

  private mutating func takeWord(_ word: String) -> Bool {
    guard bytes[at...].starts(with: word.utf8) else { return false }
    at += word.utf8.count
    return true
  }

  private mutating func object() throws -> LegacyJSON {
    var fields: [(key: String, value: LegacyJSON)] = []
    if take(UInt8(ascii: "}")) { return .object([]) }
    repeat {
      skipSpace()
      guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw error("a key is expected") }
      let key = try string()
      guard take(UInt8(ascii: ":")) else { throw error("a colon is expected") }
      fields.append((key, try value()))
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw error("an object does not end") }
    return .object(fields)
  }

  private mutating func array() throws -> LegacyJSON {
    var elements: [LegacyJSON] = []
    if take(UInt8(ascii: "]")) { return .array([]) }
    repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw error("an array does not end") }
    return .array(elements)
  }

  private mutating func number() throws -> LegacyJSON {
    let start = at
    while at < bytes.count, bytes[at] < 0x80,
      "+-.eE0123456789".utf8.contains(bytes[at])
    {
      at += 1
    }
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    guard Double(text) != nil else { throw error("\"\(text)\" is no number") }
    return .number(text)
  }

  private mutating func string() throws -> String {
    at += 1
    var utf8: [UInt8] = []
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: utf8, as: UTF8.self) else { throw error("a string is not UTF-8") }
        return text
      case UInt8(ascii: "\\"): try escape(into: &utf8)
      case 0..<0x20: throw error("a control character stands in a string")
      default: utf8.append(byte)
      }
    }
    throw error("a string does not end")
  }

  private mutating func escape(into utf8: inout [UInt8]) throws {
    guard at < bytes.count else { throw error("a string does not end") }
    let byte = bytes[at]
    at += 1
    switch byte {
    case UInt8(ascii: "n"): utf8.append(0x0A)
    case UInt8(ascii: "t"): utf8.append(0x09)
    case UInt8(ascii: "r"): utf8.append(0x0D)
    case UInt8(ascii: "b"): utf8.append(0x08)
    case UInt8(ascii: "f"): utf8.append(0x0C)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): utf8.append(byte)
    case UInt8(ascii: "u"): try scalar(into: &utf8)
    default: throw error("an unknown escape")
    }
  }

  private mutating func scalar(into utf8: inout [UInt8]) throws {
    var code = try hexadecimal()
    if (0xD800..<0xDC00).contains(code), at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"),
      bytes[at + 1] == UInt8(ascii: "u")
    {
      at += 2
      let low = try hexadecimal()
      guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
    utf8.append(contentsOf: String(Character(scalar)).utf8)
  }

  private mutating func hexadecimal() throws -> UInt32 {
    guard at + 4 <= bytes.count,
      bytes[at..<(at + 4)].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let code = UInt32(String(decoding: bytes[at..<(at + 4)], as: UTF8.self), radix: 16)
    else { throw error("four hexadecimal digits are expected") }
    at += 4
    return code
  }
}

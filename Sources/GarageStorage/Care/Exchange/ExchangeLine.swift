/// One line of an export, up to its value. The value is for people and other programs, and is not read.
struct ExchangeLine {
  /// A part of a line.
  enum Field {
    case text(String)
    case number(Int)
    case list([String])
    case object([String: Field])
  }

  private(set) var fields: [String: Field] = [:]

  /// Nil if it is not a line of an export.
  init?(_ bytes: ArraySlice<UInt8>) {
    var reader = Reader(bytes: bytes, at: bytes.startIndex)
    guard let fields = reader.object() else { return nil }
    self.fields = fields
  }

  subscript(text key: String) -> String? { if case .text(let text) = fields[key] { text } else { nil } }
  subscript(number key: String) -> Int? { if case .number(let number) = fields[key] { number } else { nil } }
  subscript(list key: String) -> [String]? { if case .list(let list) = fields[key] { list } else { nil } }

  private struct Reader {
    let bytes: ArraySlice<UInt8>
    var at: Int
    /// How deeply objects are nested here.
    private var depth = 0
    /// An export has two levels, and lines of later versions may have more.
    private static let maximumDepth = 32

    init(bytes: ArraySlice<UInt8>, at: Int) { (self.bytes, self.at) = (bytes, at) }

    mutating func skipSpace() {
      while at < bytes.endIndex, bytes[at] == 0x20 || bytes[at] == 0x09 || bytes[at] == 0x0D { at += 1 }
    }

    mutating func take(_ character: Character) -> Bool {
      skipSpace()
      guard at < bytes.endIndex, bytes[at] == character.asciiValue else { return false }
      at += 1
      return true
    }

    /// The fields of an object, up to one named value. Anything may follow.
    mutating func object() -> [String: Field]? {
      guard take("{"), depth < Self.maximumDepth else { return nil }
      depth += 1
      defer { depth -= 1 }
      var fields: [String: Field] = [:]
      if take("}") { return fields }
      while true {
        guard let key = text(), take(":") else { return nil }
        if key == "value" { return fields }
        guard let field = field() else { return nil }
        fields[key] = field
        if take("}") { return fields }
        if !take(",") { return nil }
      }
    }

    private mutating func field() -> Field? {
      skipSpace()
      guard at < bytes.endIndex else { return nil }
      switch bytes[at] {
      case UInt8(ascii: "\""): return text().map { .text($0) }
      case UInt8(ascii: "{"): return object().map { .object($0) }
      case UInt8(ascii: "["): return list().map { .list($0) }
      default: return number().map { .number($0) }
      }
    }

    private mutating func list() -> [String]? {
      guard take("[") else { return nil }
      var list: [String] = []
      if take("]") { return list }
      while true {
        guard let text = text() else { return nil }
        list.append(text)
        if take("]") { return list }
        if !take(",") { return nil }
      }
    }

    private mutating func number() -> Int? {
      let start = at
      while at < bytes.endIndex, bytes[at] == 0x2D || (0x30...0x39).contains(bytes[at]) { at += 1 }
      return Int(String(decoding: bytes[start..<at], as: UTF8.self))
    }

    private mutating func text() -> String? {
      guard take("\"") else { return nil }
      var start = at
      var content: [UInt8] = []
      while at < bytes.endIndex {
        let byte = bytes[at]
        if byte == UInt8(ascii: "\"") {
          content += bytes[start..<at]
          at += 1
          return String(validating: content, as: UTF8.self)
        }
        if byte == UInt8(ascii: "\\") {
          content += bytes[start..<at]
          at += 1
          guard let scalar = escaped(), let encoded = UTF8.encode(scalar) else { return nil }
          content += encoded
          start = at
        } else {
          at += 1
        }
      }
      return nil
    }

    /// The character that an escape sequence stands for.
    private mutating func escaped() -> Unicode.Scalar? {
      guard at < bytes.endIndex else { return nil }
      let byte = bytes[at]
      at += 1
      switch Unicode.Scalar(byte) {
      case "\"", "\\", "/": return Unicode.Scalar(byte)
      case "b": return "\u{8}"
      case "f": return "\u{C}"
      case "n": return "\n"
      case "r": return "\r"
      case "t": return "\t"
      case "u":
        guard let first = unit() else { return nil }
        if !(0xD800..<0xE000).contains(first) { return Unicode.Scalar(first) }
        guard first < 0xDC00, take("\\"), take("u"), let second = unit(), (0xDC00..<0xE000).contains(second)
        else {
          return nil
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + second - 0xDC00)
      default: return nil
      }
    }

    private mutating func unit() -> UInt32? {
      guard bytes.endIndex - at >= 4 else { return nil }
      defer { at += 4 }
      return UInt32(String(decoding: bytes[at..<(at + 4)], as: UTF8.self), radix: 16)
    }
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Identifier: CustomStringConvertible {
  /// The identifier as people write it, made from its bytes only: the string, the decimal integer, the UUID, the date (ISO
  /// 8601, UTC), `nil`, or for other kinds the bytes in hexadecimal.
  public var description: String {
    let payload = bytes.dropFirst()
    return switch kind {
    case .none: payload.first == 0 ? "nil" : "nil (\(payload.first ?? 0))"
    case .integer: integerText ?? hexadecimal(bytes[...])
    case .date: seconds.map(dateText) ?? hexadecimal(bytes[...])
    case .uuid: uuidText ?? hexadecimal(bytes[...])
    case .string: String(decoding: payload, as: UTF8.self)
    case .canonical, .digest: hexadecimal(payload)
    }
  }

  /// Describes the identifier in a key without the record that holds the whole identifier. Of a cut identifier it gives the
  /// beginning and the digest.
  public static func description(ofKeyBytes key: [UInt8]) -> String {
    guard key.count == maximumKeyByteCount else {
      return Identifier(bytes: key)?.description ?? hexadecimal(key[...])
    }
    let digest = hexadecimal(key[cutByteCount...])
    let beginning = key[1..<cutByteCount]
    let text =
      key[0] == IdentifierKind.string.rawValue
      ? String(decoding: beginning, as: UTF8.self) : hexadecimal(beginning)
    return "\(text)… (\(digest))"
  }

  /// Whether these bytes are an identifier.
  static func isWellFormed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let kind = IdentifierKind(rawValue: first) else { return false }
    return switch kind {
    case .none: bytes.count == 2
    case .integer: integer(bytes) != nil
    case .date: bytes.count == 9
    case .uuid, .digest: bytes.count == 17
    case .string: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).isUTF8
    case .canonical: true
    }
  }

  /// The decimal digits of an integer; nil if the bytes are not its only valid form.
  private var integerText: String? {
    guard let (isNegative, magnitude) = bytes.withUnsafeBytes(Identifier.integer) else { return nil }
    return (isNegative ? "-" : "") + String(magnitude)
  }

  /// The sign and magnitude of an integer; nil if the bytes are not its only valid form.
  private static func integer(_ bytes: UnsafeRawBufferPointer) -> (isNegative: Bool, magnitude: UInt128)? {
    guard bytes.count >= 2 else { return nil }
    let isNegative = bytes[1] < 0x80
    let width = isNegative ? 0x80 - Int(bytes[1]) : Int(bytes[1]) - 0x80
    guard width <= 16, bytes.count == 2 + width else { return nil }
    var magnitude: UInt128 = 0
    for byte in bytes[2...] { magnitude = magnitude << 8 | UInt128(isNegative ? ~byte : byte) }
    return width == 16 - magnitude.leadingZeroBitCount / 8 ? (isNegative, magnitude) : nil
  }

  /// The number in the identifier, as this type; nil if it is none.
  func integer<T: BinaryInteger>(_ type: T.Type) -> T? {
    guard kind == .integer, let text = integerText else { return nil }
    return Int128(text).flatMap { T(exactly: $0) } ?? UInt128(text).flatMap { T(exactly: $0) }
  }

  /// The date in the identifier; nil if it is none.
  var date: Date? { kind == .date ? seconds.map { Date(timeIntervalSinceReferenceDate: $0) } : nil }

  /// The value whose canonical bytes are in the identifier.
  func canonicalValue<T: Decodable>(_ type: T.Type) -> T? {
    guard kind == .canonical else { return nil }
    // A body needs a table of shapes in front. The table is empty, because canonical bytes name no shapes.
    let body = [0] + bytes.dropFirst()
    return try? GraphDecodingSession(source: NoRecords(), types: .none).value(type, ofBody: body.span.bytes)
  }

  private var seconds: Double? {
    guard bytes.count == 9 else { return nil }
    let ordered = bytes.dropFirst().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    return Double(bitPattern: ordered >> 63 == 1 ? ordered & ~(1 << 63) : ~ordered)
  }

  private var uuidText: String? {
    guard bytes.count == 17 else { return nil }
    return bytes.withUnsafeBytes {
      UUID(uuid: $0.loadUnaligned(fromByteOffset: 1, as: uuid_t.self)).uuidString
    }
  }
}

private func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  text.reserveCapacity(2 * bytes.count)
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}

/// A date in ISO 8601, in UTC, to the nanosecond, for years of up to four digits. (`Date.description` ends the process where the
/// seconds are no number, and says nothing of dates far away.)
package func dateText(_ seconds: Double) -> String {
  guard abs(seconds) < 3e11 else { return "\(seconds) s since 2001-01-01T00:00:00Z" }
  var whole = seconds.rounded(.down)
  var nanoseconds = Int(((seconds - whole) * 1e9).rounded())
  if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
  let day = Int((whole / 86_400).rounded(.down))
  let second = Int(whole) - day * 86_400
  let date = civilDate(daysSince2001: day)
  guard (0...9999).contains(date.year) else { return "\(seconds) s since 2001-01-01T00:00:00Z" }

  func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
  var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
  text += "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  if nanoseconds > 0 {
    var fraction = padded(nanoseconds, 9)
    while fraction.last == "0" { fraction.removeLast() }
    text += "." + fraction
  }
  return text + "Z"
}

/// The day in the proleptic Gregorian calendar. Years begin in March here, so that the leap day is their last day. They are
/// counted in eras of 400 years, each of which has 146 097 days.
private func civilDate(daysSince2001: Int) -> (year: Int, month: Int, day: Int) {
  let days = daysSince2001 + 730_791  // since 0000-03-01
  let era = (days >= 0 ? days : days - 146_096) / 146_097
  let dayOfEra = days - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

extension Identifier {
  /// The identifiers whose ``description`` is this text: a string, and perhaps others, for instance an integer or a UUID. It is
  /// for text from people, who write an identifier without its kind.
  package static func all(describedAs text: String) -> [Identifier] {
    var all: [Identifier] = []
    func append(_ id: any Hashable) {
      if let identifier = try? Identifier(id, canonical: { _ in [] }) { all.append(identifier) }
    }
    append(text)
    if let number = Int128(text) { append(number) }
    if let number = UInt128(text), Int128(text) == nil { append(number) }
    if let uuid = UUID(uuidString: text) { append(uuid) }
    if text == "nil" { all.append(Identifier(unchecked: [IdentifierKind.none.rawValue, 0])) }
    let digits = Array(text.utf8)
    if digits.count % 2 == 0, !digits.isEmpty {
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
      }
      if bytes.count == digits.count / 2 {
        for kind in [IdentifierKind.digest, .canonical] {
          if let identifier = Identifier(bytes: [kind.rawValue] + bytes) { all.append(identifier) }
        }
      }
    }
    return all.filter { $0.description == text }
  }
}

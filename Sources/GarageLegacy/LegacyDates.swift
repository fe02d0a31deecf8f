internal import Foundation
internal import GarageCoding

/// Reads dates as GarageStorage wrote them, and what else stands differently in its JSON.
final class LegacyDates: ForeignReading {
  private let strategy: JSONDecoder.DateDecodingStrategy?

  /// - Parameter strategy: that of the app; nil where it had none of its own.
  init(_ strategy: JSONDecoder.DateDecodingStrategy?) { self.strategy = strategy }

  func date(text: String) throws -> Date {
    if strategy != nil { return try decode(JSONEncoder().encode([text])) }
    if let date = LegacyDates.date(iso8601: text) { return date }
    throw noDate("\"\(text)\"")
  }

  func date(number: Double) throws -> Date {
    if strategy != nil { return try decode(JSONEncoder().encode([number])) }
    throw noDate("\(number)")
  }

  private func noDate(_ value: String) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: [],
        debugDescription: """
          \(value) is no date in GarageStorage's form, yyyy-MM-dd'T'HH:mm:ssZZZZZ. If the app had another \
          strategy, set the importer's dateDecodingStrategy.
          """))
  }

  /// Foundation's decoder knows its strategies best, those that are closures included.
  private func decode(_ json: Data) throws -> Date {
    let decoder = JSONDecoder()
    if let strategy { decoder.dateDecodingStrategy = strategy }
    return try decoder.decode([Date].self, from: json)[0]
  }

  /// The date of a text like `2015-07-01T10:00:00Z` or `2015-07-01T12:00:00.250+02:00` (RFC 3339).
  static func date(iso8601 text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
      let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 25, minute < 60, second < 61
    else { return nil }
    var rest = bytes[19...]
    var fraction = 0.0
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty, let value = Double("0." + String(decoding: digits, as: UTF8.self)) else {
        return nil
      }
      fraction = value
      rest = rest[digits.endIndex...]
    }
    guard let offset = offset(rest) else { return nil }
    let days = daysSince2001(year, month, day)
    return Date(
      timeIntervalSinceReferenceDate: Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
        + fraction)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Seconds east of UTC: `Z`, `+02:00` or `+0200`.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
    if text.elementsEqual("Z".utf8) { return 0 }
    guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4, let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]) else {
      return nil
    }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  /// Days in the proleptic Gregorian calendar, counted in years that begin in March.
  private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400, yearOfEra = shifted % 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    // From 0000-03-01 to 2001-01-01.
    return era * 146_097 + dayOfEra - 730_791
  }
}

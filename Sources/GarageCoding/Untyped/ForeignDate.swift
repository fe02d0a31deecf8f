#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Dates as GarageStorage wrote them, with a `DateFormatter` of the form `yyyy-MM-dd'T'HH:mm:ssZZZZZ`. That uses the Gregorian
/// calendar from the day on which it came into use, and the Julian one before. Its zone is that of the device, which used a
/// local mean time long ago.
package enum ForeignDate {
  /// The date of a text like `2015-07-01T10:00:00Z`, `2015-07-01T12:00:00.250+02:00` (RFC 3339) or
  /// `1880-05-01T12:00:00+00:53:28`.
  package static func date(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
      let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 25, minute < 60, second < 61
    else { return nil }
    var rest = bytes[19...]
    guard let fraction = fraction(&rest), let offset = offset(rest) else { return nil }
    let days = daysSince2001(year, month, day)
    let date = Date(
      timeIntervalSinceReferenceDate: Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
        + fraction)
    // West of Greenwich the distant past is in the year before the first. The formatter calls that year 1, too, because it
    // writes no era.
    return offset < 0 && date == .distantPast + 365 * 86_400 ? .distantPast : date
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// The digits behind the point, if there is one; nil if they are no number.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Double? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
    rest = rest[digits.endIndex...]
    return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
  }

  /// Seconds east of UTC: `Z`, `+02:00`, `+0200`, or `+00:53:28` from times before there were zones.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
    if text.elementsEqual("Z".utf8) { return 0 }
    guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4 || digits.count == 6, let hours = number(digits[0..<2]),
      let minutes = number(digits[2..<4]), let seconds = number(digits[4...])
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds)
  }

  /// Days in the calendar of that day. Years begin in March here.
  private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    // From 0000-03-01 of the Gregorian calendar to 2001-01-01.
    let days = shifted * 365 + dayOfYear - 730_791
    // That day was the third of March in the Julian one.
    if (year, month, day) < (1582, 10, 15) { return days + (shifted + 4) / 4 - 1 - 2 }
    return days + shifted / 4 - shifted / 100 + shifted / 400
  }
}

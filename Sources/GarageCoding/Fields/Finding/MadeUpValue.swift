#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Values for made-up objects, two of each type: replacing one by the other shows what is made of it.
///
/// They come in several forms, because many types accept only values of a certain form: an address, a percentage, a digest.
enum MadeUpValue {
  /// How many forms there are. A type with fewer forms begins again with the first.
  static var formCount: Int { texts.count }

  /// A value of a type that is no container; nil where the type is not one of the known ones.
  ///
  /// - Parameters:
  ///   - isSecond: whether it is the second one.
  ///   - form: which of the forms it has.
  static func of(_ type: Any.Type, isSecond: Bool, form: Int = 0) -> Any? {
    func pick<T>(_ first: T, _ second: T) -> T { isSecond ? second : first }
    func pick<T>(_ pairs: [(T, T)]) -> T {
      let pair = pairs[form % pairs.count]
      return isSecond ? pair.1 : pair.0
    }
    switch type {
    case is Bool.Type: return pick(false, true)
    case is String.Type: return pick(texts)
    case is Double.Type: return pick(numbers)
    case is Float.Type: return Float(pick(numbers))
    case is Decimal.Type: return Decimal(pick(numbers))
    case let type as any FixedWidthInteger.Type: return integer(type, pick(integers))
    case is Date.Type: return Date(timeIntervalSinceReferenceDate: pick(dates))
    case is UUID.Type: return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick(1, 2)))
    case is Data.Type:
      let count = byteCounts[form % byteCounts.count]
      return Data(repeating: pick(1, 2), count: pick(count.0, count.1))
    case is URL.Type: return URL(string: pick(urls))
    // The first type traps on a scheme that does not exist. The others refuse names that do not exist.
    case is URLComponents.Type: return URLComponents(string: pick(urls))
    case is TimeZone.Type: return TimeZone(secondsFromGMT: pick(0, 3600))
    case is Calendar.Type: return Calendar(identifier: pick(.gregorian, .iso8601))
    case let type as any ProbeValue.Type: return type.probe(isSecond: isSecond)
    default: return TypeAddress(type).plainCase(isSecond ? 1 : 0, of: type)
    }
  }

  /// How many variants there are of a value.
  static let variantCount = 9

  /// A value that differs from the first one of a form in something that a comparison may ignore: case, space at either end,
  /// zeros, digits behind the point. It does not differ by much, because types may trap on numbers that they do not expect.
  static func variant(_ number: Int, of type: Any.Type, form: Int) -> Any? {
    switch of(type, isSecond: false, form: form) {
    case let text as String:
      let variants = [
        text.uppercased(), text.lowercased(), " " + text, text + " ", "0" + text, text + ".0", text + "/",
        text + "A", "",
      ]
      return variants[number]
    case let value as Double: return value + fractions[number]
    case let value as Float: return value + Float(fractions[number])
    case let value as any FixedWidthInteger:
      func sum<N: FixedWidthInteger>(_ value: N) -> Any? { value &+ N(truncatingIfNeeded: number + 1) }
      return sum(value)
    default: return nil
    }
  }

  private static let fractions = [1e-6, 1e-3, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2]

  /// How many values of a type often stand for nil, in a property that may be nil; the first of them in any property.
  static let emptyCount = 3

  /// A value that many types write in place of nil, and read as nil again or as a default; nil where the type has none. Numbers
  /// are used only for properties that may be nil, because code may divide by others.
  static func empty(_ number: Int, of type: Any.Type) -> Any? {
    switch type {
    case is String.Type: return ["", " ", "-"][number]
    case is Data.Type: return number == 0 ? Data() : nil
    case is Double.Type where number > 0: return Double(1 - number)
    case is Float.Type where number > 0: return Float(1 - number)
    case let type as any FixedWidthInteger.Type where number > 0: return integer(type, 1 - number)
    case is Date.Type where number > 0: return [Date.distantPast, Date(timeIntervalSince1970: 0)][number - 1]
    default: return nil
    }
  }

  /// A raw value that no case of an enum has.
  static func unusual(_ type: Any.Type) -> Any? {
    func unusual<N: FixedWidthInteger>(_ type: N.Type) -> Any { N.max - 12 }
    return (type as? any FixedWidthInteger.Type).map { unusual($0) }
  }

  // MARK: - Forms

  private static let texts: [(String, String)] = [
    // As a name might be written, so that code that changes case, trims or composes is noticed.
    ("Probe A", " probe\u{65}\u{301} B "),
    ("a.probe@example.org", "b.probe@example.com"),
    ("https://example.org/a", "https://example.com/b"),
    // A number, a postal code and a telephone number.
    ("1", "2"), ("10115", "20095"), ("+4930901820", "+14155550123"), ("1.5", "2.5"),
    ("2001-02-03", "2002-03-04"), ("2001-02-03T04:05:06Z", "2002-03-04T05:06:07Z"),
    ("2001-02-03T04:05:06.789Z", "2002-03-04T05:06:07.890Z"), ("04:05", "15:06"), ("04:05:06", "15:06:07"),
    ("1.2.3", "2.3.4"),
    ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
    ("#102030", "#405060"), ("0a0b", "0c0d"), ("AQID", "BAUG"),
    ("DE", "FR"), ("de", "fr"), ("EUR", "USD"), ("de_DE", "fr_FR"), ("de-DE", "fr-FR"),
    ("a", "b"), ("A", "B"), ("probe", "other"), ("PROBE", "OTHER"), ("probe-a", "probe-b"),
    ("probe_a", "probe_b"), ("org.example.a", "org.example.b"), ("/probe/a", "/probe/b"),
    ("example.org", "example.com"), ("192.0.2.1", "192.0.2.2"), ("52.5,13.4", "48.8,2.3"),
    ("9783161484100", "9780306406157"), ("DE89370400440532013000", "GB82WEST12345698765432"),
    ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"),
    (String(repeating: "0a", count: 32), String(repeating: "0b", count: 32)),
  ]

  /// The second is so much larger that code which branches on a version or a count behaves differently.
  private static let integers = [
    (1, 100), (1, 2), (0, 1), (10, 20), (50, 100), (100, 120), (2001, 2026), (1000, 100_000),
  ]
  private static let numbers: [(Double, Double)] = [
    (1, 2.5), (0.25, 0.5), (1, 2), (10, 20.5), (0, 1), (100, 250.5), (1000, 2500.5),
  ]
  /// Seconds since 2001, in 2001, 2026, 2100 and 1970.
  private static let dates: [(Double, Double)] = [
    (86_400, 86_401.25), (800_000_000, 800_086_401.25), (3_124_224_000, 3_124_310_401.25),
    (-978_220_800, -978_307_200.75),
  ]
  private static let byteCounts = [
    (1, 2), (4, 4), (8, 8), (12, 12), (16, 16), (20, 20), (24, 24), (32, 32), (64, 64),
  ]
  private static let urls = [
    ("probe:a", "probe:b"), ("https://example.org/a", "https://example.com/b"),
    ("file:///probe/a", "file:///probe/b"), ("mailto:a.probe@example.org", "mailto:b.probe@example.com"),
  ]

  /// Nil where the type does not hold it.
  private static func integer<N: FixedWidthInteger>(_ type: N.Type, _ value: Int) -> Any? {
    N(exactly: value) ?? N(clamping: abs(value))
  }
}

/// A type of this module of which values are made up.
protocol ProbeValue {
  static func probe(isSecond: Bool) -> Self
}

import Foundation

@testable import GarageCoding

// Numbers, Foundation's values and text.

private func integers<T: FixedWidthInteger & Codable & Sendable>(_ type: T.Type, json: Bool = true)
  -> [RoundTripCase]
{
  var values: [T] = [.min, .max, 0, 1, 63, 64, 127]
  for shift in [7, 8, 15, 16, 31, 32, 63, 64, 127] where shift < T.bitWidth {
    values += [
      (1 as T) << shift, ((1 as T) << shift) &- 1, 0 &- ((1 as T) << shift), 0 &- ((1 as T) << shift) &- 1,
    ]
  }
  let all = values
  return [
    same("\(type).min", json: json, T.min), same("\(type).max", json: json, T.max),
    same("\(type) around every width", json: json, all),
    same("optional \(type)s", json: json, all.map { Optional($0) } + [nil]),
  ]
}

private func floats<T: BinaryFloatingPoint & Codable & Sendable>(
  _ type: T.Type, _ bits: @escaping @Sendable (T) -> UInt64
) -> [RoundTripCase] {
  let finite: [T] = [
    0, 1, -1, 0.1, .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .ulpOfOne, 1 / 3, 16_777_217, 9_007_199_254_740_993,
  ]
  let odd: [(String, T)] = [
    ("-0", -0.0), ("inf", .infinity), ("-inf", -.infinity), ("nan", .nan), ("signaling nan", .signalingNaN),
    ("-nan", -.nan),
  ]
  return [
    same("\(type) finite", finite), same("\(type)s of all magnitudes, optional", finite.map { Optional($0) }),
  ]
    + odd.map { name, value in
      // JSON keeps no sign of zero here and no bits of NaN.
      same("\(type) \(name)", json: false, { value }, by: { bits($0) == bits($1) })
    } + [
      same(
        "[\(type)] with NaN, bit for bit", json: false, { odd.map(\.1) }, by: { $0.map(bits) == $1.map(bits) }
      ),
      same("\(type) infinite by JSON", [T.infinity, -.infinity]),
    ]
}

let numberCases: [RoundTripCase] =
  integers(Int.self) + integers(Int8.self) + integers(Int16.self) + integers(Int32.self)
  + integers(Int64.self)
  + integers(UInt.self) + integers(UInt8.self) + integers(UInt16.self) + integers(UInt32.self)
  + integers(UInt64.self)
  + integers(Int128.self, json: false) + integers(UInt128.self, json: false)
  + floats(Double.self) { $0.bitPattern } + floats(Float.self) { UInt64($0.bitPattern) }
  + [same("true", true), same("false", false), same("[Bool]", [true, false, false, true])]

private func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }

let foundationCases: [RoundTripCase] = [
  same("Decimal 0", Decimal(0)), same("Decimal -1.5", decimal("-1.5")),
  same("Decimal 38 digits", json: false, decimal("12345678901234567890123456789012345678")),
  same(
    "Decimal 38 digits behind the point", json: false, decimal("0.12345678901234567890123456789012345678")),
  same("Decimal NaN", json: false, { Decimal.nan }, by: { $0.isNaN && $1.isNaN }),
  same("Decimal greatest", json: false, Decimal.greatestFiniteMagnitude),
  same("Decimal least", json: false, Decimal.leastNonzeroMagnitude),
  same("Decimal -greatest", json: false, -Decimal.greatestFiniteMagnitude),
  same("Decimals", [decimal("0.1"), decimal("100"), decimal("-3.14159")]),
  same("Date of reference", Date(timeIntervalSinceReferenceDate: 0)),
  same("Date with a fraction", Date(timeIntervalSinceReferenceDate: 123_456_789.123456)),
  same("Date distantPast", Date.distantPast), same("Date distantFuture", Date.distantFuture),
  same("Date greatest", Date(timeIntervalSinceReferenceDate: .greatestFiniteMagnitude)),
  same("Date infinite", Date(timeIntervalSinceReferenceDate: .infinity)),
  same("Date least", Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude)),
  same(
    "Date NaN", json: false, { Date(timeIntervalSinceReferenceDate: .nan) },
    by: { $0.timeIntervalSinceReferenceDate.isNaN && $1.timeIntervalSinceReferenceDate.isNaN }),
  same("[Date]", [Date.distantPast, Date(timeIntervalSince1970: 0.001), .distantFuture]),
  same("[Date?]", [Date.distantPast, nil]),
  same("UUID nil", UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
  same("UUID", UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!),
  same("[UUID]", [UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!]),
  same("URL", URL(string: "https://example.com/a/b?c=d#e")!),
  same("URL file", URL(fileURLWithPath: "/tmp/a b")),
  same("URL relative", URL(string: "a/b")!), same("URL mailto", URL(string: "mailto:a@example.com")!),
  same(
    "URL with base", json: false, URL(string: "c/d?e", relativeTo: URL(string: "https://example.com/a/b/"))!),
  same(
    "URL with base keeps its parts", json: false,
    { URL(string: "c", relativeTo: URL(string: "https://example.com/"))! },
    by: { $0.relativeString == $1.relativeString && $0.baseURL == $1.baseURL }),
  same("Data empty", Data()), same("Data 1", Data([7])), same("Data 255", Data(repeating: 1, count: 255)),
  same("Data 256", Data(repeating: 2, count: 256)), same("Data 70000", Data(repeating: 3, count: 70_000)),
  same("Data slice", Data([0, 1, 2, 3, 4])[2..<4]), same("[Data]", [Data(), Data([1])]),
  same("Data 10 MB", json: false, Data(repeating: 4, count: 10 << 20)),
  same("DateInterval", DateInterval(start: .distantPast, duration: 10)),
  same("DateComponents", DateComponents(year: 2026, month: 2, day: 29, hour: 25)),
  same("IndexSet", IndexSet([1, 2, 3, 100])), same("IndexPath", IndexPath(indexes: [1, 2])),
  same("CharacterSet", CharacterSet(charactersIn: "abc")),
  same("Locale", Locale(identifier: "de_AT")), same("TimeZone", TimeZone(secondsFromGMT: 3600)!),
  same("Calendar", Calendar(identifier: .gregorian)),
  same("URLComponents", URLComponents(string: "https://example.com:80/a?b=c")!),
  same("Measurement", Measurement(value: 5.5, unit: UnitLength.meters)),
  same("PersonNameComponents", PersonNameComponents(givenName: "Sam", familyName: "X")),
]

private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

let textCases: [RoundTripCase] = [
  same("String empty", ""), same("String NUL", "a\u{0}b\u{0}"), same("String emoji", "👨‍👩‍👧‍👦🏳️‍🌈"),
  same("String 63", text(63)), same("String 64", text(64)), same("String 255", text(255)),
  same("String 256", text(256)),
  same("String 70000", text(70_000)),
  same("String of 21 three-byte characters", String(repeating: "€", count: 21)),
  same("String 10 MB", json: false, text(10 << 20)),
  same(
    "String keeps its scalars", { "Cafe\u{301} Caf\u{E9}" },
    by: { Array($0.unicodeScalars) == Array($1.unicodeScalars) }),
  same("String separators", "\u{2028}\u{FEFF}\u{FFFD}\r\n\\\""), same("String right to left", "שלום"),
  same("[String] empty strings", ["", "", ""]),
  same("[String] long", [text(127), text(128), text(70_000), "é"]),
  same("[String] 1000", (0..<1000).map { "\($0)" }), same("Substring-like", String("abcdef".dropFirst(2))),
  same("Character", ["a", "é", "👩‍🚀"] as [String]), same("[String?]", ["a", nil, ""]),
]

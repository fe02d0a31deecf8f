import Foundation
import Testing

@testable import GarageCoding

/// Identifiers sort as what they were made of.
@Suite struct IdentifierOrderTests {
  @Test("integers of all widths and signs share one order")
  func integers() throws {
    let seed: UInt64 = 7
    var random = SeededGenerator(seed)
    // Every boundary of every width, and random numbers of every bit length.
    var numbers: Set<Int128> = [0, 1, -1, .max, .min, .max - 1, .min + 1]
    for bits in 0..<127 {
      let power = Int128(1) << Int128(bits)
      numbers.formUnion([power, power - 1, power + 1, -power, -power - 1, -power + 1])
      for _ in 0..<8 {
        let number = Int128.random(in: 0..<power, using: &random)
        numbers.formUnion([number, -number])
      }
    }
    let sorted = numbers.sorted()
    var previous: Identifier?
    for number in sorted {
      let id = try identifier(number)
      if let previous { #expect(previous < id, "seed \(seed): \(number)") }
      previous = id
      #expect(id.description == String(number))
      try sameInEveryWidth(number, id)
    }
    for high in [UInt128(Int128.max) + 1, .max] {
      #expect(try identifier(Int128.max) < identifier(high))
      #expect(try identifier(high).description == String(high))
    }
  }

  private func sameInEveryWidth(_ number: Int128, _ id: Identifier) throws {
    func check<T: FixedWidthInteger>(_: T.Type) throws {
      if let narrow = T(exactly: number) { #expect(try identifier(narrow) == id, "\(T.self) \(number)") }
    }
    try check(Int8.self); try check(Int16.self); try check(Int32.self); try check(Int64.self)
    try check(UInt8.self); try check(UInt16.self); try check(UInt32.self); try check(UInt64.self)
    try check(Int.self); try check(UInt.self); try check(UInt128.self)
  }

  @Test func dates() throws {
    let seed: UInt64 = 8
    var random = SeededGenerator(seed)
    var seconds: [Double] = [
      0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ]
    seconds += [-.greatestFiniteMagnitude, -.leastNonzeroMagnitude, 1, -1]
    for _ in 0..<3000 {
      let number = Double(bitPattern: random.next())
      if !number.isNaN { seconds.append(number) }
      seconds.append(Double.random(in: -1e10...1e10, using: &random))
    }
    seconds.sort()
    for (a, b) in zip(seconds, seconds.dropFirst()) {
      let x = try identifier(Date(timeIntervalSinceReferenceDate: a))
      let y = try identifier(Date(timeIntervalSinceReferenceDate: b))
      #expect(a == b ? x == y : x < y, "seed \(seed): \(a) \(b)")
    }
    let nan = try identifier(Date(timeIntervalSinceReferenceDate: -.nan))
    #expect(try identifier(Date(timeIntervalSinceReferenceDate: .infinity)) < nan)
  }

  @Test("dates read as Foundation writes them")
  func dateDescriptions() throws {
    let seed: UInt64 = 9
    var random = SeededGenerator(seed)
    let style = Date.ISO8601FormatStyle()
    let range = -62_000_000_000...250_000_000_000
    for _ in 0..<3000 {
      let date = Date(timeIntervalSince1970: Double(Int.random(in: range, using: &random)))
      // The proleptic Gregorian calendar and Foundation's, which is Julian before 1582, agree after that.
      guard date > Date(timeIntervalSince1970: -12_000_000_000) else { continue }
      let (text, expected) = (try identifier(date).description, style.format(date))
      #expect(text == expected, "seed \(seed)")
    }
    func text(_ seconds: Double) throws -> String {
      try identifier(Date(timeIntervalSinceReferenceDate: seconds)).description
    }
    #expect(try text(0.5) == "2001-01-01T00:00:00.5Z")
    #expect(try text(-0.25) == "2000-12-31T23:59:59.75Z")
    #expect(try text(Date.distantPast.timeIntervalSinceReferenceDate) == "0000-12-30T00:00:00Z")
    #expect(try text(1e300).hasPrefix("1e+300 s"))
  }

  @Test("strings sort and compare as Swift's do")
  func strings() throws {
    let seed: UInt64 = 10
    var random = SeededGenerator(seed)
    // Marks of several classes, starters that compose, Hangul letters, exclusions, ends of planes.
    let alphabet: [Unicode.Scalar] = [
      "a", "A", "e", "z", "\0", "~", "\u{7F}", "\u{E9}", "\u{1E69}", "\u{212B}", "\u{3B1}", "\u{1F80}",
      "\u{300}", "\u{301}", "\u{323}", "\u{327}", "\u{345}", "\u{1100}", "\u{1161}", "\u{11A8}",
      "\u{AC00}", "\u{AC01}", "\u{958}", "\u{915}", "\u{93C}", "\u{9C7}", "\u{9BE}", "\u{F900}",
      "\u{2FA1D}", "\u{1D15E}", "\u{10041}", "\u{2ADC}", "\u{1F600}", "\u{1F468}", "\u{200D}",
      "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
    ]
    var strings: [String] = ["", "Café", "Cafe\u{301}", "👩‍👩‍👧", "🇩🇪", "a\0b"]
    for _ in 0..<1500 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        text.append(alphabet.randomElement(using: &random)!)
      }
      strings.append(String(text))
    }
    let ids = try strings.map(identifier)
    for _ in 0..<60_000 {
      let i = Int.random(in: strings.indices, using: &random)
      let j = Int.random(in: strings.indices, using: &random)
      let (a, b) = (strings[i].debugDescription, strings[j].debugDescription)
      // Where one begins with the other, also in composed form, Swift 6.3 errs: "\u{345}\u{327}" is composed
      // to "\u{327}\u{345}", but not less than "\u{345}"; "\u{915}" is neither less nor greater than
      // "\u{958}", nor equal.
      let isPrefix =
        strings[i].utf8.starts(with: strings[j].utf8)
        || strings[j].utf8.starts(with: strings[i].utf8)
        || ids[i].bytes.starts(with: ids[j].bytes) || ids[j].bytes.starts(with: ids[i].bytes)
      if !isPrefix {
        #expect((strings[i] < strings[j]) == (ids[i] < ids[j]), "seed \(seed): \(a) \(b)")
      }
      #expect((strings[i] == strings[j]) == (ids[i] == ids[j]), "seed \(seed): \(a) \(b)")
    }
    for (text, id) in zip(strings, ids) { #expect(id.description == text) }
  }

  @Test("the composed form of every scalar, alone and among marks, is the standard library's")
  func everyScalar() {
    var failures: [String] = []
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
        scalar.properties.generalCategory != .privateUse
      else { continue }
      // Ideographs and Hangul syllables without exceptions: a sample.
      if (0x4E00...0x9FFF).contains(value) || (0xAC00...0xD7A3).contains(value), value % 16 != 0 { continue }
      if (0x17000...0x1BFFF).contains(value) || (0x20000...0x2F7FF).contains(value)
        || (0x2FA20...0x3FFFF).contains(value), value % 64 != 0
      {
        continue
      }
      for text in ["\(scalar)", "\(scalar)\u{301}\u{323}", "a\u{315}\(scalar)", "\u{1100}\(scalar)"] {
        var normal = composed(text)
        let again = composed(normal)
        let isKept = normal == text && normal.utf8.elementsEqual(again.utf8)
        // Equal and composed: that is the one composed form.
        normal.makeContiguousUTF8()
        // Swift does not reorder these (see `composed`).
        if [0xF73, 0xF75, 0xF81].contains(value), text.unicodeScalars.first == "a" { continue }
        if !isKept || !isNFC(normal) { failures.append(String(value, radix: 16)) }
      }
    }
    #expect(failures.isEmpty, "\(failures.prefix(20))")
  }

  /// Of every scalar whose bytes say so, among random others of which they say so.
  @Test(arguments: [1, 2] as [UInt64]) func whatBytesAloneTell(seed: UInt64) {
    func isSure(_ text: String) -> Bool {
      var text = text
      return text.withUTF8 { isSurelyComposed(UnsafeRawBufferPointer($0)) }
    }
    let sure = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter { isSure("\($0)") }
    #expect(sure.contains("ё") && sure.contains("図") && sure.contains("빠") && !sure.contains("\u{301}"))
    var random = SeededGenerator(seed)
    var failures: [String] = []
    for scalar in sure {
      var text = String.UnicodeScalarView()
      for place in 0..<5 { text.append(place == 2 ? scalar : sure.randomElement(using: &random)!) }
      let string = String(text)
      if !isSure(string) || !isNFC(string) { failures.append(string.debugDescription) }
      // What is not sure makes the whole unsure, wherever it stands.
      if isSure(string + "\u{301}") || isSure("\u{1100}" + string) {
        failures.append(string.debugDescription)
      }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures.prefix(20))")
  }

  private func isNFC(_ text: String) -> Bool {
    #if canImport(Darwin)
      return true  // asks for a newer system than the library
    #else
      var span = text.utf8Span
      return span.checkForNFC(quickCheck: false)
    #endif
  }

  @Test func manyMarksTakeNoQuadraticTime() throws {
    let text = "a" + String(repeating: "\u{301}\u{323}", count: 50_000)
    #expect(try identifier(text) == identifier(composed(text)))
    #expect(composed(text).unicodeScalars.first == "\u{1EA1}")
  }
}

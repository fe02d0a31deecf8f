import Testing

@_spi(Measuring) @testable import GarageCoding

/// Strings of at most 15 ASCII characters are read from and made in their own bytes.
struct ShortStringTests {
  /// Every length up to 40, of characters that leave a word's edges to be found: nulls, controls, letters; and the same
  /// with one character beyond ASCII in each place.
  private static let texts: [String] = {
    var random = SeededGenerator(4)
    var texts: [String] = []
    for count in 0...40 {
      let characters = (0..<count).map { _ in Unicode.Scalar(UInt8.random(in: 0...127, using: &random)) }
      texts.append(String(String.UnicodeScalarView(characters)))
      texts.append(String(repeating: "z", count: count))
      texts.append(String(repeating: "\0", count: count))
      for place in 0..<count {
        var characters = characters
        characters[place] = ["é", "\u{80}", "€", "😀"][place % 4]
        texts.append(String(String.UnicodeScalarView(characters)))
      }
    }
    return texts
  }()

  private struct Text: Codable, Identifiable, Hashable {
    var id: String
    var list: [String]
    var optional: String?
    var byName: [String: String]
    init(_ text: String) {
      (id, list, optional, byName) = (text, ["", text, text], text, [text: text])
    }
  }

  /// Reads a string as an element of an array that was packed.
  private struct Wrapped: Codable, Equatable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
  }

  /// Where strings look otherwise all take the usual way, and none of this is tested.
  @Test func theyLookAsExpected() {
    #if (os(Linux) || canImport(Darwin)) && _pointerBitWidth(_64)
      #expect(ShortStrings().areKnown)
    #endif
  }

  @Test func bytesAreThoseOfTheText() {
    let strings = ShortStrings()
    for text in Self.texts {
      let utf8 = Array(text.utf8)
      // A slice of a longer string is not always kept short.
      for text in [text, String(decoding: utf8, as: UTF8.self), String(("x" + text).dropFirst())] {
        let (halves, count) = strings.bytes(of: text)
        guard count >= 0 else { continue }
        #expect(withUnsafeBytes(of: halves) { Array($0.prefix(count)) } == utf8)
      }
      let isShort = utf8.count <= 15 && utf8.allSatisfy { $0 < 0x80 }
      #expect((strings.bytes(of: String(decoding: utf8, as: UTF8.self)).count == utf8.count) == isShort)
    }
  }

  @Test func stringsAreMadeOfWhatStandsBefore() {
    let strings = ShortStrings()
    for text in Self.texts where (1...15).contains(text.utf8.count) {
      let utf8 = Array(text.utf8)
      for before: UInt8 in [0, 0x61, 0xFF] {
        let bytes = [UInt8](repeating: before, count: 16) + utf8
        let made = bytes.withUnsafeBytes { strings.string(utf8.count, before: $0.baseAddress! + bytes.count) }
        if utf8.allSatisfy({ $0 < 0x80 }) {
          #expect(made.map { Array($0.utf8) } == utf8)
          #expect(made == text && made?.hashValue == text.hashValue)
        } else {
          #expect(made == nil)
        }
      }
    }
  }

  @Test func roundTrips() throws {
    for text in Self.texts {
      let value = Text(text)
      let copy = try roundTrip(value)
      #expect(copy == value)
      #expect(Array(copy.optional?.utf8 ?? "-".utf8) == Array(text.utf8))
      #expect(copy.list.map { Array($0.utf8) } == value.list.map { Array($0.utf8) })
    }
  }

  /// The elements of a packed array that is read one by one are written out elsewhere: before the first there is
  /// nothing of the record.
  @Test func elementsOfPackedArrays() throws {
    for text in Self.texts {
      let texts = [text, "", text, "abc", text]
      #expect(try recode(texts, as: [Wrapped].self) == texts.map(Wrapped.init))
    }
  }

  /// The same where what is written out is about as large as the record, so that it may stand behind it in memory:
  /// AddressSanitizer sees what is read before its beginning.
  @Test func elementsOfLongPackedArrays() throws {
    for count in stride(from: 20, to: 3000, by: 35) {
      let texts = (0..<count).map { "\($0)" }
      #expect(try recode(texts, as: [Wrapped].self) == texts.map(Wrapped.init))
    }
  }

  @Test func bodiesThatBeginWithOne() throws {
    let encoder = GraphEncoder()
    let session = GraphDecodingSession(source: DictionarySource(), types: try RegisteredTypes())
    for text in Self.texts {
      let body = try encoder.body(of: text)
      #expect(try session.value(String.self, ofBody: body.span.bytes) == text)
    }
  }
}

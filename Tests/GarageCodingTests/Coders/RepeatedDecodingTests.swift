import Foundation
import Testing

@testable import GarageCoding

// Decoders that ask again, for another type, in any order.

private enum K: String, CodingKey { case a, b, c, d, e }

private struct Source: Codable {
  var a = ["x": 1], b = [Point(x: 1, y: 2), Point(x: 3, y: 4)], c = "text", d = [1, 2, 300],
    e = Payload.named(a: "n", b: 5)
}

/// Decodes by a closure.
private struct Reader: Codable {
  @TaskLocal static var read: @Sendable (any Decoder) throws -> String = { _ in "" }
  var found: String
  init(from decoder: any Decoder) throws { found = try Reader.read(decoder) }
  func encode(to encoder: any Encoder) throws {}
}

private struct Failing: Decodable {
  init(from decoder: any Decoder) throws {
    // Gets far into the value before it gives up.
    if let container = try? decoder.container(keyedBy: K.self) { _ = container.allKeys }
    if var list = try? decoder.unkeyedContainer() {
      while !list.isAtEnd { _ = try? list.decode(Point.self); _ = try list.decode(Point.self) }
    }
    throw CancellationError()
  }
}

/// What was read once can be read again, also as another type.
@Suite struct RepeatedDecodingTests {
  /// Runs `read` on the same value through JSON and ours.
  private func compare(_ expected: String, _ read: @escaping @Sendable (any Decoder) throws -> String) throws
  {
    try Reader.$read.withValue(read) { () throws -> Void in
      #expect(try JSON.decode(New<Reader>.self, JSON.encode(Old(Source()))).value.found == expected)
      #expect(try recode(Source(), as: Reader.self).found == expected)
    }
  }

  @Test func keyed() throws {
    try compare("x 3 300 text n text x") { decoder in
      let container = try decoder.container(keyedBy: K.self)
      for key in [K.a, .b, .c, .d, .e, .e, .d, .c, .b, .a] {
        #expect(throws: (any Error).self) { try container.decode(Failing.self, forKey: key) }
        #expect(throws: (any Error).self) { try container.decode(Bool.self, forKey: key) }
        #expect(throws: (any Error).self) { try container.decodeIfPresent([UUID].self, forKey: key) }
        #expect(throws: (any Error).self) { try container.decode([Int8].self, forKey: key) }
      }
      var found = [try container.decode([String: Int].self, forKey: .a).keys.first ?? ""]
      #expect(throws: (any Error).self) { try container.decode(Failing.self, forKey: .b) }
      found.append("\(try container.decode([Point].self, forKey: .b)[1].x)")
      #expect(throws: (any Error).self) { try container.decode([Int8].self, forKey: .d) }
      found.append("\(try container.decode([Int].self, forKey: .d)[2])")
      found.append(try container.decode(String.self, forKey: .c))
      if case .named(let a, _) = try container.decode(Payload.self, forKey: .e) { found.append(a) }
      found.append(try container.decode(String.self, forKey: .c))
      found.append(try container.decode([String: Int].self, forKey: .a).keys.first ?? "")
      return found.joined(separator: " ")
    }
  }

  @Test func unkeyed() throws {
    try compare("0 1 1 3 2 end") { decoder in
      var list = try decoder.container(keyedBy: K.self).nestedUnkeyedContainer(forKey: .b)
      var found = ["\(list.currentIndex)"]
      func fail() {
        let before = list.currentIndex
        #expect(throws: (any Error).self) { try list.decode(Failing.self) }
        #expect(throws: (any Error).self) { try list.decode(Int.self) }
        #expect(throws: (any Error).self) { try list.decode(String.self) }
        #expect(throws: (any Error).self) { try list.decode([Int].self) }
        #expect(throws: (any Error).self) { try list.decodeIfPresent(Bool.self) }
        #expect(throws: (any Error).self) { try list.nestedUnkeyedContainer() }
        #expect(list.currentIndex == before)
        #expect(throws: Never.self) { try #expect(!list.decodeNil()) }
        #expect(list.currentIndex == before)
      }
      fail()
      found.append("\(try list.decode(Point.self).x)")
      found.append("\(list.currentIndex)")
      fail()
      found.append("\(try list.decode(Point.self).x)")
      found.append("\(list.currentIndex)")
      #expect(list.count == 2)
      #expect(throws: DecodingError.self) { try list.decode(Point.self) }
      #expect(try list.decodeIfPresent(Point.self) == nil)
      found.append(list.isAtEnd ? "end" : "more")
      return found.joined(separator: " ")
    }
  }

  @Test func packedElementByElement() throws {
    try compare("1 2 300 3") { decoder in
      var list = try decoder.container(keyedBy: K.self).nestedUnkeyedContainer(forKey: .d)
      var found: [String] = []
      while !list.isAtEnd {
        #expect(throws: (any Error).self) { try list.decode(String.self) }
        if let small = try? list.decode(Int8.self) {
          found.append("\(small)")
        } else {
          found.append("\(try list.decode(Int.self))")
        }
      }
      return (found + ["\(list.currentIndex)"]).joined(separator: " ")
    }
  }

  /// A copy of a container goes on by itself, as is done to look at an element's kind before it is decoded.
  @Test func copiesOfAContainer() throws {
    try compare("1 1 3 3 | 1 1 2 2 300 300 | 1 2 1 2 3") { decoder in
      let container = try decoder.container(keyedBy: K.self)
      var found: [String] = []
      var peeking = try container.nestedUnkeyedContainer(forKey: .b)
      var decoding = peeking
      enum Keys: CodingKey { case x }
      while !peeking.isAtEnd {
        found.append("\(try peeking.nestedContainer(keyedBy: Keys.self).decode(Int.self, forKey: .x))")
        #expect(peeking.currentIndex == decoding.currentIndex + 1)
        found.append("\(try decoding.decode(Point.self).x)")
      }
      #expect(decoding.isAtEnd)
      found.append("|")
      var first = try container.nestedUnkeyedContainer(forKey: .d)
      var second = first
      while !first.isAtEnd {
        #expect(throws: (any Error).self) { try first.decode(String.self) }
        found.append("\(try first.decode(Int.self))")
        #expect(throws: (any Error).self) { try second.decode(Point.self) }
        found.append("\(try second.decode(Int.self))")
      }
      found.append("|")
      // From where it was copied.
      var late = try container.nestedUnkeyedContainer(forKey: .b)
      found.append("\(try late.decode(Point.self).x)")
      let middle = late
      found.append("\(middle.currentIndex + 1)")
      var (one, other) = (late, middle)
      var early = try container.nestedUnkeyedContainer(forKey: .b)
      found.append("\(try early.decode(Point.self).x)")
      _ = try one.decode(Point.self)
      #expect(one.isAtEnd && !other.isAtEnd && !early.isAtEnd && !late.isAtEnd)
      found.append("\(one.currentIndex)")
      found.append("\(try other.decode(Point.self).x)")
      return found.joined(separator: " ")
    }
  }

  /// Each container that a decoder gives begins at the first element.
  @Test func severalContainersOfADecoder() throws {
    struct Twice: Codable {
      var sum = 0
      init(from decoder: any Decoder) throws {
        var first = try decoder.unkeyedContainer()
        sum += try first.decode(Point.self).x
        var second = try decoder.unkeyedContainer()
        sum += try 10 * second.decode(Point.self).x
        sum += try 100 * first.decode(Point.self).x
        sum += try 1000 * second.decode(Point.self).x
        #expect(first.isAtEnd && second.isAtEnd)
        let whole = try decoder.singleValueContainer().decode([Point].self)
        var third = try decoder.unkeyedContainer()
        sum += try 10_000 * third.decode(Point.self).x * whole.count
      }
      func encode(to encoder: any Encoder) throws {}
    }
    try compare("23311") { decoder in
      "\(try decoder.container(keyedBy: K.self).decode(Twice.self, forKey: .b).sum)"
    }
  }

  /// Arrays that stand packed are written out where they are read element by element: the value stays where it is.
  @Test func aLookAtTheElementsFirst() throws {
    struct Looking<Element: Codable & Equatable>: Codable {
      var values: [Element]
      init(_ values: [Element]) { self.values = values }
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        #expect(throws: DecodingError.self) { try decoder.container(keyedBy: K.self) }
        #expect(list.count == 3)
        let first = try list.decode(Element.self)
        let single = try decoder.singleValueContainer()
        #expect(!single.decodeNil())
        #expect(throws: DecodingError.self) { try single.decode(Bool.self) }
        #expect(throws: DecodingError.self) { try single.decode([String: Element].self) }
        values = try single.decode([Element].self)
        #expect(try first == values[0] && list.decode(Element.self) == values[1])
        #expect(try single.decode([Element].self) == values && list.decode(Element.self) == values[2])
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
      }
    }
    func check<Element: Codable & Equatable>(_ values: [Element]) throws {
      #expect(try recode(values, as: Looking<Element>.self).values == values)
      #expect(try recode([values, values], as: [Looking<Element>].self).map(\.values) == [values, values])
      #expect(try recode(["k": values], as: [String: Looking<Element>].self)["k"]?.values == values)
    }
    try check([1.5, 2, 3]); try check([1, 2, 300]); try check(["a", "b", ""])
    try check([Date(timeIntervalSince1970: 1), .distantPast, .distantFuture])
    try check([Float(1), 2, 3]); try check([UInt8(1), 2, 3]); try check([Int64.max, .min, 0])
    try check([Decimal(1), 2, 3]); try check([UUID(), UUID(), UUID()]); try check([[1], [2], [3]])
    try check([1, nil, 3] as [Int?])
  }

  @Test func single() throws {
    try compare("Source 1") { decoder in
      let single = try decoder.singleValueContainer()
      for _ in 0..<3 {
        #expect(throws: (any Error).self) { try single.decode(Int.self) }
        #expect(throws: (any Error).self) { try single.decode([Int].self) }
        #expect(throws: (any Error).self) { try single.decode(Failing.self) }
        #expect(!single.decodeNil())
      }
      #expect(throws: (any Error).self) { try decoder.unkeyedContainer() }
      let first = try single.decode(Source.self), second = try single.decode(Source.self)
      #expect(first.b == second.b)
      return
        "Source \(try decoder.container(keyedBy: K.self).decode([String: Int].self, forKey: .a)["x"] ?? 0)"
    }
  }

  /// Nothing is read, or only a part: what follows is read all the same.
  @Test func partlyRead() throws {
    struct Nothing: Codable {
      init(from decoder: any Decoder) throws {}; func encode(to encoder: any Encoder) throws {}
    }
    struct First: Codable {
      var x: Int
      init(from decoder: any Decoder) throws {
        x = try decoder.container(keyedBy: XKey.self).decode(Int.self, forKey: .x)
      }
      func encode(to encoder: any Encoder) throws {}
    }
    enum XKey: CodingKey { case x }
    try compare("3 text") { decoder in
      let container = try decoder.container(keyedBy: K.self)
      _ = try container.decode(Nothing.self, forKey: .a)
      var list = try container.nestedUnkeyedContainer(forKey: .b)
      _ = try list.decode(Nothing.self)
      let x = try list.decode(First.self).x
      _ = try container.decode([First].self, forKey: .b)
      return "\(x) \(try container.decode(String.self, forKey: .c))"
    }
  }
}

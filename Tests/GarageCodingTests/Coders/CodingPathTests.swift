import Foundation
import Testing

@testable import GarageCoding

private func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }

/// Tells the coding paths under which it was encoded and decoded.
struct PathSpy: Codable, Hashable {
  var paths = ""
  init() {}
  init(from decoder: any Decoder) throws {
    paths = try decoder.singleValueContainer().decode(String.self) + " / " + text(decoder.codingPath)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text(encoder.codingPath) + " & " + text(container.codingPath))
  }
}

private enum K: String, CodingKey { case a, b, c, d }

/// Spies in every kind of container, and the paths of the containers.
private struct SpyNest: Codable, Equatable {
  var found: [String] = []
  init() {}

  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: K.self)
    var a = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    try a.encode(PathSpy(), forKey: .b)
    try a.encode([PathSpy()], forKey: .c)
    var d = a.nestedUnkeyedContainer(forKey: .d)
    try d.encode(PathSpy())
    var inD = d.nestedContainer(keyedBy: K.self)
    try inD.encode(["k": PathSpy()], forKey: .a)
    try inD.encode(text(inD.codingPath), forKey: .b)
    try d.encode([5: PathSpy()])
    try PathSpy().encode(to: d.superEncoder())
    try d.encode(text(d.codingPath))
    try a.encode(text(a.codingPath), forKey: .a)
    let base = outer.superEncoder()
    var inBase = base.unkeyedContainer()
    try inBase.encode(text(base.codingPath) + " & " + text(inBase.codingPath))
    try inBase.encode(PathSpy())
    try PathSpy().encode(to: outer.superEncoder(forKey: .d))
    try outer.encode(Payload2.one(PathSpy()), forKey: .c)
    try outer.encode(text(outer.codingPath), forKey: .b)
  }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: K.self)
    let a = try outer.nestedContainer(keyedBy: K.self, forKey: .a)
    found.append(try a.decode(PathSpy.self, forKey: .b).paths)
    found.append(try a.decode([PathSpy].self, forKey: .c)[0].paths)
    var d = try a.nestedUnkeyedContainer(forKey: .d)
    found.append(try d.decode(PathSpy.self).paths)
    let inD = try d.nestedContainer(keyedBy: K.self)
    found.append(try inD.decode([String: PathSpy].self, forKey: .a)["k"]?.paths ?? "none")
    found.append(try inD.decode(String.self, forKey: .b) + " / " + text(inD.codingPath))
    found.append(try d.decode([Int: PathSpy].self)[5]?.paths ?? "none")
    found.append(try PathSpy(from: d.superDecoder()).paths)
    found.append(try d.decode(String.self) + " / " + text(d.codingPath))
    found.append(try a.decode(String.self, forKey: .a) + " / " + text(a.codingPath))
    let base = try outer.superDecoder()
    var inBase = try base.unkeyedContainer()
    found.append(
      try inBase.decode(String.self) + " / " + text(base.codingPath) + " & " + text(inBase.codingPath))
    found.append(try inBase.decode(PathSpy.self).paths)
    found.append(try PathSpy(from: outer.superDecoder(forKey: .d)).paths)
    if case .one(let spy) = try outer.decode(Payload2.self, forKey: .c) { found.append(spy.paths) }
    found.append(try outer.decode(String.self, forKey: .b) + " / " + text(outer.codingPath))
  }
}
enum Payload2: Codable, Equatable { case one(PathSpy), two(a: Int) }

/// Reads a tag by its key, and then the whole value as what the tag says.
private struct Tagged: Codable {
  var path = ""
  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: K.self)
    _ = try container.decode(String.self, forKey: .a)
    path = try decoder.singleValueContainer().decode(Content.self).path + " & " + text(container.codingPath)
    _ = try container.decode(Int.self, forKey: .b)
    path += " & " + (try decoder.singleValueContainer().decode(Content.self).path)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try container.encode("tag", forKey: .a)
    try container.encode(1, forKey: .b)
  }

  struct Content: Codable {
    var path: String
    init(from decoder: any Decoder) throws { path = text(decoder.codingPath) }
    func encode(to encoder: any Encoder) throws {}
  }
}

/// A key that is a number as well as a text.
private struct CountedKey: CodingKey {
  var number: Int
  var stringValue: String { "n\(number)" }
  var intValue: Int? { number }
  init(_ number: Int) { self.number = number }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) {
    guard stringValue.first == "n", let number = Int(stringValue.dropFirst()) else { return nil }
    self.init(number)
  }
}

/// The paths to its values, as the values and errors about them find them: with the numbers and the types of the keys.
private struct KeysOfPaths: Codable, Equatable {
  var found: [String] = []
  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CountedKey.self)
    found.append(try container.decode(Value.self, forKey: CountedKey(3)).path)
    found.append(try container.decode([Int: Value].self, forKey: CountedKey(4))[-7]?.path ?? "none")
    found.append(try container.decode([String: Value].self, forKey: CountedKey(5))["eight"]?.path ?? "none")
    do { _ = try container.decode(Int.self, forKey: CountedKey(3)) } catch DecodingError.typeMismatch(
      _, let context)
    {
      found.append(KeysOfPaths.text(context.codingPath))
    }
    do { _ = try container.decode([Int: Bool].self, forKey: CountedKey(4)) } catch DecodingError.typeMismatch(
      _, let context)
    {
      found.append(KeysOfPaths.text(context.codingPath))
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CountedKey.self)
    try container.encode(Value(), forKey: CountedKey(3))
    try container.encode([-7: Value()], forKey: CountedKey(4))
    try container.encode(["eight": Value()], forKey: CountedKey(5))
  }

  static func text(_ path: [any CodingKey]) -> String {
    path.map { "\($0.stringValue) \($0.intValue.map(String.init) ?? "nil") \($0 is CountedKey)" }
      .joined(separator: ", ")
  }

  struct Value: Codable {
    var path = ""
    init() {}
    init(from decoder: any Decoder) throws { path = KeysOfPaths.text(decoder.codingPath) }
    func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: K.self) }
  }
}

// MARK: - What was stored, and what is asked for

private struct Stored: Codable {
  var number = 300, text = "x", null: Int?, list = [1, 2, 300], half = 1.5, huge = 1e300
  var points = [Point(x: 1, y: 2), Point(x: 3, y: 4)], table = ["k": [Point(x: 1, y: 1)]]
  var numbered = [7: "seven"], nested = Inner(), choice = Payload2.two(a: 1), negative = -1, flag = true
  var pairs = [Point(x: 1, y: 1): "p"]
  struct Inner: Codable { var a = ["q"], none: Int? = nil }
  init() {}
  func encode(to encoder: any Encoder) throws {
    var c = encoder.container(keyedBy: Keys.self)
    try c.encode(number, forKey: .number); try c.encode(text, forKey: .text); try c.encodeNil(forKey: .null)
    try c.encode(list, forKey: .list); try c.encode(half, forKey: .half); try c.encode(huge, forKey: .huge)
    try c.encode(points, forKey: .points); try c.encode(table, forKey: .table);
    try c.encode(numbered, forKey: .numbered)
    try c.encode(nested, forKey: .nested); try c.encode(choice, forKey: .choice);
    try c.encode(negative, forKey: .negative)
    try c.encode(flag, forKey: .flag); try c.encode(pairs, forKey: .pairs)
  }
  enum Keys: String, CodingKey {
    case number, text, null, list, half, huge, points, table, numbered, nested, choice, negative, flag, pairs,
      missing
  }
}

private struct Other: Codable { var x: String, y: Int }
private struct Third: Codable, Hashable { var x: Int, z: Int }

/// Asks a stored record in the way a closure says.
private struct Asking: Codable {
  @TaskLocal static var ask: @Sendable (any Decoder) throws -> Void = { _ in }
  init(from decoder: any Decoder) throws { try Asking.ask(decoder) }
  func encode(to encoder: any Encoder) throws {}
}

struct Asker: CustomTestStringConvertible, Sendable {
  var name: String
  var ask: @Sendable (any Decoder) throws -> Void
  var testDescription: String { name }
}

private func asking<T: Decodable & SendableMetatype>(_ key: Stored.Keys, _ type: T.Type) -> Asker {
  Asker(name: "\(key.rawValue) as \(type)") {
    _ = try $0.container(keyedBy: Stored.Keys.self).decode(type, forKey: key)
  }
}

/// Coding paths and errors are those of JSON's coders.
@Suite struct CodingPathTests {
  @Test func pathsInsideAreJSONs() throws {
    let json = try JSON.copy(Holder(SpyNest())), ours = try roundTrip(Holder(SpyNest()))
    for (ours, json) in zip(ours.all, json.all) {
      for (ours, json) in zip(ours.found, json.found) {
        // JSON's encoder leaves out the containers around a nested one. Ours says the same on both sides.
        let path = json.components(separatedBy: " / ")[1].components(separatedBy: " & ")[0]
        for part in ours.components(separatedBy: " / ").flatMap({ $0.components(separatedBy: " & ") }) {
          #expect(part == path)
        }
      }
      #expect(ours.found.count == 14)
    }
  }

  /// The field that was read before is no step on the way.
  @Test func pathsBehindATagAreJSONs() throws {
    let json = try JSON.copy(Holder(Tagged())), ours = try roundTrip(Holder(Tagged()))
    #expect(ours.all.map(\.path) == json.all.map(\.path))
    #expect(ours.value.path == "value & value & value")
  }

  /// Keys are not only told by their texts.
  @Test func keysOfPathsAreJSONs() throws {
    let json = try JSON.copy(Owner(KeysOfPaths())).value, ours = try copy(KeysOfPaths())
    #expect(ours == json)
    #expect(ours.found.count == 5)
    #expect(ours.found.first == "value nil false, n3 3 true")
  }

  static let askers: [Asker] = [
    asking(.missing, Int.self), asking(.missing, Point.self), asking(.missing, Int?.self),
    asking(.text, Int.self),
    asking(.text, Bool.self), asking(.text, Double.self), asking(.text, [Int].self),
    asking(.text, Point.self), asking(.text, [String: Int].self),
    asking(.number, Int8.self), asking(.number, UInt8.self), asking(.number, String.self),
    asking(.number, Bool.self), asking(.number, [Int].self),
    asking(.negative, UInt.self), asking(.negative, UInt64.self), asking(.negative, UInt128.self),
    asking(.half, Int.self), asking(.huge, Float.self),
    asking(.huge, Int.self), asking(.flag, Int.self), asking(.flag, Double.self), asking(.flag, String.self),
    asking(.null, Int.self), asking(.null, String.self), asking(.null, Point.self), asking(.null, [Int].self),
    asking(.null, Bool.self),
    asking(.null, Double.self), asking(.list, [Int8].self), asking(.list, [String].self),
    asking(.list, Int.self), asking(.list, [[Int]].self),
    asking(.list, [Int8?].self), asking(.list, [String: Int].self), asking(.points, [Other].self),
    asking(.points, [Third].self), asking(.points, Point.self),
    asking(.points, [Int].self), asking(.table, [String: [Other]].self),
    asking(.table, [String: [Third]].self),
    asking(.table, [String: Int].self), asking(.numbered, [Int: Int].self),
    asking(.nested, [String: [Int]].self),
    asking(.nested, Nested.self), asking(.choice, Payload2.self), asking(.choice, Payload.self),
    asking(.text, Theme.self),
    asking(.number, Suit.self), asking(.text, UUID.self), asking(.pairs, [Point: Int].self),
    asking(.pairs, [Suit].self),
    asking(.nested, Stored.Inner.self), asking(.points, Set<Third>.self),
    Asker(name: "past the end") { decoder in
      var list = try decoder.container(keyedBy: Stored.Keys.self).nestedUnkeyedContainer(forKey: .points)
      while true { _ = try list.decode(Point.self) }
    },
    Asker(name: "nested key missing") { decoder in
      let nested = try decoder.container(keyedBy: Stored.Keys.self).nestedContainer(
        keyedBy: Stored.Keys.self, forKey: .nested)
      _ = try nested.decode(Int.self, forKey: .text)
    },
    Asker(name: "nested in nested, wrong type") { decoder in
      var list = try decoder.container(keyedBy: Stored.Keys.self).nestedUnkeyedContainer(forKey: .points)
      _ = try list.decode(Point.self)
      _ = try list.nestedContainer(keyedBy: Stored.Keys.self).decode(Int.self, forKey: .number)
    },
    Asker(name: "nested in nested, wrong value") { decoder in
      var list = try decoder.container(keyedBy: Stored.Keys.self).nestedUnkeyedContainer(forKey: .points)
      _ = try list.decode(Point.self)
      _ = try list.nestedContainer(keyedBy: XKey.self).decode(Bool.self, forKey: .x)
    },
    Asker(name: "child of nested") { decoder in
      var list = try decoder.container(keyedBy: Stored.Keys.self).nestedUnkeyedContainer(forKey: .points)
      _ = try list.decode(Third.self)
    },
    Asker(name: "nested container of text") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).nestedContainer(keyedBy: XKey.self, forKey: .text)
    },
    Asker(name: "nested container of null") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).nestedContainer(keyedBy: XKey.self, forKey: .null)
    },
    Asker(name: "nested list of text") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).nestedUnkeyedContainer(forKey: .text)
    },
    Asker(name: "nested container missing") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).nestedContainer(
        keyedBy: XKey.self, forKey: .missing)
    },
    Asker(name: "unkeyed of a map") { _ = try $0.unkeyedContainer() },
    Asker(name: "single String of a map") { _ = try $0.singleValueContainer().decode(String.self) },
    Asker(name: "whole value as a number behind a key") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).decode(Int.self, forKey: .number)
      _ = try decoder.singleValueContainer().decode(Int.self)
    },
    Asker(name: "whole value as another type behind a key") { decoder in
      _ = try decoder.container(keyedBy: Stored.Keys.self).decode(Int.self, forKey: .number)
      _ = try decoder.singleValueContainer().decode(Other.self)
    },
    Asker(name: "whole array behind an element") { decoder in
      let points = try decoder.container(keyedBy: Stored.Keys.self).superDecoder(forKey: .points)
      var list = try points.unkeyedContainer()
      _ = try list.decode(Point.self)
      _ = try points.singleValueContainer().decode([Int].self)
    },
    Asker(name: "whole array as a map behind an element") { decoder in
      let points = try decoder.container(keyedBy: Stored.Keys.self).superDecoder(forKey: .points)
      var list = try points.unkeyedContainer()
      _ = try list.decode(Point.self)
      _ = try points.singleValueContainer().decode(Third.self)
    },
    Asker(name: "super decoder's child") { decoder in
      let other = try decoder.container(keyedBy: Stored.Keys.self).superDecoder(forKey: .nested)
      _ = try other.container(keyedBy: Stored.Keys.self).decode(Int.self, forKey: .points)
    },
    Asker(name: "null in a nested list") { decoder in
      let nested = try decoder.container(keyedBy: Stored.Keys.self).superDecoder(forKey: .null)
      _ = try nested.singleValueContainer().decode(Int.self)
    },
  ]
  private enum XKey: CodingKey { case x }

  @Test(arguments: askers) func errorsAreJSONs(_ asker: Asker) throws {
    func outcome(_ decode: () throws -> Void) -> String {
      do { try decode() } catch { return summary(error) }
      return "decoded"
    }
    let data = try JSON.encode(Old(Stored())), graph = try GraphEncoder().encode([Old(Stored())])
    Asking.$ask.withValue(asker.ask) {
      let json = outcome { _ = try JSON.decode(New<Asking>.self, data) }
      let ours = outcome { _ = try reread(graph, as: New<Asking>.self) }
      #expect(isSame(ours, asJSONs: json), "\(ours), JSON: \(json)")
    }
  }

  @Test func userInfoReachesEverything() throws {
    struct Reader: Codable, Equatable {
      static let key = CodingUserInfoKey(rawValue: "k")!
      var found = ""
      init() {}
      init(from decoder: any Decoder) throws {
        found =
          try decoder.singleValueContainer().decode(String.self) + "\(decoder.userInfo[Reader.key] ?? "none")"
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(encoder.userInfo[Reader.key] ?? "none")")
      }
    }
    struct Nest: Codable {
      var found = [String]()
      init() {}
      init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: K.self)
        var list = try outer.nestedUnkeyedContainer(forKey: .a)
        found = [try list.decode(Reader.self).found, try Reader(from: outer.superDecoder()).found]
      }
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: K.self)
        var list = outer.nestedUnkeyedContainer(forKey: .a)
        try list.encode(Reader())
        try Reader().encode(to: outer.superEncoder())
      }
    }
    let graph = try GraphEncoder(userInfo: [Reader.key: 7]).encode([Owner([Nest()])])
    let source = DictionarySource()
    source.add(graph)
    let session = GraphDecodingSession(
      source: source, types: try RegisteredTypes(), userInfo: [Reader.key: 8])
    let owner = try #require(try session.object(Owner<[Nest]>.self, graph.roots[0]))
    #expect(owner.value[0].found == ["78", "78"])
  }
}

import Foundation
import Testing

@testable import GarageCoding

// Roots that are only `Hashable` are identified by the digest of their canonical bytes.

private struct Values: Codable, Hashable, TypeTagged {
  static var typeTag: String { "values" }
  var double = 0.0, float = Float(0), text = "", list: [Double] = [], floats: [Float] = [],
    date = Date(timeIntervalSinceReferenceDate: 0)
  var dates: [Date] = [], optional: Int?, set: Set<String> = [], table: [String: Int] = [:],
    points: [Point: Set<Int>] = [:]
  var decimal = Decimal(0), texts: [String] = [], url: URL?, nested: [Set<[String: Double]>] = [],
    unique: Interning?
}
private struct Interning: Interned { var text: String, set: Set<Double> }

private struct SetOnly: Codable, Hashable { var set: Set<Tree2> }
private struct Tree2: Codable, Hashable { var name: String, children: Set<Tree2> }

private struct ReorderedKeys: Codable, Hashable, TypeTagged {
  static var typeTag: String { "reordered" }
  var a = 1, b: Int? = 2, c = "c"
}
private struct KeysReordered: Codable, Hashable, TypeTagged {
  static var typeTag: String { "reordered" }
  var c = "c", a = 1, b: Int? = 2
}
private struct KeysInAnotherWay: Encodable, Hashable, TypeTagged {
  static var typeTag: String { "reordered" }
  struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode("c", forKey: Key(stringValue: "c"))
    try container.encode(UInt8(2), forKey: Key(stringValue: "b"))
    try container.encodeIfPresent(Int?.none, forKey: Key(stringValue: "none"))
    try container.encode(Int64(1), forKey: Key(stringValue: "a"))
  }
}

private enum Mood: String, Codable, Identifiable, CaseIterable { case good, bad; var id: Self { self } }
private struct SelfIdentified: Codable, Hashable, Identifiable { var x = 1; var id: Self { self } }
private struct Raw: RawRepresentable, Codable, Hashable, Identifiable {
  var rawValue: Int; var id: Int { rawValue }
}
private struct Neither: Codable { var x = 1 }
private struct BothWays: Codable, Identifiable, Hashable { var id: String, text = "" }

@Suite struct IdentityOfValuesTests {
  private func identity(_ value: any Encodable) throws -> RecordIdentity {
    try GraphEncoder().identity(of: value)
  }

  @Test func equalValuesAreOne() throws {
    let plain = try identity(Values())
    func same(_ change: (inout Values) -> Void, _ other: (inout Values) -> Void, line: Int = #line) throws {
      var one = Values(), two = Values()
      change(&one)
      other(&two)
      #expect(try identity(one) == identity(two), "line \(line)")
      #expect(try identity(one) != plain || one == Values(), "line \(line)")
    }
    try same({ $0.double = -0.0 }, { $0.double = 0.0 })
    try same({ $0.float = -0.0 }, { $0.float = 0.0 })
    try same({ $0.list = [-0.0, 1] }, { $0.list = [0.0, 1] })
    try same({ $0.floats = [-0.0, 1] }, { $0.floats = [0.0, 1] })
    try same({ $0.date = Date(timeIntervalSinceReferenceDate: -0.0) }, { _ in })
    try same(
      { $0.dates = [Date(timeIntervalSinceReferenceDate: -0.0)] },
      { $0.dates = [Date(timeIntervalSinceReferenceDate: 0)] })
    try same({ $0.double = .nan }, { $0.double = -.nan })
    try same({ $0.list = [.nan] }, { $0.list = [.signalingNaN] })
    try same({ $0.text = "Caf\u{E9}" }, { $0.text = "Cafe\u{301}" })
    try same({ $0.texts = ["Caf\u{E9}"] }, { $0.texts = ["Cafe\u{301}"] })
    try same({ $0.set = ["Caf\u{E9}", "x"] }, { $0.set = ["x", "Cafe\u{301}"] })
    try same({ $0.table = ["Caf\u{E9}": 1] }, { $0.table = ["Cafe\u{301}": 1] })
    try same(
      { $0.decimal = Decimal(string: "1.50")! },
      { $0.decimal = Decimal(sign: .plus, exponent: -2, significand: 150) })
    try same(
      { $0.decimal = Decimal(sign: .plus, exponent: 3, significand: 5) }, { $0.decimal = Decimal(5000) })
    try same(
      { $0.unique = Interning(text: "Caf\u{E9}", set: [-0.0]) },
      { $0.unique = Interning(text: "Cafe\u{301}", set: [0.0]) })
    // Sets and dictionaries that were built in another order, of another capacity.
    let keys = (0..<200).map { "key \($0)" }
    var backwards = Set<String>(minimumCapacity: 5000), table = [String: Int](minimumCapacity: 5000)
    for key in keys.reversed() { backwards.insert(key); table[key] = key.count }
    try same({ $0.set = Set(keys) }, { $0.set = backwards })
    try same(
      { $0.table = Dictionary(uniqueKeysWithValues: keys.map { ($0, $0.count) }) }, { $0.table = table })
    let points = (0..<50).map { Point(x: $0, y: -$0) }
    var pointTable = [Point: Set<Int>](minimumCapacity: 1000)
    for point in points.reversed() { pointTable[point] = Set((0..<point.x).reversed()) }
    try same(
      { $0.points = Dictionary(uniqueKeysWithValues: points.map { ($0, Set(0..<$0.x)) }) },
      { $0.points = pointTable })
    try same({ $0.nested = [[["a": 0.0, "b": 1], [:]]] }, { $0.nested = [[[:], ["b": 1, "a": -0.0]]] })
  }

  @Test func differentValuesAreNot() throws {
    var seen: [RecordIdentity: String] = [:]
    func new(_ name: String, _ change: (inout Values) -> Void) throws {
      var value = Values()
      change(&value)
      #expect(seen.updateValue(name, forKey: try identity(value)) == nil, "\(name)")
    }
    try new("plain") { _ in }
    try new("double") { $0.double = 1 }
    try new("float") { $0.float = 1 }
    try new("nan") { $0.double = .nan }
    try new("text") { $0.text = "a" }
    try new("list of one empty text") { $0.texts = [""] }
    try new("two texts") { $0.texts = ["a", "b"] }
    try new("joined") { $0.texts = ["ab"] }
    try new("zero") { $0.optional = 0 }
    try new("one") { $0.optional = 1 }
    try new("set") { $0.set = [""] }
    try new("list of nan") { $0.list = [.nan] }
    try new("list of two") { $0.list = [1, 2] }
    try new("reversed") { $0.list = [2, 1] }
    try new("nested") { $0.nested = [[]] }
    try new("nested twice") { $0.nested = [[], []] }
    try new("nested once") { $0.nested = [[[:]]] }
  }

  @Test func orderOfKeysDoesNotMatter() throws {
    #expect(try identity(ReorderedKeys()) == identity(KeysReordered()))
    #expect(try identity(ReorderedKeys()) == identity(KeysInAnotherWay()))
    #expect(try identity(ReorderedKeys(b: nil)) == identity(KeysReordered(b: nil)))
    #expect(try identity(ReorderedKeys(b: nil)) != identity(ReorderedKeys()))
  }

  @Test func collectionsAsRoots() throws {
    let words = (0..<100).map { "w\($0)" }
    #expect(try identity(Set(words)) == identity(Set(words.reversed())))
    var backwards = Set<String>(minimumCapacity: 4000)
    for word in words.reversed() { backwards.insert(word) }
    #expect(try identity(Set(words)) == identity(backwards))
    #expect(try roundTrip(backwards) == Set(words))
    let table = Dictionary(uniqueKeysWithValues: words.map { ($0, $0.count) })
    #expect(try roundTrip(table) == table)
    #expect(try roundTrip([1, 2, 3]) == [1, 2, 3])
    #expect(try roundTrip("text") == "text")
    #expect(try roundTrip(Data([1, 2])) == Data([1, 2]))
    #expect(try roundTrip(5) == 5)
    #expect(try roundTrip(Optional(5)) == 5)
    #expect(try roundTrip(Date.distantPast) == .distantPast)
    #expect(
      try roundTrip(URL(string: "a", relativeTo: URL(string: "b:c"))!) == URL(
        string: "a", relativeTo: URL(string: "b:c"))!)
    #expect(try roundTrip(Decimal(string: "1.5")!) == Decimal(string: "1.5")!)
    #expect(try roundTrip(Expression.sum(.number(1), .number(2))) == .sum(.number(1), .number(2)))
  }

  /// Twice the work at each level would take longer than anybody waits.
  @Test func setsInSetsInSets() throws {
    var tree = Tree2(name: "leaf", children: [])
    for depth in 0..<60 { tree = Tree2(name: "\(depth)", children: [tree]) }
    let value = SetOnly(set: [tree])
    #expect(try roundTrip(value) == value)
  }

  /// These hold in every process, whatever its hash seed: they are keys of stored records.
  @Test func golden() throws {
    var value = Values()
    (value.double, value.text, value.set, value.table) = (
      1.5, "Cafe\u{301}", ["b", "a", "c"], ["y": 1, "x": 2]
    )
    value.points = [Point(x: 1, y: 2): [3, 1, 2], Point(x: 0, y: 0): []]
    value.unique = Interning(text: "i", set: [1, 2])
    let texts: [String] = try [
      value, Values(), Set([1, 2, 3]), ["a": 1, "b": 2], Point(x: 1, y: 2), Mood.good, "text", 5,
      [Payload.one(1)],
    ].map { (value: any Encodable) in hex(try identity(value).identifier.bytes) }
    #expect(texts == GoldenIdentities.all)
  }

  @Test func whatIdentifiesWhat() throws {
    #expect(try identity(Mood.good).identifier.kind == .digest)
    #expect(try identity(SelfIdentified()).identifier.kind == .digest)
    #expect(try identity(Raw(rawValue: 5)).identifier.kind == .digest)
    #expect(try identity(BothWays(id: "x")).identifier == Identifier("x", canonical: canonicalBytes))
    #expect(try identity(BothWays(id: "x", text: "a")) == identity(BothWays(id: "x", text: "b")))
    #expect(throws: GraphCodingError.missingConformance(type: "Neither")) { try identity(Neither()) }
    #expect(throws: GraphCodingError.missingConformance(type: "Neither")) {
      try GraphEncoder().encode([Neither()])
    }
    func generic<T: Hashable & Codable>(_ value: T) throws -> RecordIdentity { try identity(value) }
    #expect(try generic(BothWays(id: "x")) == identity(BothWays(id: "x")))
    // Inside others they stand inline.
    struct Holds: Codable, Identifiable {
      var id = 1, mood = Mood.bad, own = SelfIdentified(), raw = Raw(rawValue: 5), moods = [Mood.good: 1]
    }
    let graph = try GraphEncoder().encode([Holds()])
    #expect(graph.records.count == 1)
    #expect(try roundTrip(Holds()).mood == .bad)
    #expect(try roundTrip(Mood.bad) == .bad)
  }

  /// Inside an identifier nothing is a reference.
  @Test func identifiersHoldNoReferences() throws {
    struct Key: Codable, Hashable { var item: BothWays, interned: ReferenceTests.Address, list: [BothWays] }
    struct Keyed: Codable, Identifiable { var id: Key }
    let key = Key(
      item: BothWays(id: "i", text: "t"), interned: .init(street: "s", zip: 1), list: [BothWays(id: "j")])
    let one = try identity(Keyed(id: key))
    #expect(one.identifier.kind == .canonical)
    var other = key
    other.item.text = "u"
    #expect(try identity(Keyed(id: other)) != one)
    #expect(try roundTrip(Keyed(id: key)).id == key)
  }

  @Test func identifiersThatNameNothing() throws {
    final class Object: Codable, Identifiable { var x = 1 }
    struct Embeds: Codable, Identifiable { var id = 1; var object: Object }
    #expect(throws: GraphCodingError.self) { try GraphEncoder().encode([Object()]) }
    #expect(throws: GraphCodingError.self) { try GraphEncoder().encode([Embeds(object: Object())]) }
    do { _ = try GraphEncoder().encode([Object()]) } catch { #expect("\(error)".contains("Inlined")) }
    struct Closure: Codable, Hashable, Identifiable {
      struct ID: Hashable {}
      var id: ID { ID() }
    }
    #expect(throws: GraphCodingError.self) { try GraphEncoder().encode([Closure()]) }
  }
}

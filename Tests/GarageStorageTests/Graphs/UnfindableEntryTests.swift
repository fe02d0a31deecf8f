import Foundation
import GarageStorage
import Testing

// Entries that a look-up of their key would not find: NaN, keys that were changed after they were put in, keys that
// equal nothing. None of them is lost.

/// Equal by its text, which can be changed.
private final class ChangingKey: Codable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  static func == (a: ChangingKey, b: ChangingKey) -> Bool { a.text == b.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The same, and a key of a map in records.
private final class ChangingTextKey: Codable, Hashable, CodingKeyRepresentable {
  var text: String
  init(_ text: String) { self.text = text }
  static func == (a: ChangingTextKey, b: ChangingTextKey) -> Bool { a.text == b.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
  var codingKey: any CodingKey { CodingName(text) }
  init?<K: CodingKey>(codingKey: K) { text = codingKey.stringValue }
  private struct CodingName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Equals nothing, not even itself, and hashes anew each time.
private struct Unequal: Codable, Hashable {
  var number: Int
  static func == (a: Unequal, b: Unequal) -> Bool { false }
  func hash(into hasher: inout Hasher) { hasher.combine(UInt64.random(in: .min ... .max)) }
}

/// Equal to itself alone.
private final class Token: Codable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  static func == (a: Token, b: Token) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private struct Thing: Codable, Identifiable, Equatable {
  var id: Int
  var text = ""
}

private struct Measured: Codable, Identifiable {
  var id = 1
  var texts: [Double: String] = [:]
  var nested: [Double: [Double: Set<Double>]] = [:]
  var byDictionary: [[Double: Int]: String] = [:]
  var floats: [Float?: Int] = [:]
  var dates: [Date: String] = [:]
  var members: Set<Double> = []
  var unequal: [Unequal: Int] = [:]
  var things: [Double: Thing] = [:]
  @Linked var linked: [Double: Thing] = [:]
}

private final class MappedMeasured: MappableObject, Hashable {
  var name = "one"
  var texts: [Double: String] = [:]
  var things: [Double: MappedThing] = [:]
  var members: Set<Double> = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedMeasured.self)
    mapping.add("name", \MappedMeasured.name)
    mapping.add("texts", \MappedMeasured.texts)
    mapping.add("things", \MappedMeasured.things)
    mapping.add("members", \MappedMeasured.members)
    mapping.identifyingAttribute = "name"
    return mapping
  }
  static func == (a: MappedMeasured, b: MappedMeasured) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private final class MappedThing: MappableObject {
  var name = ""
  init() {}
  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedThing.self)
    mapping.add("name", \MappedThing.name)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private struct Content: Codable, Hashable { var texts: [Double: String] }
private struct InternedContent: Interned { var texts: [Double: String] }
private struct InternedOwner: Codable, Identifiable {
  var id = 1
  var content: InternedContent
}
private struct ChangedKeys: Codable, Identifiable {
  var id = 1
  var values: [ChangingKey: Int] = [:]
  var texts: [ChangingTextKey: Int] = [:]
  var members: Set<ChangingKey> = []
}

/// No entry of a collection is lost because its key cannot be looked up.
@Suite struct UnfindableEntryTests {
  private static let manyNaN: [Double: String] = {
    var texts: [Double: String] = [1: "one", -.infinity: "least"]
    for text in ["a", "b", "c", "d"] { texts[.nan] = text }
    texts[Double(nan: 77, signaling: false)] = "e"
    return texts
  }()

  private func sorted(_ texts: [Double: String]) -> [String] { texts.values.sorted() }
  private let texts = ["a", "b", "c", "d", "e", "least", "one"]

  @Test(arguments: Backend.allCases)
  func entriesUnderNaNComeBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    var all = Measured(texts: Self.manyNaN)
    all.nested = [.nan: [.nan: [.nan, 1], 2: []], 3: [.nan: [.nan]]]
    all.nested[.nan] = [:]
    all.byDictionary = [[.nan: 1, 2: 2]: "x", [.nan: 1]: "y"]
    all.floats = [.nan: 1, nil: 2, 0.5: 3]
    all.dates = [Date(timeIntervalSinceReferenceDate: .nan): "never"]
    all.dates[Date(timeIntervalSinceReferenceDate: .nan)] = "nowhere"
    all.members = [.nan, 1]
    all.members.insert(.nan)
    all.unequal = [Unequal(number: 1): 1, Unequal(number: 1): 2, Unequal(number: 2): 3]
    for number in 1...3 { all.things[.nan] = Thing(id: number, text: "\(number)") }
    for number in 4...6 { all.linked[.nan] = Thing(id: number, text: "\(number)") }
    try garage.park(all)
    garage = try place.reopened(garage)

    let found = try #require(try garage.retrieve(Measured.self, identifier: 1))
    #expect(sorted(found.texts) == texts)
    #expect(Set(found.texts.keys.filter(\.isNaN).map(\.bitPattern)).count == 2)
    #expect(found.nested.count == 3)
    #expect(found.nested.values.flatMap { $0.values.map(\.count) }.sorted() == [0, 1, 2])
    #expect(found.byDictionary.keys.map(\.count).sorted() == [1, 2])
    #expect(found.byDictionary.values.sorted() == ["x", "y"])
    #expect(found.floats.count == 3)
    #expect(found.dates.values.sorted() == ["never", "nowhere"])
    #expect(found.members.count == 3)
    #expect(found.unequal.values.sorted() == [1, 2, 3])
    #expect(found.things.values.map(\.id).sorted() == [1, 2, 3])
    #expect(found.linked.values.map(\.text).sorted() == ["4", "5", "6"])
  }

  @Test(arguments: Backend.allCases)
  func entriesOfRootsAndTypedKeysComeBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(Self.manyNaN)
    try garage.park(Content(texts: Self.manyNaN))
    try garage.park(InternedOwner(content: InternedContent(texts: Self.manyNaN)))
    let key = Key<GlobalNamespace, [Double: String]>(id: "texts", defaultValue: [:])
    try garage.set(key, value: Self.manyNaN)
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll([Double: String].self).map { sorted($0) } == [texts])
    #expect(try garage.retrieveAll(Content.self).map { sorted($0.texts) } == [texts])
    let owner = try #require(try garage.retrieve(InternedOwner.self, identifier: 1))
    #expect(sorted(owner.content.texts) == texts)
    #expect(sorted(try garage.get(key)) == texts)
  }

  /// What stands under NaN is part of what a value is identified by.
  @Test func digestsTellEntriesUnderNaNApart() throws {
    let garage = try Place(.memory).garage()
    let contents = [[1: "one"], [1: "one", .nan: "a"], [1: "one", .nan: "b"], Self.manyNaN]
    let identifiers = try contents.map { try garage.identifier(for: Content(texts: $0)) }
    #expect(Set(identifiers).count == contents.count)
    let members: [Set<Double>] = [[1], [1, .nan]]
    #expect(Set(try members.map { try garage.identifier(for: $0) }).count == 2)
  }

  @Test(arguments: Backend.allCases)
  func entriesOfMappedObjectsComeBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let object = MappedMeasured()
    object.texts = Self.manyNaN
    for name in ["x", "y", "z"] { object.things[.nan] = MappedThing(name) }
    object.members = [.nan, 2]
    try garage.park(object)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(MappedMeasured.self, identifier: "one"))
    #expect(sorted(found.texts) == texts)
    #expect(found.things.values.map(\.name).sorted() == ["x", "y", "z"])
    #expect(found.members.count == 2)
  }

  @Test(arguments: Backend.allCases)
  func entriesUnderChangedKeysComeBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    var all = ChangedKeys()
    let keys = (0..<20).map { ChangingKey("\($0)") }
    let textKeys = (0..<20).map { ChangingTextKey("\($0)") }
    for index in 0..<20 {
      all.values[keys[index]] = index
      all.texts[textKeys[index]] = index
      all.members.insert(keys[index])
    }
    for index in 0..<20 {
      keys[index].text = "changed \(index)"
      textKeys[index].text = "changed \(index)"
    }
    try garage.park(all)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(ChangedKeys.self, identifier: 1))
    for index in 0..<20 {
      #expect(found.values[ChangingKey("changed \(index)")] == index)
      #expect(found.texts[ChangingTextKey("changed \(index)")] == index)
      #expect(found.members.contains(ChangingKey("changed \(index)")))
    }
  }

  /// Two keys that became equal have no place in one dictionary: what is read back could hold one of them only.
  @Test(arguments: Backend.allCases)
  func keysThatBecameEqualAreRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (a, b) = (ChangingKey("a"), ChangingKey("b"))
    let (c, d) = (ChangingTextKey("c"), ChangingTextKey("d"))
    let owners = [
      ChangedKeys(values: [a: 1, b: 2]), ChangedKeys(texts: [c: 1, d: 2]), ChangedKeys(members: [a, b]),
    ]
    for owner in owners { try garage.park(owner) }
    b.text = "a"
    d.text = "c"
    for (owner, property) in zip(owners, ["values", "texts", "members"]) {
      #expect {
        try garage.park(owner)
      } throws: { error in
        guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return false }
        return context.codingPath.map(\.stringValue) == [property]
          && context.debugDescription.contains("changed after")
      }
    }
    #expect(try garage.retrieve(ChangedKeys.self, identifier: 1)?.members.count == 2)
  }

  /// Objects that only their addresses tell apart may have equal content.
  @Test(arguments: Backend.allCases)
  func equalContentIsNoEqualElement(_ backend: Backend) throws {
    struct Owner: Codable, Identifiable {
      var id = 1
      var tokens: Set<Token>
      var counts: [Token: Int]
    }
    let garage = try Place(backend).garage()
    let tokens = ["a", "a", "a", "b"].map(Token.init)
    try garage.park(
      Owner(tokens: Set(tokens), counts: Dictionary(uniqueKeysWithValues: zip(tokens, 0...))))
    let found = try #require(try garage.retrieve(Owner.self, identifier: 1))
    #expect(found.tokens.map(\.text).sorted() == ["a", "a", "a", "b"])
    #expect(found.counts.values.sorted() == [0, 1, 2, 3])
  }

  /// The bytes do not depend on the order of hash values, where canonical bytes of keys are equal, too.
  @Test func bytesDoNotDependOnTheOrderOfInsertion() throws {
    var random = SeededGenerator(seed: 5)
    var stored: Set<[UInt8]> = []
    let pairs: [(Double, Double)] = [
      (.nan, 0), (.nan, -0.0), (Double(nan: 7, signaling: false), 0), (.nan, 1), (1, .nan), (.nan, .nan),
      (-.nan, 1),
    ]
    for _ in 0..<40 {
      let place = try Place(.memory)
      let garage = try place.garage()
      var values: [Double: Double] = [:]
      var members: Set<Double> = []
      for (key, value) in pairs.shuffled(using: &random) {
        values[key] = value
        members.insert(key)
      }
      let key = Key<GlobalNamespace, [[Double: Double]]>(id: "values", defaultValue: [])
      try garage.set(key, value: [values])
      let memberKey = Key<GlobalNamespace, Set<Double>>(id: "members", defaultValue: [])
      try garage.set(memberKey, value: members)
      let contents = try Driver.contents(place.open())
      // Typed keys alone: the store tells when it was made.
      let entries = contents.filter { $0.key.bytes.first == 0x30 }.sorted { $0.key < $1.key }
      #expect(entries.count == 2)
      stored.insert(entries.flatMap { $0.key.bytes + $0.value })
    }
    #expect(stored.count == 1)
  }
}

import Foundation
import GarageStorage
import Testing

/// Identified by an id of any kind.
private struct Box<ID: Codable & Hashable & Sendable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "Box of \(ID.self)" }
  var id: ID
  var text: String
}

private enum Suit: String, Codable, CaseIterable { case clubs, diamonds, hearts, spades }
private struct Serial: RawRepresentable, Codable, Hashable { var rawValue: Int }
private struct Coordinate: Codable, Hashable { var x: Int, y: String }
private struct Version: LosslessStringConvertible, Codable, Hashable {
  var major: Int, minor: Int
  init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }
  init?(_ text: String) {
    let parts = text.split(separator: ".").compactMap { Int($0) }
    guard parts.count == 2 else { return nil }
    self.init(parts[0], parts[1])
  }
  var description: String { "\(major).\(minor)" }
}

@Suite struct IdentityTests {
  /// Objects of every kind of id are found again and come in key order, the natural one where `sorted` has it.
  private func check<ID: Codable & Hashable & Sendable>(
    _ backend: Backend, _ ids: [ID], sorted: [ID]? = nil, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    var generator = SeededGenerator(seed: 11)
    try garage.parkAll(ids.shuffled(using: &generator).map { Box(id: $0, text: "\($0)") })
    for id in ids.prefix(3) { try garage.park(Box(id: id, text: "\(id)")) }
    garage = try place.reopened(garage)
    #expect(try garage.count(Box<ID>.self) == ids.count, sourceLocation: location)
    for id in ids {
      let box = try garage.retrieve(Box<ID>.self, identifier: id)
      #expect(box?.id == id && box?.text == "\(id)", sourceLocation: location)
      #expect(try garage.contains(Box<ID>.self, identifier: id), sourceLocation: location)
      #expect(
        try garage.retrieve(Reference(Box<ID>.self, identifier: id))?.id == id, sourceLocation: location)
    }
    let all = try garage.retrieveAll(Box<ID>.self).map(\.id)
    #expect(Set(all) == Set(ids), sourceLocation: location)
    #expect(try garage.retrieveAll(Box<ID>.self).map(\.id) == all, sourceLocation: location)
    if let sorted { #expect(all == sorted, sourceLocation: location) }
    try garage.delete(Box<ID>.self, identifier: ids[0])
    #expect(try garage.retrieve(Box<ID>.self, identifier: ids[0]) == nil, sourceLocation: location)
  }

  private func integers<T: FixedWidthInteger & Codable & Sendable>(_ backend: Backend, _: T.Type) throws {
    var ids: Set<T> = [T.min, T.max, 0, 1, 2, 100]
    ids.formUnion([T.max / 2, T.min / 2, T.max - 1])
    ids.formUnion([T.min + 1, T.max / 3])
    try check(backend, Array(ids), sorted: ids.sorted())
  }

  @Test(arguments: Backend.allCases)
  func integersOfAnyWidthKeepTheirOrder(_ backend: Backend) throws {
    try integers(backend, Int.self)
    try integers(backend, Int8.self)
    try integers(backend, Int16.self)
    try integers(backend, Int32.self)
    try integers(backend, Int64.self)
    try integers(backend, Int128.self)
    try integers(backend, UInt.self)
    try integers(backend, UInt8.self)
    try integers(backend, UInt16.self)
    try integers(backend, UInt32.self)
    try integers(backend, UInt64.self)
    try integers(backend, UInt128.self)
  }

  @Test(arguments: Backend.allCases)
  func textAndDatesKeepTheirOrder(_ backend: Backend) throws {
    let texts = [
      "", "\0", "\0\0", "\u{1}", "A", "Z", "a", "aa", "ab", "b", "é", "ü", "Ω", "日本", "🚗", "🚗🚗", "a\0b",
    ]
    try check(backend, texts, sorted: texts.sorted())
    let dates = [
      Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0),
      Date(timeIntervalSinceReferenceDate: -0.25), Date(timeIntervalSinceReferenceDate: 0.125),
      Date(timeIntervalSinceReferenceDate: 700_000_000.000_001),
      Date(timeIntervalSinceReferenceDate: 700_000_000),
    ]
    try check(backend, dates, sorted: dates.sorted())
  }

  @Test(arguments: Backend.allCases)
  func otherKindsOfIdentifiersWork(_ backend: Backend) throws {
    try check(backend, (0..<20).map { _ in UUID() })
    try check(backend, Suit.allCases, sorted: Suit.allCases)
    try check(backend, [-3, 0, 5, 1000].map(Serial.init), sorted: [-3, 0, 5, 1000].map(Serial.init))
    try check(backend, [Version(1, 2), Version(1, 10), Version(2, 0)])
    try check(backend, [Coordinate(x: 1, y: "a"), Coordinate(x: -1, y: ""), Coordinate(x: 1, y: "b")])
    try check(backend, [[1, 2], [], [1], [2, 1]])
    try check(backend, [Int?.none, 1, 2] as [Int?])
    try check(backend, [true, false])
    try check(backend, [URL(fileURLWithPath: "/a"), URL(fileURLWithPath: "/b")])
  }

  /// A number in text that goes by its raw value, the other way round.
  private struct Rank: RawRepresentable, LosslessStringConvertible, Codable, Hashable {
    var rawValue: Int
    init(rawValue: Int) { self.rawValue = rawValue }
    init?(_ text: String) { self.init(rawValue: 100 - (Int(text) ?? 0)) }
    var description: String { "\(100 - rawValue)" }
  }
  /// Both text and something Codable: text comes first.
  private struct Grade: LosslessStringConvertible, Codable, Hashable {
    var number: Int
    init(number: Int) { self.number = number }
    init?(_ text: String) { self.init(number: 100 - (Int(text) ?? 0)) }
    var description: String { "\(100 - number)" }
  }

  /// A raw value before text, and text before the bytes of what is Codable.
  @Test(arguments: Backend.allCases)
  func kindsOfIdentifiersHaveAPrecedence(_ backend: Backend) throws {
    let ranks = [3, 10, 50].map(Rank.init(rawValue:))
    try check(backend, ranks, sorted: ranks)
    let grades = [3, 10, 50].map(Grade.init(number:))
    try check(backend, grades, sorted: grades.reversed())
    let garage = try Place(backend).garage()
    #expect(try garage.identifier(for: Box(id: grades[0], text: "")).description == "97")
    #expect(try garage.identifier(for: Box(id: ranks[0], text: "")).description == "3")
  }

  /// Strings that Swift calls equal are one identifier; the record keeps the original.
  @Test(arguments: Backend.allCases)
  func equalStringsAreOneIdentifier(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
    try garage.park(Box(id: composed, text: "first"))
    try garage.park(Box(id: decomposed, text: "second"))
    garage = try place.reopened(garage)
    #expect(try garage.count(Box<String>.self) == 1)
    for id in [composed, decomposed] {
      let box = try #require(try garage.retrieve(Box<String>.self, identifier: id))
      #expect(box.text == "second")
      #expect(Array(box.id.unicodeScalars) == Array(decomposed.unicodeScalars))
    }
    let long = String(repeating: "e\u{301}", count: 5000)
    try garage.park(Box(id: long, text: "long"))
    let same = String(repeating: "\u{E9}", count: 5000)
    #expect(try garage.retrieve(Box<String>.self, identifier: same)?.text == "long")
    try garage.delete(Box<String>.self, identifier: same)
    #expect(try garage.count(Box<String>.self) == 1)
  }

  /// Long identifiers differ behind the cut, and objects refer to each other by them.
  @Test(arguments: Backend.allCases)
  func longIdentifiersAreToldApart(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let lengths = [0, 1, 238, 239, 240, 241, 511, 512, 100_000]
    let people = lengths.flatMap { length in
      ["", "a", "b"].map { Person(String(repeating: "x", count: length) + $0, age: length) }
    }
    let unique = Dictionary(people.map { ($0.id, $0) }) { first, _ in first }
    let all = Array(unique.values)
    for (one, other) in zip(all, all.dropFirst()) { one.brother = other }
    try garage.park(all[0])
    garage = try place.reopened(garage)
    #expect(try garage.count(Person.self) == all.count)
    var next: Person? = try garage.retrieve(Person.self, identifier: all[0].id)
    for person in all {
      #expect(next?.id == person.id && next?.age == person.age)
      next = next?.brother
    }
    #expect(try garage.retrieve(Reference(to: all[1]))?.id == all[1].id)
    #expect(try garage.retrieve(Person.self, identifier: String(repeating: "x", count: 99_999)) == nil)
    // The order is exact up to the cut.
    let ids = try garage.retrieveAll(Person.self).map { String($0.id.prefix(200)) }
    #expect(ids == ids.sorted())
  }

  // MARK: Content

  private struct Bag: Codable, Hashable {
    var name: String
    var words: Set<String>
    var table: [String: Int]
    var measure: Double
  }

  @Test(arguments: Backend.allCases)
  func equalValuesAreOneRecord(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let words = (0..<100).map { "word \($0)" }
    func bag(_ words: some Sequence<String>, _ measure: Double) -> Bag {
      var bag = Bag(name: "bag", words: [], table: [:], measure: measure)
      for word in words {
        bag.words.insert(word)
        bag.table[word] = word.count
      }
      return bag
    }
    try garage.park(bag(words, 0))
    try garage.park(bag(words.reversed(), -0.0))
    #expect(try garage.count(Bag.self) == 1)
    garage = try place.reopened(garage)
    try garage.park(bag(words.shuffled(), 0))
    #expect(try garage.count(Bag.self) == 1)
    try garage.park(bag(words, 1))
    try garage.parkAll([bag(words, .nan), bag(words, -.nan)])
    #expect(try garage.count(Bag.self) == 3)
    let identifier = try garage.identifier(for: bag(words, 1))
    #expect(try garage.retrieve(Bag.self, identifier: identifier) == bag(words, 1))
  }

  /// In a digest a reference is a type tag and an identifier, whatever stands behind it.
  @Test(arguments: Backend.allCases)
  func digestsHoldNamesOfWhatIsReferredTo(_ backend: Backend) throws {
    struct Label: Codable, Hashable { var item: Item, others: [Item] }
    let garage = try Place(backend).garage()
    let id = UUID()
    let (lamp, bulb) = (Item(id: id, name: "lamp"), Item(id: id, name: "bulb"))
    try garage.park(Label(item: lamp, others: [lamp]))
    try garage.park(Label(item: bulb, others: [bulb]))
    #expect(try garage.count(Label.self) == 1)
    #expect(try garage.retrieveAll(Label.self).first?.item == bulb)
    try garage.park(Label(item: Item(id: UUID(), name: "lamp"), others: [lamp]))
    try garage.park(Label(item: lamp, others: []))
    #expect(try garage.count(Label.self) == 3)
  }

  // MARK: What has no identity of its own

  @Test(arguments: Backend.allCases)
  func identifiersOfNoUseAreRefused(_ backend: Backend) throws {
    final class Plain: Codable, Identifiable {}
    struct Holder: Codable, Identifiable {
      var id = 1
      var plains = [Plain()]
    }
    final class Embedded: Codable, Identifiable, Inlined {}
    struct Remedied: Codable, Identifiable {
      var id = 1
      var embedded = [Embedded()]
    }
    let garage = try Place(backend).garage()
    for object in [Plain(), Holder()] as [any Codable] {
      #expect(throws: GarageError.unsupportedIDConformance("Plain")) { try garage.park(any: object) }
    }
    try garage.park(Remedied())
    #expect(try garage.retrieve(Remedied.self, identifier: 1)?.embedded.count == 1)
  }

  /// `let id = UUID()` is never decoded.
  @Test(arguments: Backend.allCases)
  func anIdentityThatIsNotDecodedIsNamed(_ backend: Backend) throws {
    struct Forgetful: Codable, Identifiable {
      let id = UUID()
      var name = "x"
      private enum CodingKeys: CodingKey { case name }
    }
    let place = try Place(backend)
    var garage = try place.garage()
    let object = Forgetful()
    try garage.park(object)
    garage = try place.reopened(garage)
    for verb in [
      { _ = try garage.retrieve(Forgetful.self, identifier: object.id) },
      { _ = try garage.retrieveAll(Forgetful.self) },
    ] as [() throws -> Void] {
      #expect {
        try verb()
      } throws: { error in
        guard case .identityMismatch("Forgetful", object.id.uuidString, let decoded)? = error as? GarageError
        else {
          return false
        }
        return "\(error)".contains(decoded) && "\(error)".contains(object.id.uuidString)
          && "\(error)".contains("var id")
      }
    }
  }

  /// Inside an identifier nothing is a reference.
  @Test(arguments: Backend.allCases)
  func identifiersHoldNoReferences(_ backend: Backend) throws {
    struct Key: Codable, Hashable { var item: Item, number: Int }
    struct Entry: Codable, Identifiable { var id: Key, text: String }
    let garage = try Place(backend).garage()
    let key = Key(item: Item(id: UUID(), name: "part of the key"), number: 3)
    try garage.park(Entry(id: key, text: "entry"))
    #expect(try garage.retrieve(Entry.self, identifier: key)?.text == "entry")
    #expect(try garage.retrieveAll(Entry.self).first?.id == key)
  }

  // MARK: Tags

  private enum One { struct Thing: Codable, Identifiable { var id = 1; var name = "one" } }
  private enum Two { struct Thing: Codable, Identifiable { var id = 1; var name = "two" } }
  private struct Named: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "a shared name" }
    var id: Int, name: String
  }
  private struct Shorter: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "a shared name" }
    var id: Int
  }

  @Test(arguments: Backend.allCases)
  func typesOfOneNameAreToldApartAndSharedTagsShared(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(One.Thing())
    try garage.park(Two.Thing())
    #expect(try garage.retrieveAll(One.Thing.self).map(\.name) == ["one"])
    #expect(try garage.retrieveAll(Two.Thing.self).map(\.name) == ["two"])
    try garage.park(Named(id: 1, name: "long"))
    #expect(try garage.retrieve(Shorter.self, identifier: 1)?.id == 1)
    try garage.park(Shorter(id: 1))
    #expect(try garage.count(Named.self) == 1)
    #expect(throws: DecodingError.self) { try garage.retrieve(Named.self, identifier: 1) }
  }

  /// Two local types that only an address tells apart in the runtime's names: the second is told to have a tag.
  private func makeTwin() -> (any Codable, any Codable) {
    func first() -> any Codable {
      struct Twin: Codable, Identifiable { var id = 1 }
      return Twin()
    }
    func second() -> any Codable {
      struct Twin: Codable, Identifiable { var id = 1, other = 2 }
      return Twin()
    }
    return (first(), second())
  }

  @Test(arguments: Backend.allCases)
  func derivedTagsThatCollideAreRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let twins = makeTwin()
    try garage.park(any: twins.0)
    for _ in 0..<2 {
      #expect { try garage.park(any: twins.1) } throws: { error in
        guard case .invalidTypeTag? = error as? GarageError else { return false }
        return "\(error)".contains("Twin") && "\(error)".contains("typeTag")
      }
    }
    try garage.park(any: twins.0)
  }
}

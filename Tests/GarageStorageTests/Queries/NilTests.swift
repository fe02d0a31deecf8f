import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Whether a property is nil whose values are no scalars.
@Suite struct NilTests {
  struct Address: Codable, Hashable {
    var city: String
    var zip: Int?
  }
  enum Status: Codable, Hashable { case idle, running(progress: Double) }
  struct Mail: Codable, Hashable, RawRepresentable { var rawValue: String }
  /// Tells empty text and none apart by what it decodes to.
  struct Note: Codable, Hashable {
    var text: String?
    init(_ text: String?) { self.text = text }
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      text = container.decodeNil() ? nil : try container.decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      if let text { try container.encode(text) } else { try container.encodeNil() }
    }
  }
  final class Boss: Codable, Identifiable, Hashable, TypeTagged {
    static var typeTag: String { "boss of nil tests" }
    let id: Int
    init(_ id: Int) { self.id = id }
    static func == (left: Boss, right: Boss) -> Bool { left.id == right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  struct Record: Codable, Identifiable, Equatable {
    var id: Int
    var address: Address?
    var status: Status?
    var boss: Boss?
    var list: [Int]?
    var table: [String: Int]?
    var members: Set<Int>?
    var mail: Mail?
    var range: ClosedRange<Int>?
    var note: Note?
    var twice: Address??
    var inner: Inner
    var other: Inner?
    /// Is never nil once it is decoded.
    var usual: Address?
    /// Is what another one is, where it is nil itself.
    var either: Address?

    struct Inner: Codable, Equatable {
      var address: Address?
      var numbers: [Double]?
    }

    enum CodingKeys: String, CodingKey {
      case id, address, status, boss, list, table, members, mail, range, note, twice, inner, usual
      // Each other's names.
      case other = "either"
      case either = "other"
    }

    init(_ id: Int, _ bosses: [Boss], _ random: inout SeededGenerator) {
      func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      let addresses = [Address(city: "", zip: nil), Address(city: "Rome", zip: 1)]
      self.id = id
      address = pick([nil] + addresses)
      status = pick([nil, .idle, .running(progress: 1)])
      boss = pick([nil] + bosses)
      list = pick([nil, [], [1]])
      table = pick([nil, [:], ["a": 1]])
      members = pick([nil, [], [2]])
      mail = pick([nil, Mail(rawValue: "")])
      range = pick([nil, 1...2])
      note = pick([nil, Note("a"), Note("")])
      twice = pick([nil, .some(nil), .some(addresses[0])])
      inner = Inner(address: pick([nil] + addresses), numbers: pick([nil, []]))
      other = pick([nil, Inner(address: pick([nil] + addresses), numbers: nil)])
      usual = addresses[0]
      either = pick([nil] + addresses) ?? address
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func read<T: Decodable>(_ key: CodingKeys) throws -> T? {
        try container.decodeIfPresent(T.self, forKey: key)
      }
      id = try container.decode(Int.self, forKey: .id)
      (address, status, boss) = try (read(.address), read(.status), read(.boss))
      (list, table, members) = try (read(.list), read(.table), read(.members))
      (mail, range, note) = try (read(.mail), read(.range), read(.note))
      twice = try container.decodeIfPresent(Address?.self, forKey: .twice)
      inner = try container.decode(Inner.self, forKey: .inner)
      other = try read(.other)
      usual = try read(.usual) ?? Address(city: "", zip: nil)
      either = try read(.either) ?? address
    }
  }

  @Test(arguments: Backend.allCases)
  func isNil(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 47)
    let garage = try Place(backend).garage()
    let bosses = [Boss(1), Boss(2), Boss(3)]
    try garage.parkAll((0..<200).map { Record($0, bosses, &random) })
    // Who refers to it has none now.
    try garage.delete(bosses[0])
    let records = try garage.retrieveAll(Record.self)
    #expect(records.contains { $0.boss == nil } && records.contains { $0.boss != nil })
    let query = garage.query(Record.self)
    func check<Value: Codable & Equatable>(_ property: KeyPath<Record, Value?>) throws {
      let wanted = records.filter { $0[keyPath: property] == nil }.map(\.id)
      #expect(try query.where(property == nil).retrieveAll().map(\.id) == wanted, "\(property)")
      #expect(try query.where(property != nil).count() == records.count - wanted.count, "\(property)")
      #expect(try query.where(!(property == nil) || \.id < 0).count() == records.count - wanted.count)
    }
    try check(\.address)
    try check(\.status)
    try check(\.boss)
    try check(\.list)
    try check(\.table)
    try check(\.members)
    try check(\.mail)
    try check(\.range)
    try check(\.note)
    try check(\.note?.text)
    try check(\.twice)
    try check(\.inner.address)
    try check(\.inner.numbers)
    try check(\.other)
    try check(\.other?.address)
    try check(\.usual)
    try check(\.either)
    try check(\.address?.zip)
  }

  @Test func isDecidedFromBytes() throws {
    let garage = try Garage(MemoryStorage())
    func decides(_ condition: Condition<Record>) throws -> Bool {
      try !garage.query(Record.self).where(condition).explain().description.contains("decodes")
    }
    #expect(try decides(\.address == nil && \.status == nil && \.list != nil && \.table == nil))
    #expect(try decides(\.members == nil && \.mail == nil && \.range == nil && \.inner.address == nil))
    #expect(try decides(\.other == nil && \.other?.address == nil && \.inner.numbers == nil))
    #expect(try !decides(\.usual == nil))
    #expect(try !decides(\.address == Address(city: "", zip: nil)))
  }

  private struct Older: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "evolving nil" }
    var id: Int
    var place: Address?
  }
  private struct Newer: Codable, Identifiable, TypeTagged, Evolving {
    static var typeTag: String { "evolving nil" }
    static var propertyAliases: [String: [String]] { ["address": ["place"]] }
    var id: Int
    var address: Address?
  }

  @Test(arguments: Backend.allCases)
  func underAnotherName(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<4).map { Older(id: $0, place: $0 % 2 == 0 ? nil : Address(city: "", zip: 1)) })
    try garage.park(Newer(id: 4, address: nil))
    #expect(try garage.retrieveAll(Newer.self).count { $0.address == nil } == 3)
    #expect(try garage.query(Newer.self).where(\.address == nil).count() == 3)
  }

  struct Article: Codable, Identifiable, Equatable {
    struct Meta: Codable, Equatable {
      var marks: Set<String>?
    }
    var id: Int
    var tags: [String]?
    var numbers: Set<Int>?
    var meta: Meta?
  }
  struct IndexedArticle: Codable, Identifiable, Indexed {
    static var indexes: [Index<IndexedArticle>] {
      [Index(each: \.tags, .readable), Index(each: \.numbers, .unique, .readable)]
    }
    var id: Int
    var tags: [String]?
    var numbers: Set<Int>?
  }

  /// What is not there has no elements.
  @Test(arguments: Backend.allCases)
  func elementsOfOptionals(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let articles = (0..<60).map { id in
      Article(
        id: id, tags: id % 3 == 0 ? nil : id % 3 == 1 ? [] : ["a", "b\(id % 4)"],
        numbers: id % 4 == 0 ? nil : [id, id + 1],
        meta: id % 5 == 0 ? nil : Article.Meta(marks: id % 2 == 0 ? nil : ["x\(id % 3)"]))
    }
    try garage.parkAll(articles)
    func check(_ condition: Condition<Article>, _ holds: (Article) -> Bool) throws {
      let query = garage.query(Article.self).where(condition)
      #expect(try query.retrieveAll() == articles.filter(holds), "\(condition)")
      #expect(try !query.explain().description.contains("decodes"), "\(condition)")
    }
    try check(\.tags == .contains("b1")) { $0.tags?.contains("b1") ?? false }
    try check(\.tags != .contains("a")) { !($0.tags?.contains("a") ?? false) }
    try check(\.numbers == .contains(7)) { $0.numbers?.contains(7) ?? false }
    try check(\.meta?.marks == .contains("x1")) { $0.meta?.marks?.contains("x1") ?? false }
    try check(!(\.tags == .contains("a") || \.tags == nil)) { $0.tags.map { !$0.contains("a") } ?? false }

    let indexed = articles.map {
      IndexedArticle(id: $0.id, tags: $0.tags, numbers: $0.numbers.map { [$0.min()!] })
    }
    try garage.parkAll(indexed)
    let query = garage.query(IndexedArticle.self)
    #expect(
      try query.where(\.tags == .contains("b1")).count()
        == articles.count { $0.tags?.contains("b1") ?? false })
    #expect(try query.where(\.tags == .contains("b1")).explain().indexes == ["tags"])
    #expect(try query.where(\.numbers == .contains(7)).identifiers().count == 1)
    #expect(
      try query.where(\.tags != .contains("a")).count()
        == articles.count { !($0.tags?.contains("a") ?? false) })
    #expect(throws: GarageError.self) { try garage.park(IndexedArticle(id: 100, tags: nil, numbers: [7])) }
    try garage.park(IndexedArticle(id: 100, tags: nil, numbers: nil))
    #expect(try query.where(\.tags == nil).count() == 21)
    #expect(try garage.verifyIndexes().isSound)
  }

  struct Crate: Codable, Equatable {
    var count: Int
    var labels: Set<String>
  }
  struct Box: Codable, Equatable {
    var number: Int
    var labels: Crate?
    /// Under a name that does not tell.
    var spare: Crate?
    enum CodingKeys: String, CodingKey { case number, labels, spare = "reserve" }
  }
  /// Has a type twice, one of them in a property that is called as one of that type is.
  struct Van: Codable, Identifiable {
    var id: Int
    var labels: Box?
    var crate: Crate?
    var shelf: Shelf?
    var bag: Bag?
  }
  /// Has to have a value or a nil for its box.
  struct Shelf: Codable, Equatable {
    var box: Box?
    init(_ box: Box?) { self.box = box }
    enum CodingKeys: CodingKey { case box }
    init(from decoder: any Decoder) throws {
      box = try decoder.container(keyedBy: CodingKeys.self).decode(Box?.self, forKey: .box)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(box, forKey: .box)
    }
  }

  /// Stands without keys.
  struct Bag: Codable, Equatable {
    var first: Crate?
    var second: Set<Int>?
    init(_ first: Crate?, _ second: Set<Int>?) { (self.first, self.second) = (first, second) }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      first = try container.decode(Crate?.self)
      second = try container.decode(Set<Int>?.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(first)
      try container.encode(second)
    }
  }

  /// That a value is refused without a field says nothing of other values of its type.
  @Test(arguments: Backend.allCases)
  func aTypeInTwoPlaces(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let vans = (0..<24).map { id in
      let crate = Crate(count: id, labels: id % 2 == 0 ? [] : ["a"])
      return Van(
        id: id,
        labels: id % 4 == 0
          ? nil : Box(number: id, labels: id % 3 == 0 ? nil : crate, spare: id % 3 == 1 ? nil : crate),
        crate: id % 5 == 0 ? nil : crate,
        shelf: id % 7 == 0
          ? nil : Shelf(id % 3 == 0 ? nil : Box(number: 1, labels: id % 2 == 0 ? nil : crate)),
        bag: id % 5 == 1 ? nil : Bag(id % 2 == 0 ? nil : crate, id % 3 == 0 ? nil : [1]))
    }
    try garage.parkAll(vans)
    let query = garage.query(Van.self)
    #expect(try query.where(\.crate?.labels == nil).count() == vans.count { $0.crate == nil })
    #expect(try query.where(\.labels?.labels == nil).count() == vans.count { $0.labels?.labels == nil })
    #expect(
      try query.where(\.labels?.labels?.labels == nil).count() == vans.count { $0.labels?.labels == nil })
    #expect(try query.where(\.labels?.spare == nil).count() == vans.count { $0.labels?.spare == nil })
    #expect(try query.where(\.labels?.spare?.labels == nil).count() == vans.count { $0.labels?.spare == nil })
    #expect(try query.where(\.shelf == nil).count() == vans.count { $0.shelf == nil })
    #expect(try query.where(\.shelf?.box == nil).count() == vans.count { $0.shelf?.box == nil })
    #expect(
      try query.where(\.shelf?.box?.labels == nil).count() == vans.count { $0.shelf?.box?.labels == nil })
    #expect(try query.where(\.bag == nil).count() == vans.count { $0.bag == nil })
    #expect(try query.where(\.bag?.first == nil).count() == vans.count { $0.bag?.first == nil })
    #expect(try query.where(\.bag?.second == nil).count() == vans.count { $0.bag?.second == nil })
    #expect(try query.where(\.labels == nil).count() == 6)
    #expect(try query.where(\.crate == nil).count() == 5)
  }

  final class Leaf: Codable, Identifiable {
    let id: Int
    var parent: Leaf?
    var children: [Leaf]
    var byName: [String: Leaf]
    var note: Note?
    init(_ id: Int, _ parent: Leaf?) { (self.id, self.parent, children, byName) = (id, parent, [], [:]) }
  }

  /// Much of it cannot be made up, because it would be in itself again and again.
  @Test func whatIsInItself() throws {
    let garage = try Garage(MemoryStorage())
    let root = Leaf(0, nil)
    try garage.parkAll([root] + (1..<9).map { Leaf($0, root) })
    let query = garage.query(Leaf.self).where(\.parent == nil)
    #expect(try query.identifiers().count == 1)
    #expect(try !query.explain().description.contains("decodes"))
    #expect(try !garage.query(Leaf.self).where(\.note == nil).explain().description.contains("decodes"))
  }
}

extension NilTests.Leaf: Equatable {
  static func == (left: NilTests.Leaf, right: NilTests.Leaf) -> Bool { left === right }
}

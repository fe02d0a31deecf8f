import GarageStorage
import Testing

/// Indexes of properties that had other keys before: they say what the objects say.
@Suite struct AliasIndexTests {
  /// The key that was the tip's is the label's now.
  private struct Sign: Codable, Identifiable, TypeTagged, Evolving, Indexed {
    static var typeTag: String { "sign of alias indexes" }
    static var version: Int { 1 }
    static var propertyAliases: [String: [String]] { ["tip": ["label"], "label": ["title"]] }
    static var indexes: [Index<Sign>] { [Index(\.tip, .readable), Index(\.label, .readable)] }
    var id: Int
    var label: String?
    var tip: String?
  }

  /// The same, where no two have the same tip.
  private struct Label: Codable, Identifiable, TypeTagged, Evolving, Indexed {
    static var typeTag: String { "label of alias indexes" }
    static var version: Int { 1 }
    static var propertyAliases: [String: [String]] { ["tip": ["label"], "label": ["title"]] }
    static var indexes: [Index<Label>] { [Index(\.tip, .unique, .readable)] }
    var id: Int
    var label: String?
    var tip: String?
  }

  /// A program that takes an older key for the years.
  private enum Before {
    struct Friend: Codable, Identifiable, TypeTagged, Evolving, Indexed {
      static var typeTag: String { "friend of alias indexes" }
      static var propertyAliases: [String: [String]] { ["years": ["age"]] }
      static var indexes: [Index<Friend>] { [Index(\.years, .readable)] }
      var id: Int
      var years: Int?
    }
  }

  /// A later one, which has forgotten the alias, and has another property under that key.
  private enum After {
    struct Friend: Codable, Identifiable, TypeTagged, Indexed {
      static var typeTag: String { "friend of alias indexes" }
      static var indexes: [Index<Friend>] { [Index(\.years, .readable)] }
      var id: Int
      var years: Int?
      var age: Int?
    }
  }

  private enum Titled {
    class Pet: Codable, Identifiable, TypeTagged, Evolving, Indexed {
      typealias IndexedType = Pet
      class var typeTag: String { "pet of alias indexes" }
      class var propertyAliases: [String: [String]] { ["title": ["name"]] }
      class var indexes: [Index<Pet>] { [Index(\.title, .readable)] }
      var id: Int
      var title: String?
      init(id: Int, title: String?) { (self.id, self.title) = (id, title) }
    }
    /// A class without the alias.
    final class Cat: Pet {
      override class var typeTag: String { "cat of alias indexes" }
      override class var propertyAliases: [String: [String]] { [:] }
    }
  }
  private enum Unique {
    class Boat: Codable, Identifiable, TypeTagged, Evolving, Indexed {
      typealias IndexedType = Boat
      class var typeTag: String { "boat of alias indexes" }
      class var propertyAliases: [String: [String]] { ["title": ["name"]] }
      class var indexes: [Index<Boat>] { [Index(\.title, .unique, .readable)] }
      var id: Int
      var title: String?
      init(id: Int, title: String?) { (self.id, self.title) = (id, title) }
      fileprivate enum NameKey: CodingKey { case name }
    }
    /// It has another property under the older key.
    final class Raft: Boat {
      override class var typeTag: String { "raft of alias indexes" }
      override class var propertyAliases: [String: [String]] { [:] }
      let name: String?
      init(id: Int, title: String?, name: String?) {
        self.name = name
        super.init(id: id, title: title)
      }
      required init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: NameKey.self).decodeIfPresent(String.self, forKey: .name)
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        try container.encodeIfPresent(name, forKey: .name)
        try super.encode(to: encoder)
      }
    }
    /// It writes the value as older programs did.
    final class Canoe: Boat {
      override class var typeTag: String { "canoe of alias indexes" }
      let name: String?
      init(id: Int, title: String?, name: String?) {
        self.name = name
        super.init(id: id, title: title)
      }
      required init(from decoder: any Decoder) throws {
        name = nil
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        try container.encodeIfPresent(name, forKey: .name)
        try super.encode(to: encoder)
      }
    }
  }
  private enum Named {
    class Pet: Codable, Identifiable, TypeTagged {
      class var typeTag: String { "pet of alias indexes" }
      var id: Int
      var name: String
      init(id: Int, name: String) { (self.id, self.name) = (id, name) }
    }
    final class Cat: Pet {
      override class var typeTag: String { "cat of alias indexes" }
    }
  }

  @Test(arguments: Backend.engines)
  func aClassHasItsOwnAliases(_ backend: Backend) throws {
    let place = try Place(backend)
    let old = try place.garage([Named.Cat.self])
    try old.parkAll([Named.Pet(id: 1, name: "Tom"), Named.Cat(id: 2, name: "Tom")])
    let garage = try place.garage([Titled.Pet.self, Titled.Cat.self])
    try garage.parkAll([Titled.Pet(id: 3, title: "Tom"), Titled.Cat(id: 4, title: "Tom")])
    try garage.buildIndexes()
    let query = garage.query(Titled.Pet.self)
    #expect(try query.retrieveAll().map(\.title) == ["Tom", nil, "Tom", "Tom"])
    #expect(try query.where(\.title == "Tom").retrieveAll().map(\.id) == [1, 3, 4])
    #expect(try query.where(\.title == nil).retrieveAll().map(\.id) == [2])
    #expect(try query.sorted(by: \.title).limit(2).retrieveAll().map(\.id) == [2, 1])
    #expect(try garage.query(Titled.Cat.self).where(\.title == "Tom").retrieveAll().map(\.id) == [4])
  }

  /// Of a class without the alias, what stands under the older key is another property's.
  @Test(arguments: Backend.engines)
  func aClassIsNotComparedByOthersAliases(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Unique.Boat.self, Unique.Raft.self, Unique.Canoe.self])
    try garage.park(Unique.Raft(id: 1, title: nil, name: "Tom"))
    try garage.park(Unique.Raft(id: 2, title: nil, name: "Tom"))
    try garage.park(Unique.Boat(id: 3, title: "Tom"))
    #expect(try garage.count(Unique.Boat.self) == 3)
    // However many stand before one that has the value.
    let rafts = (10..<20).map { Unique.Raft(id: $0, title: nil, name: "Tum") }
    try garage.parkAll(rafts)
    try garage.park(Unique.Boat(id: 20, title: "Tum"))
    #expect(throws: GarageError.self) { try garage.park(Unique.Boat(id: 21, title: "Tum")) }
    try garage.delete(Unique.Boat.self, identifier: 20)
    for raft in rafts { try garage.delete(raft) }
    // Under its own key it is compared, and with all.
    #expect(throws: GarageError.self) { try garage.park(Unique.Raft(id: 4, title: "Tom", name: nil)) }
    try garage.park(Unique.Raft(id: 4, title: "Tim", name: nil))
    #expect(throws: GarageError.self) { try garage.park(Unique.Boat(id: 5, title: "Tim")) }
    // A class that inherits the alias has the value under either key.
    #expect(throws: GarageError.self) { try garage.park(Unique.Canoe(id: 6, title: nil, name: "Tim")) }
    try garage.park(Unique.Canoe(id: 6, title: nil, name: "Tam"))
    #expect(throws: GarageError.self) { try garage.park(Unique.Boat(id: 7, title: "Tam")) }
    #expect(try garage.retrieveAll(Unique.Boat.self).map(\.title) == [nil, nil, "Tom", "Tim", "Tam"])
    #expect(try garage.query(Unique.Boat.self).where(\.title == "Tom").retrieveAll().map(\.id) == [3])
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test(arguments: Backend.engines)
  func aKeyThatIsUsedAgainIsNoOlderKey(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([
      Sign(id: 1, label: "L"), Sign(id: 2, label: "M", tip: "L"), Sign(id: 3), Sign(id: 4, tip: "T"),
    ])
    try garage.buildIndexes()
    let query = garage.query(Sign.self)
    #expect(try query.where(\.tip == "L").values(\.id) == [2])
    #expect(try query.where(\.tip == "L").count() == 1)
    #expect(try query.where(\.tip == nil).values(\.id) == [1, 3])
    #expect(try query.where(\.tip >= "A").values(\.id) == [2, 4])
    #expect(try query.where(\.label == "L").values(\.id) == [1])
    #expect(try query.countByValue(\.tip) == [nil: 2, "L": 1, "T": 1])
    #expect(try query.sorted(by: \.tip, .descending).limit(2).retrieveAll().map(\.id) == [4, 2])
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test(arguments: Backend.engines)
  func aKeyThatIsUsedAgainIsNotCompared(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Label(id: 1, label: "L"), Label(id: 2, label: "L"), Label(id: 3, tip: "L")])
    #expect(try garage.count(Label.self) == 3)
    #expect(throws: GarageError.self) { try garage.park(Label(id: 4, tip: "L")) }
    #expect(try garage.count(Label.self) == 3)
  }

  /// The store has the index of the earlier program, which the later one declares without older keys.
  @Test(arguments: Backend.engines)
  func aForgottenAliasIsNotFollowed(_ backend: Backend) throws {
    let place = try Place(backend)
    let before = try place.garage()
    try before.park(Before.Friend(id: 0, years: 1))
    try before.buildIndexes()
    let garage = try place.garage()
    try garage.parkAll([
      After.Friend(id: 1, age: 5), After.Friend(id: 2, years: 5), After.Friend(id: 3, years: 7),
    ])
    for round in 0..<2 {
      let query = garage.query(After.Friend.self)
      #expect(try query.where(\.years == 5).values(\.id) == [2], "\(round)")
      #expect(try query.where(\.years == 5).count() == 1, "\(round)")
      #expect(try query.where(\.years > 3).values(\.id) == [2, 3], "\(round)")
      #expect(try query.sum(\.years) == 13, "\(round)")
      #expect(try query.countByValue(\.years) == [nil: 1, 1: 1, 5: 1, 7: 1], "\(round)")
      #expect(try query.sorted(by: \.years).limit(2).retrieveAll().map(\.id) == [1, 0], "\(round)")
      try garage.buildIndexes()
    }
    // It has an index of its own, and the earlier program goes on with the other one.
    #expect(try garage.query(After.Friend.self).where(\.years == 5).explain().indexes == ["years"])
    let earlier = before.query(Before.Friend.self).where(\.years == 5)
    #expect(try earlier.values(\.id) == [1, 2])
    #expect(try earlier.explain().indexes == ["years"])
    #expect(try garage.verifyIndexes().isSound)
  }
}

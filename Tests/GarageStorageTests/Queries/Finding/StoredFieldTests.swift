import Foundation
import GarageStorage
import Testing

/// Which properties are decided from the bytes of records, and that those are right which cannot be.
@Suite struct StoredFieldTests {
  /// Reads what it stores in another form, gives defaults to what is missing, and computes.
  struct Odd: Codable, Identifiable {
    var id: Int
    var shout: String
    var level: Int
    var nickname: String?
    var double: Int { level * 2 }

    enum CodingKeys: String, CodingKey { case id, shout, level, nickname }

    init(id: Int, shout: String, level: Int, nickname: String?) {
      (self.id, self.shout, self.level, self.nickname) = (id, shout, level, nickname)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      shout = try container.decode(String.self, forKey: .shout).uppercased()
      level = try container.decodeIfPresent(Int.self, forKey: .level) ?? 9
      nickname = try container.decodeIfPresent(String.self, forKey: .nickname) ?? "none"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(shout, forKey: .shout)
      if level != 9 { try container.encode(level, forKey: .level) }
      try container.encodeIfPresent(nickname, forKey: .nickname)
    }
  }

  @Test(arguments: Backend.allCases)
  func whatIsReadInAnotherFormIsAskedOfObjects(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([
      Odd(id: 1, shout: "hey", level: 1, nickname: nil), Odd(id: 2, shout: "HO", level: 9, nickname: "b"),
    ])
    let query = garage.query(Odd.self)
    #expect(try query.where(\.shout == "HEY").values(\.id) == [1])
    #expect(try query.where(\.shout == "hey").isEmpty())
    #expect(try query.where(\.level == 9).values(\.id) == [2])
    #expect(try query.where(\.double > 4).values(\.level) == [9])
    #expect(try query.where(\.nickname == nil).isEmpty())
    #expect(try query.where(\.nickname == "none").values(\.id) == [1])
    #expect(try query.sorted(by: \.shout).values(\.shout) == ["HEY", "HO"])
    #expect(
      try query.where(\.shout == "HEY").explain().description.contains("decodes objects to decide: \\.shout"))
  }

  class Animal: Codable, Identifiable {
    var id: Int
    var name: String
    init(id: Int, name: String) { (self.id, self.name) = (id, name) }
  }

  final class Dog: Animal {
    var tricks: Int
    init(id: Int, name: String, tricks: Int) {
      self.tricks = tricks
      super.init(id: id, name: name)
    }
    enum CodingKeys: String, CodingKey { case tricks }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      tricks = try container.decode(Int.self, forKey: .tricks)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(tricks, forKey: .tricks)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test(arguments: Backend.allCases)
  func classesAndTheirSubclasses(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Dog.self])
    try garage.parkAll(any: [
      Animal(id: 1, name: "Tom"), Dog(id: 2, name: "Rex", tricks: 3), Dog(id: 3, name: "Tom", tricks: 0),
    ])
    #expect(try garage.query(Animal.self).where(\.name == "Tom").values(\.id) == [1, 3])
    #expect(try garage.query(Animal.self).where(\.name == "Rex").first() is Dog)
    #expect(try garage.query(Dog.self).where(\.name == "Tom").values(\.id) == [3])
    #expect(try garage.query(Dog.self).where(\.tricks > 1).values(\.name) == ["Rex"])
    #expect(try garage.query(Dog.self).count() == 2)
    #expect(try garage.query(Dog.self).sorted(by: \.name).values(\.name) == ["Rex", "Tom"])
    #expect(
      !(try garage.query(Dog.self).where(\.tricks > 1 && \.name == "a").explain()).description.contains(
        "decodes"))
  }

  struct Folder: Codable, Identifiable {
    var id: Int
    var owner: Counter
    var parent: Reference<Folder>?
    @Linked var other: Counter?
  }

  @Test(arguments: Backend.allCases)
  func whatIsBehindAReferenceIsAskedOfObjects(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let folder = Reference(Folder.self, identifier: 1)
    try garage.parkAll([
      Folder(id: 1, owner: Counter(id: 4), parent: nil), Folder(id: 2, owner: Counter(id: 5), parent: folder),
    ])
    #expect(try garage.query(Folder.self).where(\.owner.id == 5).values(\.id) == [2])
    #expect(try garage.query(Folder.self).where(\.parent == folder).values(\.id) == [2])
    #expect(try garage.query(Folder.self).where(\.parent == nil).values(\.id) == [1])
    #expect(try garage.query(Folder.self).where(\.other?.id == nil).count() == 2)
  }

  struct Account: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Account>] { [Index(\.balance)] }
    var id: Int
    var name: String
    var balance: Int128
    var limit: UInt128?
    var shares: [Int128]
  }

  /// Containers that know nothing of the widest integers say that these are not supported.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func widestIntegers(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let accounts = (0..<30).map { id in
      Account(
        id: id, name: "name \(id % 3)", balance: (Int128(id) - 15) << 100,
        limit: id % 2 == 0 ? nil : UInt128.max - UInt128(id), shares: [Int128(id % 4), Int128.max])
    }
    try garage.parkAll(accounts)
    func check(_ condition: Condition<Account>, _ holds: (Account) -> Bool) throws {
      let query = garage.query(Account.self).where(condition)
      #expect(try query.retrieveAll() == accounts.filter(holds), "\(condition)")
      #expect(try !query.explain().description.contains("decodes"), "\(condition)")
    }
    try check(\.name == "name 2") { $0.name == "name 2" }
    try check(\.balance > 0) { $0.balance > 0 }
    try check(\.balance == Int128(-3) << 100) { $0.balance == Int128(-3) << 100 }
    try check(\.limit == nil) { $0.limit == nil }
    try check(\.limit == UInt128.max - 7) { $0.limit == UInt128.max - 7 }
    try check(\.shares == .contains(3)) { $0.shares.contains(3) }
    let sorted = garage.query(Account.self).sorted(by: \.balance, .descending)
    #expect(try sorted.retrieveAll() == accounts.reversed())
    #expect(try garage.query(Account.self).values(\.balance) == accounts.map(\.balance))
    #expect(try garage.query(Account.self).where(\.balance > 0).explain().indexes == ["balance"])
  }
}

import Foundation
import GarageConformance
import GarageDriver
import GarageMemory
import Testing

@testable import GarageStorage

/// What is hard about indexes, a test for each of the twelve parts that their design names.
@Suite struct HardPartTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  private func expectSound(_ garage: Garage, _ hint: Comment = "") throws {
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report) \(hint)")
  }

  /// 1. A library that knows nothing of indexes would not maintain them.
  @Test(arguments: open)
  func olderLibrariesAreKeptOut(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(Fellow(id: 1))
    let bytes = try #require(try Driver.contents(place.open())[StoreMetadata.key])
    // They compare these two bytes with the newest format that they know, which is 1.
    #expect(bytes[6..<8] == [0, 2])
    // Once raised it stays: entries may be left where a drop was interrupted.
    for index in try garage.indexes(of: Fellow.self) { try garage.dropIndex(index.name, of: Fellow.self) }
    #expect(try Driver.contents(place.open())[StoreMetadata.key] == bytes)
  }

  private struct Verbose: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Verbose>] { [Index(\.name, \.nickname)] }
    var id: Int
    var name: String
    var nickname: String?
  }

  /// Long values that begin alike are cut to the same bytes: a condition on what follows them reads one place, once.
  @Test(arguments: open)
  func longValuesThatBeginAlike(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let long = String(repeating: "x", count: 500)
    let names = [long + "1", long + "2", "short", "short" + long]
    let all = (0..<60).map {
      Verbose(id: $0, name: names[$0 % 4], nickname: $0 % 3 == 0 ? nil : $0 % 3 == 1 ? "A" : "B\($0 % 5)")
    }
    try garage.parkAll(all)
    for values in [[0, 1], [1, 0, 2], [0, 3], [0, 1, 2, 3]] {
      let wanted = values.map { names[$0] }
      func check(_ condition: Condition<Verbose>, _ holds: (Verbose) -> Bool) throws {
        let expected = all.filter { wanted.contains($0.name) && holds($0) }
        let query = garage.query(Verbose.self).where(\.name == .oneOf(wanted) && condition)
        #expect(try query.count() == expected.count, "\(values), \(condition)")
        #expect(try query.retrieveAll() == expected, "\(values), \(condition)")
        #expect(try query.values(\.id) == expected.map(\.id), "\(values), \(condition)")
        #expect(try query.sorted(by: \.nickname).retrieveAll().count == expected.count)
        #expect(try query.explain().indexes == ["name, nickname"])
      }
      try check(!(\.nickname <= "A")) { !($0.nickname.map { $0 <= "A" } ?? false) }
      try check(\.nickname > "A") { $0.nickname.map { $0 > "A" } ?? false }
      try check(\.nickname == .oneOf(["A", "B2"])) { ["A", "B2"].contains($0.nickname) }
    }
    let sorted = garage.query(Verbose.self).where(\.name == names[0]).sorted(by: \.nickname)
    let expected = all.filter { $0.name == names[0] }
    #expect(
      try sorted.where(!(\.nickname == "A")).retrieveAll().count == expected.count { $0.nickname != "A" })
    #expect(try sorted.limit(3).retrieveAll().map(\.nickname) == [nil, nil, nil])
  }

  /// 2. What was unsaved meets what another process committed meanwhile.
  @Test(arguments: open)
  func savingMakesEntriesAnew(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.parkAll((0..<10).map { Fellow(id: $0, age: 20) })
    a.isAutosaveEnabled = false
    try a.park(Fellow(id: 1, age: 30))
    try a.park(Fellow(id: 2, age: 20, tags: ["a"]))
    try a.delete(Fellow.self, identifier: 3)
    try b.parkAll((1...4).map { Fellow(id: $0, age: 40, tags: ["b"]) })
    #expect(try a.query(Fellow.self).where(\.age == 30).values(\.id) == [1])
    #expect(try a.query(Fellow.self).where(\.age == 20).values(\.id) == [0, 2, 5, 6, 7, 8, 9])
    #expect(try a.query(Fellow.self).where(\.age == 40).count() == 1)
    try a.save()
    try expectSound(a)
    #expect(try b.query(Fellow.self).where(\.age == 40).values(\.id) == [4])
    #expect(try b.query(Fellow.self).where(\.age == 20).count() == 7)
    #expect(try b.query(Fellow.self).where(\.tags == .contains("b")).values(\.id) == [4])
  }

  /// 2, and the index itself came up meanwhile.
  @Test(arguments: open)
  func anIndexMadeBehindUnsavedChanges(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.parkAll((0..<10).map { Counter(id: $0, value: $0) })
    a.isAutosaveEnabled = false
    try a.park(Counter(id: 1, value: 100))
    try b.make([Index(\Counter.value)])
    #expect(try a.query(Counter.self).where(\.value == 100).values(\.id) == [1])
    #expect(try a.query(Counter.self).where(\.value == 1).isEmpty())
    try a.park(Counter(id: 2, value: 100))
    #expect(try a.query(Counter.self).where(\.value == 100).values(\.id) == [1, 2])
    try a.save()
    #expect(try b.query(Counter.self).where(\.value == 100).values(\.id) == [1, 2])
    #expect(try b.query(Counter.self).where(\.value == 100).explain().indexes == ["value"])
    try expectSound(b)
  }

  /// 3. Values swap within a batch; the error names index, value and object.
  @Test(arguments: open)
  func uniqueValuesAreCheckedAtTheEndOfABatch(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Fellow(id: 1, email: "a"), Fellow(id: 2, email: "b")])
    try garage.parkAll([Fellow(id: 1, email: "b"), Fellow(id: 2, email: "a")])
    #expect(throws: GarageError.notUnique(index: "email", value: "\"b\"", existing: "1")) {
      try garage.park(Fellow(id: 3, email: "b"))
    }
    try expectSound(garage)
  }

  /// 4. In a sealed store nothing of a value stands in a key, unless the index says that it may.
  @Test func sealedStoresShowNoValues() throws {
    let place = try Place(.sealedSQLite)
    let garage = try place.garage()
    let text = "the secret"
    try garage.make([Index(\Note.text, .hashed)])
    try garage.park(Note(id: 1, text: text))
    #expect(try garage.query(Note.self).where(\.text == text).explain().indexes == ["text"])
    #expect(try garage.query(Note.self).where(\.text == text).count() == 1)
    func showsValue() throws -> Bool {
      try Driver.contents(place.openBase()).keys.contains { key in
        String(decoding: key.bytes, as: UTF8.self).contains("secret")
      }
    }
    #expect(try !showsValue())
    #expect(throws: GarageError.self) { try garage.make([Index(\Note.text)]) }
    let other = try place.reopened(garage)
    try other.make([Index(\Note.text, .readable)])
    #expect(try showsValue())
    try expectSound(other)
  }

  /// 5. Older records: under a former tag, with a key of before, of an older version.
  @Test(arguments: open)
  func indexesFollowEvolution(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<5).map { OldPerson(id: $0, surname: "n\($0)") })
    try garage.parkAll((3..<8).map { MiddlePerson(id: $0, surname: "m\($0)") })
    try garage.make([Index(\NewPerson.name, .unique)])
    try garage.park(NewPerson(id: 9, name: "z"))
    let query = garage.query(NewPerson.self)
    #expect(try query.where(\.name == "m4").values(\.id) == [4])
    #expect(try query.where(\.name == "m4").explain().indexes == ["name"])
    #expect(try query.where(\.name == "n1").values(\.id) == [1])
    #expect(try query.where(\.name == "n4").isEmpty())
    #expect(try query.where(\.name >= "m").values(\.id) == [0, 1, 2, 3, 4, 5, 6, 7, 9])
    #expect(throws: GarageError.notUnique(index: "name", value: "\"m6\"", existing: "6")) {
      try garage.park(NewPerson(id: 10, name: "m6"))
    }
    try expectSound(garage)
    try garage.migrateAll(NewPerson.self)
    try expectSound(garage)
    #expect(try query.sorted(by: \.name, .descending).limit(2).values(\.id) == [9, 2])
    try garage.migrateAll(from: NewPerson.self, to: RenamedFellow.self)
    try expectSound(garage)
    #expect(try query.where(\.name == "m4").isEmpty())
  }

  /// 5. Of a version before, nothing is known without decoding.
  @Test(arguments: open)
  func recordsOfAnOlderVersionAreDecoded(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<5).map { Metres(id: $0, height: Double($0)) })
    try garage.make([Index(\Centimetres.height)])
    try garage.park(Centimetres(id: 9, height: 300))
    let query = garage.query(Centimetres.self).where(\.height == 300)
    #expect(try query.values(\.id) == [3, 9])
    #expect(try query.explain().indexes == ["height"])
    #expect(try query.count() == 2)
    try garage.migrateAll(Centimetres.self)
    #expect(try query.values(\.id) == [3, 9])
    try expectSound(garage)
  }

  /// 6. One index for a class and its subclasses, which are told apart without their records.
  @Test(arguments: open)
  func hierarchiesShareAnIndex(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Cow.self, Hen.self])
    try garage.make([Index(\Critter.name)])
    try garage.make([Index(\Hen.eggs)])
    try garage.park(any: Critter(1, "a"))
    try garage.parkAll(any: [Cow(2, "a"), Cow(3, "b"), Hen(4, "a", 7), Hen(5, "c", 3)])
    #expect(try garage.query(Critter.self).where(\.name == "a").retrieveAll().map(\.id) == [1, 2, 4])
    #expect(try garage.query(Cow.self).where(\.name == "a").retrieveAll().map(\.id) == [2])
    #expect(try garage.query(Hen.self).where(\.name == "a").count() == 1)
    #expect(try garage.query(Hen.self).where(\.name == "a").explain().indexes == ["name"])
    #expect(try garage.query(Hen.self).where(\.eggs > 5).values(\.id) == [4])
    #expect(try garage.query(Critter.self).sorted(by: \.name, .descending).limit(2).values(\.id) == [5, 3])
    try expectSound(garage)
  }

  /// 7. A path ends at a reference; it is found by what it leads to.
  @Test(arguments: open)
  func referencesAreFoundByTheirTarget(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.make([Index(\Pet.owner)])
    try garage.parkAll((0..<20).map { Pet(id: $0, owner: Reference(Counter.self, identifier: $0 % 3)) })
    let query = garage.query(Pet.self).where(\.owner == Reference(Counter.self, identifier: 1))
    #expect(try query.values(\.id) == [1, 4, 7, 10, 13, 16, 19])
    #expect(try query.explain().indexes == ["owner"])
    try expectSound(garage)
  }

  /// 8. A filling that is interrupted goes on where it was, in whatever garage; writers have their turn meanwhile.
  @Test(arguments: open)
  func aFillingIsInterruptedAndGoesOn(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<3000).map { Counter(id: $0, value: $0 % 7) })
    struct Enough: Error {}
    try garage.indexing.declare([Index(\Counter.value)])
    var stepCount = 0
    #expect(throws: Enough.self) {
      try garage.buildIndexes { _ in
        stepCount += 1
        throw Enough()
      }
    }
    let other = try place.garage()
    try other.parkAll((0..<3000).filter { $0 % 5 == 0 }.map { Counter(id: $0, value: 100) })
    try other.delete(Counter.self, identifier: 2998)
    #expect(try other.query(Counter.self).where(\.value == 100).count() == 600)
    try other.buildIndexes { #expect($0.objectCount <= 3000) }
    #expect(try other.indexes(of: Counter.self).map(\.entries) == [2999])
    try expectSound(other)
    #expect(stepCount == 1)
  }

  /// Who fills is refused where others change what he reads: he reads less each time, until there is time for it.
  @Test(arguments: Backend.faulty)
  func aFillingThatIsRefusedTakesLessAtATime(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<3000).map { Counter(id: $0, value: $0 % 7) })
    try garage.indexing.declare([Index(\Counter.value)])
    // Behind the commit that says what is to be filled.
    let count = place.plan.count(of: .commit)
    for refusal in 1...5 { place.plan.fail(.commit, after: count + refusal, with: .conflict) }
    var first: Int?
    try garage.buildIndexes { step in if first == nil { first = step.objectCount } }
    // Of 100 000 that a block has at most a quarter remains each time, up to 32.
    #expect(try #require(first) <= 128)
    #expect(place.plan.count(of: .commit) > count + 5)
    #expect(try garage.indexes(of: Counter.self).map(\.entries) == [3000])
    try expectSound(garage)
  }

  /// 9. A query in a write sees its changes, and what it visits may change them.
  @Test(arguments: open)
  func queriesInAWriteSeeItsChanges(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<30).map { Fellow(id: $0, age: $0 % 3) })
    try garage.write { writer in
      var seen: [Int] = []
      try writer.query(Fellow.self).where(\.age == 1).forEach { member in
        seen.append(member.id)
        try writer.park(Fellow(id: member.id + 1000, age: 1))
        try writer.park(Fellow(id: member.id, age: 2))
      }
      #expect(seen == Array(stride(from: 1, to: 30, by: 3)))
      #expect(try writer.query(Fellow.self).where(\.age == 1).count() == 10)
      #expect(try garage.query(Fellow.self).where(\.age == 1).values(\.id) == seen)
    }
    try expectSound(garage)
  }

  /// 10. An object with several entries is found once.
  @Test(arguments: open)
  func noObjectIsFoundTwice(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<20).map { Fellow(id: $0, tags: ["a", "b", "a", "\($0)"]) })
    let query = garage.query(Fellow.self)
      .where(\.tags == .contains("a") || \.tags == .contains("b") || \.age == 0)
    #expect(try query.count() == 20)
    #expect(try query.values(\.id) == Array(0..<20))
    #expect(try Set(query.explain().indexes) == ["tags", "age"])
    #expect(try garage.indexes(of: Fellow.self).first { $0.name == "tags" }?.entries == 60)
    try expectSound(garage)
  }

  /// 11. Entries are compared with records, and records with entries (more in `IndexTests`).
  @Test(arguments: open)
  func verifyingComparesBothWays(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(Fellow(id: 1, age: 5))
    let driver = try place.open()
    let record = try #require(try Driver.contents(driver, KeyLayout.allRecords).first)
    try driver.write { transaction in
      try transaction.remove(record.key)
      return .commit(())
    }
    let report = try garage.verifyIndexes()
    #expect(!report.isSound && report.faults.allSatisfy { $0.contains("no record has") })
    // A query meets no object there.
    #expect(try garage.query(Fellow.self).where(\.age == 5).retrieveAll().isEmpty)
  }

  /// 12. Who declares nothing, or something else, maintains what is there.
  @Test(arguments: open)
  func whoDeclaresNothingMaintainsThemAllTheSame(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.make([Index(\Counter.value)])
    try garage.parkAll((0..<10).map { Counter(id: $0, value: $0) })
    garage = try place.reopened(garage)
    try garage.park(Counter(id: 3, value: 100))
    try garage.make([Index("twice", \Counter.id, \Counter.value)])
    #expect(try garage.indexes(of: Counter.self).map(\.name) == ["twice", "value"])
    #expect(try garage.query(Counter.self).where(\.value == 100).explain().indexes == ["value"])
    try expectSound(garage)
    try garage.dropIndex("value", of: Counter.self)
    #expect(try garage.indexes(of: Counter.self).map(\.name) == ["twice"])
    try expectSound(garage)
  }
}

// MARK: - Models

private struct Note: Codable, Identifiable {
  var id: Int
  var text: String
}

private struct Pet: Codable, Identifiable {
  var id: Int
  var owner: Reference<Counter>?
}

private struct OldPerson: Codable, Identifiable, TypeTagged {
  var id: Int
  var surname: String
  static var typeTag: String { "index old person" }
}

private struct MiddlePerson: Codable, Identifiable, TypeTagged {
  var id: Int
  var surname: String
  static var typeTag: String { "index person" }
}

private struct NewPerson: Codable, Identifiable, TypeTagged, Evolving {
  var id: Int
  var name: String
  static var typeTag: String { "index person" }
  static var formerTypeTags: [String] { ["index old person"] }
  static var propertyAliases: [String: [String]] { ["name": ["surname"]] }
}

private struct RenamedFellow: Codable, Identifiable {
  var id: Int
  var name: String
}

private struct Metres: Codable, Identifiable, TypeTagged {
  var id: Int
  var height: Double
  static var typeTag: String { "index height" }
}

private struct Centimetres: Codable, Identifiable, TypeTagged, Evolving {
  var id: Int
  var height: Double
  static var typeTag: String { "index height" }
  static let version = 1
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if version < 1, let metres = record["height"]?.doubleValue { record["height"] = .double(metres * 100) }
  }
}

class Critter: Codable, Identifiable {
  var id: Int
  var name: String
  init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }
}
final class Cow: Critter {}
final class Hen: Critter {
  var eggs: Int
  init(_ id: Int, _ name: String, _ eggs: Int) {
    self.eggs = eggs
    super.init(id, name)
  }
  enum CodingKeys: String, CodingKey { case eggs }
  required init(from decoder: any Decoder) throws {
    eggs = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .eggs)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(eggs, forKey: .eggs)
  }
}

import Foundation
import GarageConformance
import GarageDriver
import Testing

@testable import GarageStorage

/// Unique indexes that are declared when objects have the same value already: they keep no other index from being made, and
/// hold as soon as these objects differ.
@Suite struct CollidingIndexTests {
  /// A store of patrons of the release before, which knows of no index.
  private func place(_ backend: Backend, mails: [String]) throws -> Place {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll(mails.enumerated().map { FormerPatron(id: $0.offset, mail: $0.element, age: 0) })
    try garage.close()
    return place
  }

  private func expectTaken(_ mail: String, by id: Int, _ body: () throws -> Void) {
    #expect(throws: GarageError.notUnique(index: "mail", value: "\"\(mail)\"", existing: "\(id)")) {
      try body()
    }
  }

  private func state<T: Codable>(_ name: String, of type: T.Type, _ garage: Garage) throws -> IndexInfo.State?
  {
    try garage.indexes(of: type).first { $0.name == name }?.state
  }

  private func expectReady(_ garage: Garage) throws {
    #expect(try state("mail", of: Patron.self, garage) == .ready)
    #expect(try garage.verifyIndexes().isSound)
  }

  // MARK: - Others are made

  /// Objects of three types. Of the first, two have the same mail.
  private func placeOfThree(_ backend: Backend) throws -> Place {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<60).map { FormerPatron(id: $0, mail: "\($0 % 59)", age: $0 % 7, badge: $0) })
    try garage.parkAll((0..<40).map { FormerSatchel(id: $0, label: "\($0)", weight: $0 % 5) })
    try garage.parkAll((0..<40).map { FormerKiosk(id: $0, x: $0 % 3) })
    try garage.close()
    return place
  }

  private func expectOthersReady(_ garage: Garage) throws {
    #expect(try garage.indexes(of: Patron.self).map(\.name) == ["age", "badge", "mail"])
    #expect(try garage.indexes(of: Patron.self).map(\.state) == [.ready, .ready, .building])
    #expect(try garage.indexes(of: Satchel.self).map(\.state) == [.ready, .ready])
    #expect(try garage.indexes(of: Kiosk.self).map(\.state) == [.ready])
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test(arguments: Backend.allCases)
  func askingMakesAllOthers(_ backend: Backend) throws {
    let place = try placeOfThree(backend)
    let garage = try place.garage()
    let patrons = garage.query(Patron.self)
    #expect(try patrons.where(\.age == 3).explain().indexes == ["age"])
    #expect(try patrons.where(\.age == 3).values(\.id) == (0..<60).filter { $0 % 7 == 3 })
    #expect(try patrons.where(\.badge == 5).explain().indexes == ["badge"])
    #expect(try patrons.where(\.mail == "0").explain().indexes.isEmpty)
    #expect(try patrons.where(\.mail == "0").values(\.id) == [0, 59])
    // Types that declare theirs later.
    #expect(try garage.query(Satchel.self).where(\.weight == 1).explain().indexes == ["weight"])
    #expect(try garage.query(Satchel.self).where(\.label == "7").explain().indexes == ["label"])
    #expect(try garage.query(Kiosk.self).where(\.x == 1).explain().indexes == ["x"])
    try expectOthersReady(garage)
  }

  @Test(arguments: Backend.allCases)
  func buildingMakesAllOthersAndThrows(_ backend: Backend) throws {
    let place = try placeOfThree(backend)
    let garage = try place.garage([Patron.self, Satchel.self, Kiosk.self])
    var made: Set<String> = []
    expectTaken("0", by: 0) {
      try garage.buildIndexes { if $0.isComplete { made.formUnion($0.indexes) } }
    }
    #expect(made == ["age", "badge", "label", "weight", "x"])
    try expectOthersReady(garage)
    // As often as it is called.
    expectTaken("0", by: 0) { try garage.buildIndexes() }
    try garage.delete(Patron.self, identifier: 59)
    try garage.buildIndexes()
    try expectReady(garage)
  }

  /// Each that cannot be made is left alone, wherever it stands.
  @Test(arguments: Backend.allCases)
  func severalCollide(_ backend: Backend) throws {
    let place = try placeOfThree(backend)
    var garage = try place.garage()
    try garage.park(FormerPatron(id: 7, mail: "7", age: 0, badge: 8))
    try garage.park(FormerSatchel(id: 1, label: "0", weight: 1))
    garage = try place.reopened(garage, [Satchel.self, Kiosk.self, Patron.self])
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
    #expect(try garage.indexes(of: Patron.self).map(\.state) == [.ready, .building, .building])
    #expect(try state("label", of: Satchel.self, garage) == .building)
    #expect(try state("weight", of: Satchel.self, garage) == .ready)
    #expect(try state("x", of: Kiosk.self, garage) == .ready)
    // One after another is made when objects of its type are parked.
    try garage.delete(Patron.self, identifier: 7)
    try garage.park(Patron(id: 100, mail: "100"))
    #expect(try garage.indexes(of: Patron.self).map(\.state) == [.ready, .ready, .building])
    try garage.delete(Patron.self, identifier: 0)
    try garage.park(Patron(id: 101, mail: "101"))
    try garage.delete(Satchel.self, identifier: 0)
    #expect(try state("label", of: Satchel.self, garage) == .building)
    try garage.park(Satchel(id: 100, label: "100", weight: 1))
    #expect(try state("label", of: Satchel.self, garage) == .ready)
    try expectReady(garage)
    try garage.buildIndexes()
  }

  /// Who drops an index is not told of others.
  @Test(arguments: Backend.allCases)
  func droppingThrowsNothingOfOthers(_ backend: Backend) throws {
    let place = try placeOfThree(backend)
    let garage = try place.garage([Patron.self, Kiosk.self])
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
    try garage.dropIndex("x", of: Kiosk.self)
    #expect(try garage.indexes(of: Kiosk.self).isEmpty)
    try garage.dropIndex("mail", of: Patron.self)
    #expect(try garage.indexes(of: Patron.self).map(\.name) == ["age", "badge"])
    try garage.park(Patron(id: 100, mail: "0"))
    #expect(try garage.query(Patron.self).where(\.mail == "0").values(\.id) == [0, 59, 100])
  }

  // MARK: - As soon as they differ

  /// The ways in which objects cease to have the same value.
  enum Ending: CaseIterable {
    case delete, deleteFirst, change, changeFirst, updateAll, deleteAll, inWrite, savedDeletion, savedChange
    case byAnother

    fileprivate func end(in garage: Garage, _ place: Place) throws {
      switch self {
      case .delete: try garage.delete(Patron.self, identifier: 2)
      case .deleteFirst: try garage.delete(Patron.self, identifier: 0)
      case .change: try garage.park(Patron(id: 2, mail: "z"))
      case .changeFirst: try garage.park(Patron(id: 0, mail: "z"))
      case .updateAll: _ = try garage.query(Patron.self).where(\.id == 2).updateAll { $0.mail = "z" }
      case .deleteAll: _ = try garage.query(Patron.self).where(\.mail == "a").deleteAll()
      case .inWrite: try garage.write { try $0.delete(Patron.self, identifier: 2) }
      case .savedDeletion, .savedChange:
        garage.isAutosaveEnabled = false
        if self == .savedDeletion {
          try garage.delete(Patron.self, identifier: 2)
        } else {
          try garage.park(Patron(id: 2, mail: "z"))
        }
        try garage.save()
        garage.isAutosaveEnabled = true
      case .byAnother:
        let other = try place.garage()
        try other.delete(FormerPatron.self, identifier: 2)
      }
    }
  }

  @Test(arguments: Backend.allCases, Ending.allCases)
  func itHoldsAsSoonAsTheyDiffer(_ backend: Backend, ending: Ending) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    try garage.park(Patron(id: 10, mail: "d"))
    #expect(try state("mail", of: Patron.self, garage) == .building)
    try ending.end(in: garage, place)
    expectTaken("c", by: 3) { try garage.park(Patron(id: 12, mail: "c")) }
    expectTaken("d", by: 10) { try garage.park(Patron(id: 12, mail: "d")) }
    expectTaken("b", by: 1) { try garage.write { try $0.park(Patron(id: 12, mail: "b")) } }
    #expect(try !garage.contains(Patron.self, identifier: 12))
    try garage.park(Patron(id: 12, mail: "e"))
    try expectReady(garage)
  }

  /// In one write, what is deleted first is gone when the next is parked.
  @Test(arguments: Backend.allCases)
  func itHoldsInTheSameWrite(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    try garage.park(Patron(id: 10, mail: "d"))
    try garage.write { writer in
      try writer.delete(Patron.self, identifier: 2)
      expectTaken("c", by: 3) { try writer.park(Patron(id: 12, mail: "c")) }
    }
    try garage.deleteAll(Patron.self)
    try garage.park(Patron(id: 12, mail: "c"))
    expectTaken("c", by: 12) { try garage.park(Patron(id: 13, mail: "c")) }
    try expectReady(garage)
  }

  /// Where others have the same value, too, these have to differ as well.
  @Test(arguments: Backend.allCases)
  func oneCollisionAfterAnother(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b", "a", "b", "a", "c"])
    let garage = try place.garage()
    for (round, id) in [2, 1, 4].enumerated() {
      try garage.park(Patron(id: 10 + round, mail: "\(round)"))
      #expect(try state("mail", of: Patron.self, garage) == .building)
      try garage.park(Patron(id: id, mail: "z\(id)"))
    }
    expectTaken("c", by: 5) { try garage.park(Patron(id: 20, mail: "c")) }
    expectTaken("b", by: 3) { try garage.park(Patron(id: 20, mail: "b")) }
    expectTaken("1", by: 11) { try garage.park(Patron(id: 20, mail: "1")) }
    try garage.park(Patron(id: 20, mail: "y"))
    try expectReady(garage)
  }

  /// As long as they have the same value, all others are parked, and these themselves are.
  @Test(arguments: Backend.allCases)
  func othersGoOnWhileTheyCollide(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    for id in 10..<30 { try garage.park(Patron(id: id, mail: "\(id)")) }
    try garage.parkAll((30..<60).map { Patron(id: $0, mail: "\($0)") })
    expectTaken("15", by: 15) { try garage.park(Patron(id: 70, mail: "15")) }
    try garage.park(Patron(id: 2, mail: "a", age: 50))
    try garage.park(Patron(id: 0, mail: "a", age: 51))
    let changedCount = try garage.query(Patron.self).where(\.id <= 2).updateAll { $0.age += 1 }
    #expect(changedCount == 3)
    garage.isAutosaveEnabled = false
    try garage.park(Patron(id: 2, mail: "a", age: 60))
    try garage.park(Patron(id: 61, mail: "61"))
    try garage.delete(Patron.self, identifier: 10)
    try garage.save()
    garage.isAutosaveEnabled = true
    #expect(try garage.query(Patron.self).where(\.mail == "a").values(\.age) == [52, 60])
    #expect(try garage.count(Patron.self) == 54)
    #expect(try state("mail", of: Patron.self, garage) == .building)
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
  }

  /// Meanwhile nothing is filled again: no more than the objects are looked at that have the same value.
  @Test(arguments: Backend.faulty)
  func nothingIsFilledWhileTheyCollide(_ backend: Backend) throws {
    let place = try place(backend, mails: (0..<500).map { $0 < 498 ? "\($0)" : "z" })
    let garage = try place.garage()
    func operationCount() -> Int { place.plan.count(of: .get) + place.plan.count(of: .scan) }
    // Between the mails that are there: filling again would look for each of these.
    try garage.park(Patron(id: 1000, mail: "2x"))
    let before = operationCount()
    for id in 1001..<1021 { try garage.park(Patron(id: id, mail: "2x\(id)")) }
    #expect(operationCount() - before < 20 * 60)
    #expect(try state("mail", of: Patron.self, garage) == .building)
  }

  // MARK: - Saving

  /// What makes them differ and what is new may be saved together.
  @Test(arguments: Backend.allCases, [false, true])
  func itHoldsInTheSameSave(_ backend: Backend, isDeletion: Bool) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    try garage.park(Patron(id: 10, mail: "d"))
    garage.isAutosaveEnabled = false
    if isDeletion {
      try garage.delete(Patron.self, identifier: 2)
    } else {
      try garage.park(Patron(id: 2, mail: "z"))
    }
    try garage.park(Patron(id: 12, mail: "c"))
    expectTaken("c", by: 3) { try garage.save() }
    #expect(garage.hasUnsavedChanges)
    #expect(try place.garage().query(FormerPatron.self).values(\.mail) == ["a", "b", "a", "c", "d"])
    try garage.park(Patron(id: 12, mail: "e"))
    try garage.save()
    #expect(try garage.count(Patron.self) == (isDeletion ? 5 : 6))
    try expectReady(garage)
  }

  /// Values go from one to another in one save, also to those that had the same.
  @Test(arguments: Backend.allCases)
  func valuesMoveInOneSave(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    garage.isAutosaveEnabled = false
    try garage.parkAll([
      Patron(id: 1, mail: "y"), Patron(id: 2, mail: "b"), Patron(id: 3, mail: "z"), Patron(id: 12, mail: "c"),
    ])
    try garage.save()
    garage.isAutosaveEnabled = true
    #expect(try garage.query(Patron.self).values(\.mail) == ["a", "y", "b", "z", "c"])
    for (mail, id) in [("a", 0), ("y", 1), ("b", 2), ("z", 3), ("c", 12)] {
      expectTaken(mail, by: id) { try garage.park(Patron(id: 20, mail: mail)) }
    }
    try garage.park(Patron(id: 20, mail: "x"))
    try expectReady(garage)
  }

  /// The object that was there first may be in the index already: it was filled as far as it could be.
  @Test(arguments: Backend.allCases)
  func theFirstOfThemIsInTheIndex(_ backend: Backend) throws {
    let place = try place(backend, mails: (0..<98).map { "\($0 % 97)" })
    let garage = try place.garage()
    _ = try garage.meetIndexes(of: Patron.self)
    expectTaken("0", by: 0) {
      // 32 objects at a time.
      while try garage.writeDirectly({
        try IndexFilling(indexing: garage.indexing, tryCount: 8).step(in: $0)
      }) != nil {}
    }
    let mails = try garage.indexes(of: Patron.self).first { $0.name == "mail" }
    #expect(mails?.state == .building && mails?.entries == 96)
    #expect(try state("age", of: Patron.self, garage) == .ready)
    garage.isAutosaveEnabled = false
    try garage.delete(Patron.self, identifier: 0)
    try garage.park(Patron(id: 200, mail: "96"))
    expectTaken("96", by: 96) { try garage.save() }
    try garage.park(Patron(id: 200, mail: "200"))
    try garage.save()
    try expectReady(garage)
  }

  // MARK: - Values of every form

  /// Hashed, cut, of elements, and such as are the same in words.
  @Test(arguments: Backend.allCases, ["code", "marks", "seal", "text"])
  func valuesOfEveryForm(_ backend: Backend, name: String) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Turret(0, 0), Turret(1, 1), Turret(2, 0), Turret(3, 3)])
    let index: Index<Turret> =
      switch name {
      case "code": Index(\Turret.code, .unique, .hashed)
      case "marks": Index(each: \Turret.marks, .unique, .readable)
      case "seal": Index(\Turret.seal, .unique, .readable)
      default: Index(\Turret.text, .unique, .readable)
      }
    try garage.indexing.declare([index])
    func expectTaken(_ value: Int, by id: Int) {
      do {
        try garage.park(Turret(20, value))
        Issue.record("\(value) is not taken")
      } catch GarageError.notUnique(let index, _, let existing) {
        #expect(index == name && existing == "\(id)")
      } catch {
        Issue.record(error)
      }
    }
    for id in 10..<14 { try garage.park(Turret(id, id)) }
    #expect(try state(name, of: Turret.self, garage) == .building)
    expectTaken(12, by: 12)
    try garage.park(Turret(2, 2))
    for id in [0, 1, 2, 3, 10, 13] { expectTaken(id, by: id) }
    try garage.park(Turret(20, 20))
    #expect(try state(name, of: Turret.self, garage) == .ready)
    #expect(try garage.verifyIndexes().isSound)
  }
}

private struct FormerPatron: Codable, Identifiable, TypeTagged {
  var id: Int
  var mail: String
  var age: Int
  var badge: Int?
  static var typeTag: String { "colliding patron" }
}

private struct Patron: Codable, Identifiable, TypeTagged, Indexed {
  var id: Int
  var mail: String
  var age = 0
  var badge: Int?
  static var typeTag: String { "colliding patron" }
  static var indexes: [Index<Patron>] {
    [Index(\.mail, .unique, .readable), Index(\.age, .readable), Index(\.badge, .unique, .readable)]
  }
}

private struct FormerSatchel: Codable, Identifiable, TypeTagged {
  var id: Int
  var label: String
  var weight: Int
  static var typeTag: String { "colliding satchel" }
}

private struct Satchel: Codable, Identifiable, TypeTagged, Indexed {
  var id: Int
  var label: String
  var weight: Int
  static var typeTag: String { "colliding satchel" }
  static var indexes: [Index<Satchel>] { [Index(\.weight, .readable), Index(\.label, .unique, .readable)] }
}

private struct FormerKiosk: Codable, Identifiable, TypeTagged {
  var id: Int
  var x: Int
  static var typeTag: String { "colliding kiosk" }
}

private struct Kiosk: Codable, Identifiable, TypeTagged, Indexed {
  var id: Int
  var x: Int
  static var typeTag: String { "colliding kiosk" }
  static var indexes: [Index<Kiosk>] { [Index(\.x, .readable)] }
}

private struct Turret: Codable, Identifiable {
  var id: Int
  var code: String
  var marks: [String]
  var seal: Data
  var text: String

  init(_ id: Int, _ value: Int) {
    self.id = id
    code = "\(value)"
    marks = ["m\(value)", "n\(value)", "of turret \(id)"]
    seal = Data([1, 2, 3, 4, UInt8(value)])
    text = String(repeating: "x", count: 400) + "\(value)"
  }
}

import Foundation
import Testing

@testable import GarageStorage

/// `updateAll` and `deleteAll` do all of what they say, or nothing.
@Suite struct QueryChangeTests {
  private struct Item: Codable, Identifiable, Equatable {
    var id: Int
    var number: Int
    var tag = ""
  }
  private struct Seat: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Seat>] { [Index(\.place, .unique)] }
    var id: Int
    var place: Int
  }
  private struct Refusal: Error {}

  @Test(arguments: Backend.allCases)
  func noneAreWanted(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let items = (0..<10).map { Item(id: $0, number: $0 % 2) }
    try garage.parkAll(items)
    for query in [
      garage.query(Item.self), garage.query(Item.self).where(\.number == 1),
      garage.query(Item.self).sorted(by: \.number),
    ] {
      #expect(try query.limit(0).deleteAll() == 0)
      #expect(try query.limit(0).updateAll { $0.number = 100 } == 0)
      try garage.write { writer in
        var query = writer.query(Item.self).limit(0)
        #expect(try query.deleteAll() == 0)
        try query.forEach { _ in Issue.record("none is wanted") }
        query = query.where(\.number == 1)
        #expect(try query.updateAll { $0.number = 100 } == 0)
      }
      #expect(try query.limit(0).retrieveAll().isEmpty)
      #expect(try query.limit(0).count() == 0)
    }
    #expect(try garage.retrieveAll(Item.self) == items)
    #expect(try garage.query(Item.self).limit(3).deleteAll() == 3)
    #expect(try garage.retrieveAll(Item.self) == Array(items[3...]))
  }

  /// A verb that fails inside of a write did nothing, and the write goes on.
  @Test(arguments: Backend.allCases)
  func allOrNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let items = (0..<600).map { Item(id: $0, number: 0) }
    try garage.parkAll(items)
    try garage.write { writer in
      #expect(throws: Refusal.self) {
        try writer.query(Item.self).updateAll { item in
          if item.id == 500 { throw Refusal() }
          item.number = 1
        }
      }
      try writer.park(Item(id: 1000, number: 7))
    }
    #expect(try garage.query(Item.self).where(\.number == 1).count() == 0)
    #expect(try garage.retrieveAll(Item.self).count == 601)
    #expect(try garage.query(Item.self).where(\.id < 600).updateAll { $0.number = $0.id } == 600)
    #expect(try garage.retrieveAll(Item.self).prefix(600).map(\.number) == Array(0..<600))
  }

  struct Label: Codable, Hashable { var text: String }

  /// What a value is identified by cannot be changed in place: others may refer to it.
  @Test func valuesStayWhatTheyAre() throws {
    let garage = try Place(.memory).garage()
    try garage.parkAll([Label(text: "a"), Label(text: "b")])
    let query = garage.query(Label.self).where(\.text == "a")
    #expect(try query.updateAll { $0.text = "a" } == 1)
    let error = #expect(throws: GarageError.self) { try query.updateAll { $0.text = "c" } }
    #expect("\(try #require(error))".contains("its content is what identifies it"))
    #expect(Set(try garage.retrieveAll(Label.self).map(\.text)) == ["a", "b"])
  }

  /// Each takes the place of the next one, of more than are changed at a time anywhere.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func uniqueValuesThatMove(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Seat.self])
    try garage.parkAll((0..<700).map { Seat(id: $0, place: $0) })
    #expect(try garage.query(Seat.self).updateAll { $0.place += 1 } == 700)
    #expect(try garage.retrieveAll(Seat.self).map(\.place) == Array(1...700))
    #expect(throws: GarageError.self) {
      try garage.query(Seat.self).where(\.id > 300).updateAll { $0.place = 5 }
    }
    #expect(try garage.retrieveAll(Seat.self).map(\.place) == Array(1...700))
    #expect(try garage.query(Seat.self).updateAll { $0.place = 701 - $0.place } == 700)
    #expect(try garage.query(Seat.self).where(\.place == 700).first()?.id == 0)
    #expect(try garage.verifyIndexes().isSound)
  }
}

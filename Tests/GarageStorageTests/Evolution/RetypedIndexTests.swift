import GarageStorage
import Testing

/// Indexes that were made when a property had another type.
@Suite struct RetypedIndexTests {
  private struct Owner: Codable, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "owner of retyped indexes" }
    var id: Int
  }

  private enum Before {
    struct Boat: Codable, Identifiable, TypeTagged, Indexed {
      static var typeTag: String { "boat of retyped indexes" }
      static var indexes: [Index<Boat>] { [Index(\.owner, .readable)] }
      var id: Int
      var owner: Reference<Owner>?
    }
  }

  private enum After {
    struct Boat: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "boat of retyped indexes" }
      var id: Int
      var owner: Owner?
    }
  }

  /// An object that is gone is nil, and a reference to it is not.
  @Test(arguments: Backend.engines)
  func anOwnerThatIsGoneIsNil(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Owner(id: 1), Owner(id: 2)])
    try garage.parkAll([
      Before.Boat(id: 1, owner: Reference(Owner.self, identifier: 1)),
      Before.Boat(id: 2, owner: Reference(Owner.self, identifier: 2)),
      Before.Boat(id: 3, owner: nil),
    ])
    try garage.buildIndexes()
    try garage.delete(Owner.self, identifier: 2)
    let before = garage.query(Before.Boat.self)
    #expect(try before.where(\.owner == nil).values(\.id) == [3])
    #expect(try before.where(\.owner == nil).explain().indexes == ["owner"])
    #expect(try before.where(\.owner != nil).values(\.id) == [1, 2])
    let after = garage.query(After.Boat.self)
    #expect(try after.retrieveAll().map(\.owner) == [Owner(id: 1), nil, nil])
    #expect(try after.where(\.owner == nil).values(\.id) == [2, 3])
    #expect(try after.where(\.owner == nil).count() == 2)
    #expect(try after.where(\.owner != nil).values(\.id) == [1])
    #expect(try after.where(\.id > 1 && \.owner == nil).values(\.id) == [2, 3])
  }
}

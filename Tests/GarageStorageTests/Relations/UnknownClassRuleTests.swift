import Testing

@testable import GarageStorage

/// Rules for objects of classes that a program does not know: those that these inherit, and none is passed over.
@Suite struct UnknownClassRuleTests {
  @Test(arguments: Backend.engines, [true, false])
  func inheritedRulesHold(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let before = try backend.relations(place, isIndexed: isIndexed, types: [OldGig.self])
    try before.parkAll([OldGig(1), OldGig(2)])
    try before.close()
    let garage = try backend.relations(place, isIndexed: isIndexed)
    try garage.park(RowingBuoy(id: 1, boat: Reference(Rowing.self, identifier: 1)))
    #expect(isRefused { try garage.delete(Rowing.self, identifier: 1) })
    #expect(isRefused { try garage.deleteAll(Rowing.self) })
    #expect(isRefused { _ = try garage.deleteGraph(Rowing.self, identifier: 1) })
    #expect(try garage.count(Rowing.self) == 2)
    try garage.delete(Rowing.self, identifier: 2)
    try garage.delete(RowingBuoy.self, identifier: 1)
    try garage.delete(Rowing.self, identifier: 1)
    #expect(try garage.count(Rowing.self) == 0)
  }

  /// Where it cannot be told what one owns nothing goes, and the error says why.
  @Test(arguments: Backend.engines, [true, false])
  func nothingIsLeftBehind(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let before = try backend.relations(place, isIndexed: isIndexed, types: [OldCoach.self])
    let coach = OldCoach(1)
    coach.horses = [Reference(to: Hub(id: "a"))]
    try before.park(Hub(id: "a"))
    try before.park(coach)
    try before.close()
    let garage = try backend.relations(place, isIndexed: isIndexed)
    let error = #expect(throws: GarageError.self) { try garage.delete(Carriage.self, identifier: 1) }
    #expect(error.map { "\($0)".contains("what one of them owns") } ?? false, "\(String(describing: error))")
    #expect(try garage.count(Carriage.self) == 1 && garage.count(Hub.self) == 1)
  }
}

/// As an older program, or another one, has it.
private class OldRowing: Codable, Identifiable, TypeTagged {
  let id: Int
  init(_ id: Int) { self.id = id }
  class var typeTag: String { "boat of rules" }
}

private final class OldGig: OldRowing {
  override class var typeTag: String { "gig of rules" }
}

private class Rowing: Codable, Identifiable, TypeTagged, DeleteRules {
  let id: Int
  init(_ id: Int) { self.id = id }
  class var typeTag: String { "boat of rules" }
  class var referrersRule: ReferrersRule { .deny }
  class var owned: [Owned<Rowing>] { [] }
}

private struct RowingBuoy: Codable, Identifiable {
  var id: Int
  var boat: Reference<Rowing>
}

private class OldCarriage: Codable, Identifiable, TypeTagged {
  let id: Int
  var horses: [Reference<Hub>] = []
  init(_ id: Int) { self.id = id }
  class var typeTag: String { "cart of rules" }
}

private final class OldCoach: OldCarriage {
  override class var typeTag: String { "coach of rules" }
}

private class Carriage: Codable, Identifiable, TypeTagged, DeleteRules {
  let id: Int
  var horses: [Reference<Hub>] = []
  init(_ id: Int) { self.id = id }
  class var typeTag: String { "cart of rules" }
  class var owned: [Owned<Carriage>] { [Owned(\.horses)] }
}

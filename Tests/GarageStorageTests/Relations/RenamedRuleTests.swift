import Testing

@testable import GarageStorage

/// Rules of types that were renamed, where objects are stored under the former name, or under both.
@Suite struct RenamedRuleTests {
  private func expectSound(_ garage: Garage) throws {
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
    #expect(try garage.verify().isSound)
  }

  // MARK: - Under a former name

  /// What was parked before the rename follows the rules that the type declares now.
  @Test(arguments: Backend.allCases, [true, false])
  func rulesHold(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll((1...3).map { Leaf(id: $0) })
    try garage.parkAll((1...2).map { OldWriter(id: $0, leaves: [Reference(Leaf.self, identifier: $0)]) })
    try garage.park(Cover(id: 1, writer: Reference(Writer.self, identifier: 1)))
    #expect(isRefused { try garage.delete(Writer.self, identifier: 1) })
    #expect(isRefused { try garage.delete(#require(try garage.retrieve(Writer.self, identifier: 1))) })
    #expect(isRefused { try garage.deleteAll(Writer.self) })
    #expect(try garage.count(Writer.self) == 2 && garage.count(Leaf.self) == 3)
    try garage.delete(Cover.self, identifier: 1)
    try garage.delete(Writer.self, identifier: 1)
    #expect(try garage.retrieveAll(Leaf.self).map(\.id) == [2, 3])
    try garage.deleteAll(Writer.self)
    #expect(try garage.retrieveAll(Leaf.self).map(\.id) == [3])
    try expectSound(garage)
  }

  /// The same of a subclass, whose former name stands in the record and not in the key.
  @Test(arguments: Backend.allCases, [true, false])
  func rulesOfSubclassesHold(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.park(OldSloop(1))
    try garage.park(Mooring(id: 1, craft: Reference(Craft.self, identifier: 1)))
    #expect(isRefused { try garage.delete(Sloop.self, identifier: 1) })
    #expect(try garage.contains(Sloop.self, identifier: 1))
    try garage.delete(Mooring.self, identifier: 1)
    try garage.delete(Sloop.self, identifier: 1)
    #expect(try garage.count(OldCraft.self) == 0)
    try expectSound(garage)
  }

  /// A rule in the call is that of all records that the object has, also where what it owns leads back to one of them.
  @Test(arguments: Backend.engines, [true, false])
  func theCallsRuleHoldsForBothRecords(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    func stock() throws {
      try garage.parkAll([
        Knot(id: 1, next: Reference(Knot.self, identifier: 2)),
        Knot(id: 2, next: Reference(Knot.self, identifier: 1)),
      ])
      // By an older program.
      try garage.park(OldKnot(id: 1, next: Reference(OldKnot.self, identifier: 2)))
      try garage.park(Tether(id: 1, knot: Reference(OldKnot.self, identifier: 1)))
    }
    try stock()
    #expect(isRefused { try garage.delete(Knot.self, identifier: 1) })
    try garage.delete(Knot.self, identifier: 1, referrers: .leave)
    #expect(try garage.count(Knot.self) == 0 && garage.retrieve(Tether.self, identifier: 1)?.knot != nil)
    try stock()
    try garage.delete(Knot.self, identifier: 1, referrers: .nullify)
    #expect(try garage.count(Knot.self) == 0)
    #expect(try garage.referrers(of: Knot.self, identifier: 1).isEmpty)
    try expectSound(garage)
  }

  /// Who needs a reference by what his type is now keeps it, whatever it was before.
  @Test(arguments: Backend.allCases, [true, false])
  func thoseWhoNeedItKeepIt(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (a, b) = (Hub(id: "a"), Hub(id: "b"))
    try garage.parkAll([OldRim(id: 1, hub: a, spare: b), OldRim(id: 2, hub: a, spare: nil)])
    // The program uses the type.
    #expect(try garage.count(Rim.self) == 2)
    #expect(isRefused { try garage.delete(a, referrers: .nullify) })
    try garage.delete(b, referrers: .nullify)
    #expect(try garage.retrieveAll(Rim.self).map(\.hub) == [a, a])
    #expect(try garage.retrieveAll(Rim.self).map(\.spare) == [nil, nil])
    try expectSound(garage)
  }

  // MARK: - Under both

  /// An older program parked it again: all its records go with who owns it, by whichever name he knows it.
  @Test(arguments: Backend.allCases, [true, false])
  func ownedObjectsGoAsAWhole(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll((1...3).map { Page(id: $0) })
    try garage.parkAll((1...3).map { OldPage(id: $0) })
    try garage.parkAll([
      Binder(id: 1, page: Reference(Page.self, identifier: 1), old: nil),
      Binder(id: 2, page: nil, old: Reference(OldPage.self, identifier: 2)),
    ])
    #expect(try garage.count(Page.self) == 3 && garage.count(OldPage.self) == 3)
    try garage.delete(Binder.self, identifier: 1)
    #expect(try garage.retrieveAll(Page.self).map(\.id) == [2, 3] && garage.count(OldPage.self) == 2)
    try garage.delete(Binder.self, identifier: 2)
    #expect(try garage.retrieveAll(Page.self).map(\.id) == [3] && garage.count(OldPage.self) == 1)
    try expectSound(garage)
  }

  /// The same of what nothing else leads to; and who leads to one of the records keeps all.
  @Test(arguments: Backend.allCases, [true, false])
  func reachedObjectsGoAsAWhole(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.park(Page(id: 1))
    try garage.park(OldPage(id: 1))
    let stack = Stack(id: 1, page: Reference(Page.self, identifier: 1))
    try garage.park(stack)
    try garage.park(Clip(id: 1, page: Reference(OldPage.self, identifier: 1)))
    #expect(try garage.deleteGraph(stack) == 1)
    #expect(try garage.count(Page.self) == 1 && garage.count(OldPage.self) == 1)
    try garage.park(stack)
    try garage.delete(Clip.self, identifier: 1)
    #expect(try garage.deleteGraph(stack) == 2)
    #expect(try garage.count(Page.self) == 0 && garage.count(OldPage.self) == 0)
    try expectSound(garage)
  }
}

extension RenamedRuleTests {
  fileprivate struct Leaf: Codable, Identifiable { var id: Int }

  fileprivate struct OldWriter: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old writer of renamed rules" }
    var id: Int
    var leaves: [Reference<Leaf>]
  }

  fileprivate struct Writer: Codable, Identifiable, TypeTagged, DeleteRules {
    static var typeTag: String { "writer of renamed rules" }
    static var formerTypeTags: [String] { ["old writer of renamed rules"] }
    static var referrersRule: ReferrersRule { .deny }
    static var owned: [Owned<Writer>] { [Owned(\.leaves)] }
    var id: Int
    var leaves: [Reference<Leaf>]
  }

  fileprivate struct Cover: Codable, Identifiable {
    var id: Int
    var writer: Reference<Writer>?
  }

  fileprivate class OldCraft: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "craft of renamed rules" }
    class var formerTypeTags: [String] { [] }
    let id: Int
    init(_ id: Int) { self.id = id }
  }

  fileprivate final class OldSloop: OldCraft {
    override class var typeTag: String { "old sloop of renamed rules" }
  }

  fileprivate class Craft: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "craft of renamed rules" }
    class var formerTypeTags: [String] { [] }
    let id: Int
    init(_ id: Int) { self.id = id }
  }

  fileprivate final class Sloop: Craft, DeleteRules {
    override class var typeTag: String { "sloop of renamed rules" }
    override class var formerTypeTags: [String] { ["old sloop of renamed rules"] }
    static var referrersRule: ReferrersRule { .deny }
  }

  fileprivate struct Mooring: Codable, Identifiable {
    var id: Int
    var craft: Reference<Craft>?
  }

  fileprivate struct OldRim: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old rim of renamed rules" }
    var id: Int
    var hub: Hub?
    var spare: Hub?
  }

  fileprivate struct Rim: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "rim of renamed rules" }
    static var formerTypeTags: [String] { ["old rim of renamed rules"] }
    var id: Int
    var hub: Hub
    var spare: Hub?
  }

  fileprivate struct OldPage: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old page of renamed rules" }
    var id: Int
  }

  fileprivate struct Page: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "page of renamed rules" }
    static var formerTypeTags: [String] { ["old page of renamed rules"] }
    var id: Int
  }

  fileprivate struct Binder: Codable, Identifiable, DeleteRules {
    static var owned: [Owned<Binder>] { [Owned(\.page), Owned(\.old)] }
    var id: Int
    var page: Reference<Page>?
    var old: Reference<OldPage>?
  }

  fileprivate struct Stack: Codable, Identifiable {
    var id: Int
    var page: Reference<Page>?
  }

  fileprivate struct Clip: Codable, Identifiable {
    var id: Int
    var page: Reference<OldPage>?
  }

  fileprivate struct OldKnot: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old knot of renamed rules" }
    var id: Int
    var next: Reference<OldKnot>?
  }

  fileprivate struct Knot: Codable, Identifiable, TypeTagged, DeleteRules {
    static var typeTag: String { "knot of renamed rules" }
    static var formerTypeTags: [String] { ["old knot of renamed rules"] }
    static var referrersRule: ReferrersRule { .deny }
    static var owned: [Owned<Knot>] { [Owned(\.next)] }
    var id: Int
    var next: Reference<Knot>?
  }

  fileprivate struct Tether: Codable, Identifiable {
    var id: Int
    var knot: Reference<OldKnot>?
  }
}

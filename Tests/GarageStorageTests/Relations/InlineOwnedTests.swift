import Testing

@testable import GarageStorage

/// Objects that stand inline in records, since their type had no identity when these were parked: what they refer to is not what
/// their owner refers to by the property, and does not go with it.
@Suite struct InlineOwnedTests {
  private func painter(_ id: String) -> Hub { Hub(id: id) }

  private func garage(_ backend: Backend, _ isIndexed: Bool) throws -> Garage {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    func cover(_ id: Int) -> InlineCover { InlineCover(id: id, painter: painter("\(id)")) }
    try garage.park(
      OldIssue(
        id: 1, cover: cover(1), needed: cover(2), all: [cover(3), cover(4)], byName: ["a": cover(5)],
        lazy: cover(6), parts: [OldIssue.Part(cover: cover(7), editor: painter("editor"))]))
    #expect(try garage.count(Hub.self) == 8)
    return garage
  }

  @Test(arguments: Backend.engines, [true, false])
  func whatTheyReferToStays(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.delete(Issue.self, identifier: 1)
    #expect(try garage.count(Issue.self) == 0)
    #expect(try garage.retrieveAll(Hub.self).map(\.id) == (1...6).map { "\($0)" } + ["7", "editor"])
  }

  @Test(arguments: Backend.engines, [true, false])
  func theirOwnersDoNotReferToIt(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    func find<V: Codable>(_ id: Int, _ property: KeyPath<Issue, V>) throws -> Int {
      try garage.retrieveReferrers(Issue.self, of: painter("\(id)"), by: property).count
    }
    #expect(try find(1, \.cover) == 0 && find(2, \.needed) == 0 && find(3, \.all) == 0)
    #expect(try find(5, \.byName) == 0 && find(6, \.lazy) == 0)
    #expect(try garage.retrieveReferrers(Issue.self, of: painter("1")).count == 1)
    let editor = painter("editor")
    #expect(try garage.retrieveReferrers(Issue.self, of: editor, by: \.parts).count == 1)
  }

  /// Parked again they have records, which go with the owner.
  @Test(arguments: Backend.engines, [true, false])
  func theyGoOnceTheyHaveRecords(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.park(#require(try garage.retrieve(Issue.self, identifier: 1)))
    #expect(try garage.count(Cover.self) == 7)
    try garage.delete(Issue.self, identifier: 1)
    #expect(try garage.retrieveAll(Cover.self).map(\.id) == [7])
    #expect(try garage.count(Hub.self) == 8)
  }
}

private struct InlineCover: Codable {
  var id: Int
  var painter: Hub
}

private struct OldIssue: Codable, Identifiable, TypeTagged {
  struct Part: Codable {
    var cover: InlineCover
    var editor: Hub
  }
  var id: Int
  var cover: InlineCover?
  var needed: InlineCover
  var all: [InlineCover]
  var byName: [String: InlineCover]
  var lazy: InlineCover
  var parts: [Part]
  static var typeTag: String { "issue of rules" }
}

private struct Cover: Codable, Identifiable, TypeTagged {
  var id: Int
  var painter: Hub
  static var typeTag: String { "cover of rules" }
}

private struct Issue: Codable, Identifiable, TypeTagged, DeleteRules {
  struct Part: Codable {
    var cover: Cover
    var editor: Hub
  }
  var id: Int
  var cover: Cover?
  var needed: Cover
  var all: [Cover]
  var byName: [String: Cover]
  var lazy: Reference<Cover>
  var parts: [Part]
  static var typeTag: String { "issue of rules" }
  static var owned: [Owned<Issue>] {
    [
      Owned(\.cover), Owned(\.needed), Owned("all", \.all), Owned(\.byName), Owned(\.lazy),
    ]
  }
}

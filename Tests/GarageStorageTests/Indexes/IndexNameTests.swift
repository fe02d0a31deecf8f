import Testing

@testable import GarageStorage

/// The names of indexes are stored, and with them what is found by them.
@Suite struct IndexNameTests {
  struct Signpost: Codable, Identifiable {
    var id: Int
    var text: String
    var height = 2
  }

  private func index(_ name: String) -> Index<Signpost> { Index(name, \Signpost.text, .readable) }

  /// One of more bytes than are stored would leave a store that nobody can open.
  @Test(arguments: Backend.allCases)
  func namesAreBounded(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    for (name, byteCount) in [
      (String(repeating: "n", count: 60_001), "60001"), (String(repeating: "é", count: 35_000), "70000"),
      (String(repeating: "n", count: 200_000), "200000"),
    ] {
      let error = #expect(throws: GarageError.self) { try garage.make([index(name)]) }
      guard case .invalidIndex(_, let shownName, let reason)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(shownName.count < 100)
      #expect(reason.contains(byteCount) && reason.contains("shorter"), "\(reason)")
    }
    try garage.park(Signpost(id: 1, text: "a"))
    #expect(try garage.indexes(of: Signpost.self).isEmpty)
    // The longest ones.
    let names = [String(repeating: "n", count: 60_000), String(repeating: "é", count: 30_000)]
    try garage.make([index(names[0]), Index(names[1], \Signpost.height, .readable)])
    let other = try place.reopened(garage)
    try other.park(Signpost(id: 2, text: "b", height: 3))
    let query = other.query(Signpost.self)
    #expect(try query.where(\.text == "b").explain().indexes == [names[0]])
    #expect(try query.where(\.height == 3).explain().indexes == [names[1]])
    #expect(try query.where(\.text == "a").values(\.id) == [1])
    #expect(try other.verifyIndexes().isSound)
  }
}

import GarageStorage
import Testing

/// Values for which keys have no room, or which stand hashed there, are compared whole, whatever is in their batch.
@Suite struct LongUniqueValueTests {
  /// How the values stand in keys.
  enum Form: CaseIterable { case readable, hashed, mixed }

  struct Page: Codable, Identifiable, Equatable {
    var id: Int
    var url: String?
    var shelf = ""
    var place: Int?
    var labels: [String] = []
    var visits = 0

    static func indexes(_ form: Form) -> [Index<Page>] {
      switch form {
      case .readable:
        [
          Index(\Page.url, .unique, .readable), Index(\Page.shelf, \Page.place, .unique, .readable),
          Index(each: \Page.labels, .unique, .readable), Index(\Page.shelf, .readable),
        ]
      case .hashed:
        [
          Index(\Page.url, .unique, .hashed), Index(\Page.shelf, \Page.place, .unique, .hashed),
          Index(each: \Page.labels, .unique, .hashed), Index(\Page.shelf, .hashed),
        ]
      case .mixed:
        [
          Index(\Page.shelf, \Page.place, .unique, .readable), Index(\Page.url, .unique, .hashed),
          Index(each: \Page.labels, .unique, .hashed), Index(\Page.visits, .readable),
        ]
      }
    }

    /// Whether the indexes take these together.
    static func areUnique(_ pages: [Page]) -> Bool {
      var seen: Set<String> = []
      for page in pages {
        var values = Set(page.labels.map { "label \($0)" })
        if let url = page.url { values.insert("url \(url)") }
        if let place = page.place { values.insert("place \(place) on \(page.shelf)") }
        if !seen.isDisjoint(with: values) { return false }
        seen.formUnion(values)
      }
      return true
    }
  }

  private static let long = "https://" + String(repeating: "x", count: 300)

  private func isTaken(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch GarageError.notUnique {
      return true
    } catch {
      Issue.record(error)
      return false
    }
  }

  /// What was kept of a value that stays as it is says nothing of those behind it.
  @Test(arguments: Backend.allCases, Form.allCases)
  func unchangedValuesHideNobody(_ backend: Backend, form: Form) throws {
    let (garage, long) = (try Place(backend).garage(), LongUniqueValueTests.long)
    try garage.make(Page.indexes(form))
    let all = [Page(id: 1, url: long), Page(id: 2, url: "b"), Page(id: 3, url: long + "3")]
    try garage.parkAll(all)
    let same = Page(id: 1, url: long, visits: 1)
    #expect(isTaken { try garage.parkAll([same, Page(id: 4, url: "b")]) })
    #expect(isTaken { try garage.parkAll([same, Page(id: 4, url: "n"), Page(id: 5, url: "n")]) })
    // One whose value was long.
    #expect(isTaken { try garage.parkAll([same, Page(id: 3, url: "b")]) })
    #expect(
      isTaken {
        try garage.query(Page.self).where(\.id == 1 || \.id == 3).updateAll { page in
          if page.id == 3 { page.url = "b" } else { page.visits += 1 }
        }
      })
    // Long ones behind a long one.
    #expect(isTaken { try garage.parkAll([same, Page(id: 4, url: long + "3")]) })
    let third = Page(id: 3, url: long + "3", visits: 1)
    #expect(isTaken { try garage.parkAll([third, Page(id: 4, url: long)]) })
    #expect(try garage.query(Page.self).retrieveAll() == all)
    // What is free is taken as before.
    try garage.parkAll([same, Page(id: 3, url: "c"), Page(id: 4, url: long + "3")])
    #expect(isTaken { try garage.park(Page(id: 5, url: "c")) })
    #expect(try garage.verifyIndexes().isSound)
  }

  /// The same of several fields together.
  @Test(arguments: Backend.allCases, Form.allCases)
  func unchangedCompoundValuesHideNobody(_ backend: Backend, form: Form) throws {
    let (garage, long) = (try Place(backend).garage(), LongUniqueValueTests.long)
    try garage.make(Page.indexes(form))
    try garage.parkAll([
      Page(id: 1, shelf: long, place: 1), Page(id: 2, shelf: "b", place: 1), Page(id: 3, shelf: "b"),
      Page(id: 4, url: "u"),
    ])
    let same = Page(id: 1, shelf: long, place: 1, visits: 1)
    #expect(isTaken { try garage.parkAll([same, Page(id: 3, shelf: "b", place: 1)]) })
    #expect(isTaken { try garage.parkAll([same, Page(id: 5, shelf: "b", place: 1)]) })
    #expect(
      isTaken {
        try garage.parkAll([same, Page(id: 5, shelf: "n", place: 1), Page(id: 6, shelf: "n", place: 1)])
      })
    // Behind it the batch has the values of another index.
    #expect(isTaken { try garage.parkAll([same, Page(id: 5, url: "u")]) })
    try garage.parkAll([same, Page(id: 5, shelf: "b"), Page(id: 6, shelf: long, place: 2)])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Unsaved changes come into the store in one batch, and are compared with what others have put there.
  @Test(arguments: Backend.allCases, Form.allCases)
  func savingComparesAll(_ backend: Backend, form: Form) throws {
    let (place, long) = (try Place(backend), LongUniqueValueTests.long)
    let (garage, other) = (try place.garage(), try place.garage())
    try garage.make(Page.indexes(form))
    try garage.park(Page(id: 1, url: long, shelf: long, place: 1))
    garage.isAutosaveEnabled = false
    try garage.park(Page(id: 1, url: long, shelf: long, place: 1, visits: 1))
    try garage.park(Page(id: 3, url: "b"))
    try other.park(Page(id: 2, url: "b"))
    #expect(isTaken { try garage.save() })
    #expect(try other.query(Page.self).values(\.id) == [1, 2])
    try garage.park(Page(id: 3, url: "c"))
    try garage.save()
    #expect(try other.query(Page.self).values(\.id) == [1, 2, 3])
    #expect(try other.verifyIndexes().isSound)
  }

  // MARK: - Any batches

  private struct Population {
    var random: SeededGenerator
    var pages: [Int: Page] = [:]

    /// Some pages, each once: new ones, and changed ones, of which most keep their values.
    mutating func batch(isLarge: Bool) -> [Page] {
      let ids = Array(0..<(isLarge ? 40 : 12)).shuffled(using: &random)
      let count = isLarge ? 20 : Int.random(in: 1...4, using: &random)
      let changedShare = isLarge ? 0.1 : 0.5
      return ids.prefix(count).map { id in
        if var page = pages[id], Double.random(in: 0..<1, using: &random) > changedShare {
          page.visits += 1
          return page
        }
        return page(id)
      }
    }

    private mutating func page(_ id: Int) -> Page {
      var page = Page(id: id)
      if Int.random(in: 0..<4, using: &random) > 0 { page.url = text(30) }
      if Bool.random(using: &random) { page.shelf = LongUniqueValueTests.long }
      if Bool.random(using: &random) { page.place = Int.random(in: 0..<20, using: &random) }
      page.labels = (0..<Int.random(in: 0...2, using: &random)).map { _ in text(60) }
      return page
    }

    private mutating func text(_ count: Int) -> String {
      let number = Int.random(in: 0..<count, using: &random)
      return (Bool.random(using: &random) ? LongUniqueValueTests.long : "") + "\(number)"
    }
  }

  /// Taken is what a model takes, and nothing else.
  @Test(arguments: Backend.engines, Form.allCases)
  func anyBatches(_ backend: Backend, form: Form) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var population = Population(random: SeededGenerator(seed: seed))
    let garage = try Place(backend).garage()
    try garage.make(Page.indexes(form))
    for round in 0..<(runsLongTests ? 500 : 100) {
      let hint: Comment = "round \(round), seed \(seed)"
      let batch = population.batch(isLarge: round % 10 == 9)
      var after = population.pages
      for page in batch { after[page.id] = page }
      let isFree = Page.areUnique(Array(after.values))
      garage.isAutosaveEnabled = Bool.random(using: &population.random)
      let wasFree = !isTaken { try garage.parkAll(batch) }
      #expect(wasFree == isFree, hint)
      if wasFree != isFree { return }
      if isFree { population.pages = after }
      if !garage.isAutosaveEnabled { try garage.save() }
    }
    garage.isAutosaveEnabled = true
    let expected = population.pages.values.sorted { $0.id < $1.id }
    #expect(try garage.query(Page.self).retrieveAll() == expected, "seed \(seed)")
    #expect(try garage.verifyIndexes().isSound, "seed \(seed)")
  }
}

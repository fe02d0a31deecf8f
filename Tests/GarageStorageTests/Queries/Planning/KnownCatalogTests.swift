import Foundation
import Testing

@testable import GarageStorage

/// What a garage remembers of the store's indexes from one query to the next, when these change in between.
@Suite struct KnownCatalogTests {
  private struct Stop: Error {}

  private func counters(_ offset: Int) -> [Counter] {
    (0..<12).map { Counter(id: $0, value: ($0 + offset) % 5) }
  }

  /// Asks what needs a plan, each twice, and compares with what all objects say.
  ///
  /// - Parameter index: whether an index is used; nil where that is no matter.
  private func ask(_ reader: some GarageReading, index: Bool? = nil, _ hint: Comment = "") throws {
    let all = try reader.retrieveAll(Counter.self)
    let ascending = all.sorted { ($0.value, $0.id) < ($1.value, $1.id) }
    let descending = all.sorted { ($1.value, $0.id) < ($0.value, $1.id) }
    let query = reader.query(Counter.self)
    for _ in 0..<2 {
      for value in -1...6 {
        let found = try query.where(\.value >= value).retrieveAll().map(\.id).sorted()
        #expect(found == all.filter { $0.value >= value }.map(\.id).sorted(), hint)
        let count = try query.where(\.value >= value).count()
        #expect(count == all.filter { $0.value >= value }.count, hint)
      }
      #expect(try query.sorted(by: \.value).limit(7).retrieveAll() == Array(ascending.prefix(7)), hint)
      #expect(
        try query.sorted(by: \.value, .descending).limit(7).retrieveAll() == Array(descending.prefix(7)), hint
      )
      if let index {
        #expect(try query.where(\.value >= 2).explain().indexes == (index ? ["value"] : []), hint)
        #expect(
          try query.sorted(by: \.value).limit(7).explain().indexes == (index ? ["value"] : []), hint)
      }
    }
  }

  /// An index is built, dropped and built again, by this garage and by another one on the same store.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func indexesComeAndGo(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.parkAll(counters(0))
    try ask(a, index: false, "none")
    try b.make([Index(\Counter.value)])
    try ask(a, index: true, "built by the other")
    try b.parkAll(counters(1))
    try ask(a, index: true, "changed by the other")
    try b.dropIndex("value", of: Counter.self)
    try ask(a, index: false, "dropped by the other")
    // Entries that nobody maintains would say what was.
    try b.parkAll(counters(2))
    try ask(a, index: false, "dropped and changed by the other")
    try a.make([Index(\Counter.value)])
    try ask(a, index: true, "built again")
    try ask(b, index: true, "built again by the other")
    try a.dropIndex("value", of: Counter.self)
    try a.parkAll(counters(3))
    try ask(a, index: false, "dropped")
    try ask(b, index: false, "dropped by the other, seen from there")
    #expect(try a.verifyIndexes().isSound)
  }

  /// A reader goes on with the indexes of the state that it sees, and others do not take them for theirs.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func readersOfSeveralStates(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.make([Index(\Counter.value)])
    try a.parkAll(counters(0))
    try a.read { reader in
      try ask(reader, index: true, "before")
      try Threads.run(1) { _ in
        try b.dropIndex("value", of: Counter.self)
        try b.parkAll(counters(1))
        // This garage, too, sees the new state beside the reader.
        try ask(a, index: false, "beside the reader")
      }
      try ask(reader, index: true, "as it was")
    }
    try ask(a, index: false, "afterwards")
  }

  /// What a write sees of indexes is its own: it may be rolled back.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func rollsBack(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    for round in 0..<3 {
      #expect(throws: Stop.self) {
        try garage.write { writer in
          try writer.parkAll((0..<9).map { Fellow(id: $0, email: "\($0)", age: $0 % 3, place: $0) })
          #expect(try writer.query(Fellow.self).where(\.age >= 1).retrieveAll().count == 6)
          #expect(try writer.query(Fellow.self).sorted(by: \.age).limit(4).retrieveAll().count == 4)
          throw Stop()
        }
      }
      #expect(try garage.query(Fellow.self).where(\.age >= 1).retrieveAll().isEmpty, "\(round)")
      #expect(try garage.query(Fellow.self).sorted(by: \.age).limit(4).retrieveAll().isEmpty, "\(round)")
    }
    try garage.parkAll((0..<9).map { Fellow(id: $0, email: "\($0)", age: $0 % 3, place: $0) })
    #expect(try garage.query(Fellow.self).where(\.age >= 1).retrieveAll().count == 6)
    #expect(try garage.query(Fellow.self).sorted(by: \.age).limit(4).values(\.id) == [0, 3, 6, 1])
  }

  /// Unsaved changes hide what the storage holds, and others may take indexes away below them.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func unsavedChanges(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.make([Index(\Counter.value)])
    try a.parkAll(counters(0))
    try ask(a, index: true)
    a.isAutosaveEnabled = false
    try a.park(Counter(id: 3, value: 6))
    try a.delete(Counter.self, identifier: 4)
    try ask(a, "unsaved")
    try a.write { try ask($0, "unsaved, in a write") }
    try b.dropIndex("value", of: Counter.self)
    try ask(a, "unsaved, and others dropped the index")
    try a.save()
    try ask(a, "saved")
    try ask(b, "the other")
  }

  /// Another store stands where one was, with other indexes and as many commits.
  @Test(arguments: [Backend.sqlite, .lmdb])
  func anotherStoreInItsPlace(_ backend: Backend) throws {
    let place = try Place(backend)
    for hasIndex in [true, false, true] {
      let garage = try place.garage()
      if hasIndex { try garage.make([Index(\Counter.value)]) }
      try garage.parkAll(counters(hasIndex ? 0 : 1))
      try ask(garage, index: hasIndex)
      try garage.close()
      let files = FileManager.default
      for file in try files.contentsOfDirectory(at: place.folder, includingPropertiesForKeys: nil) {
        try files.removeItem(at: file)
      }
    }
  }
}

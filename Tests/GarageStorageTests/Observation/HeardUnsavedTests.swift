import Foundation
import GarageDriver
import Testing

@testable import GarageStorage

/// Who notes what is changed, or what is read, hides no unsaved changes from what has to know of them: an index answers for
/// no record that was changed before there was the index.
@MainActor @Suite struct HeardUnsavedTests {
  private nonisolated static let open = Backend.allCases.filter { !$0.isSealed }

  @MainActor final class Card: @MainActor Codable, @MainActor Identifiable {
    let id: Int
    var value: Int

    init(id: Int, value: Int) { (self.id, self.value) = (id, value) }
  }

  /// Two objects are changed and not saved; the index of what was changed came up between them.
  private func prepare<T: Codable & Identifiable>(
    _ place: Place, _ index: Index<T>, _ make: (Int, Int) -> T
  ) throws -> Garage {
    let (garage, other) = (try place.garage(), try place.garage())
    try garage.parkAll((0..<10).map { make($0, $0) })
    garage.isAutosaveEnabled = false
    try garage.park(make(1, 100))
    try other.make([index])
    try garage.park(make(2, 100))
    return garage
  }

  @Test(arguments: open) func queriesOfWhoListens(_ backend: Backend) async throws {
    let garage = try prepare(Place(backend), Index(\Counter.value)) { Counter(id: $0, value: $1) }
    var hundreds = garage.values(of: garage.query(Counter.self).where(\.value == 100)).makeAsyncIterator()
    var counts = garage.values(of: garage.query(Counter.self).where(\.value < 5)).makeAsyncIterator()
    #expect(try await hundreds.next()?.map(\.id) == [1, 2])
    #expect(try await counts.next()?.map(\.id) == [0, 3, 4])
    try await garage.park(Counter(id: 3, value: 100))
    #expect(try await hundreds.next()?.map(\.id) == [1, 2, 3])
    #expect(try await counts.next()?.map(\.id) == [0, 4])
    try await garage.save()
    #expect(try await garage.query(Counter.self).where(\.value == 100).values(\.id) == [1, 2, 3])
    #expect(try await garage.verifyIndexes().isSound)
  }

  @Test(arguments: open) func queriesOfWhoListensAndDecodesWhereHeIs(_ backend: Backend) async throws {
    let garage = try prepare(Place(backend), Index(\Card.value)) { Card(id: $0, value: $1) }
    var hundreds = garage.values(of: garage.query(Card.self).where(\.value == 100)).makeAsyncIterator()
    #expect(try await hundreds.next()?.map(\.id) == [1, 2])
    #expect(try await garage.query(Card.self).where(\.value == 100).retrieveAll().map(\.id) == [1, 2])
  }

  @Test(arguments: open) func queriesOfWhoWritesAndIsHeard(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    // Somebody who never asks.
    let changes = garage.changes().makeAsyncIterator()
    defer { withExtendedLifetime(changes) {} }
    let other = try place.garage()
    try await garage.parkAll((0..<10).map { Counter(id: $0, value: $0) })
    garage.isAutosaveEnabled = false
    try await garage.park(Counter(id: 1, value: 100))
    try other.make([Index(\Counter.value)])
    try await garage.park(Counter(id: 2, value: 100))
    let (hundreds, groups) = try await garage.write { writer in
      try writer.park(Counter(id: 3, value: 100))
      return (
        try writer.query(Counter.self).where(\.value == 100).values(\.id),
        try writer.query(Counter.self).countByValue(\.value)
      )
    }
    #expect(hundreds == [1, 2, 3])
    #expect(groups[100] == 3 && groups[1] == nil)
    try await garage.save()
    #expect(try await other.query(Counter.self).where(\.value == 100).values(\.id) == [1, 2, 3])
    #expect(try await other.verifyIndexes().isSound)
  }

  /// What is changed and heard gets entries in the indexes that are known, as where nobody listens.
  @Test(arguments: open) func indexesOfWhatIsHeard(_ backend: Backend) async throws {
    func used(isHeard: Bool) throws -> [String] {
      let garage = try Place(backend).garage()
      let changes = isHeard ? garage.changes().makeAsyncIterator() : nil
      defer { withExtendedLifetime(changes) {} }
      try garage.make([Index(\Counter.value)])
      try garage.parkAll((0..<10).map { Counter(id: $0, value: $0) })
      garage.isAutosaveEnabled = false
      try garage.park(Counter(id: 1, value: 100))
      #expect(try garage.query(Counter.self).where(\.value == 100).values(\.id) == [1])
      return try garage.query(Counter.self).where(\.value == 100).explain().indexes
    }
    #expect(try used(isHeard: true) == used(isHeard: false))
    #expect(try used(isHeard: true) == ["value"])
  }
}

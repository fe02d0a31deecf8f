import Foundation
import GarageStorage
import Observation
import Synchronization
import Testing

/// What views show follows the garage.
@MainActor @Suite struct LiveQueryTests {
  /// Waits until an observed value satisfies a condition, woken by observation alone.
  private func observe(_ isEnough: @MainActor () -> Bool) async -> Bool {
    for _ in 0..<100 {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      let isDone = withObservationTracking {
        isEnough()
      } onChange: {
        continuation.yield()
        continuation.finish()
      }
      if isDone { return true }
      for await _ in changes {}
    }
    return false
  }

  @Test(arguments: Backend.engines) func queriesAreFollowed(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.park(Counter(id: 1, value: 1))
    let live = LiveQuery(garage.query(Counter.self).where(\.value > 0), in: garage)
    #expect(live.isLoading && live.results.isEmpty)
    #expect(await observe { live.results.count == 1 })
    #expect(!live.isLoading && live.error == nil)
    try await garage.park(Counter(id: 2, value: 2))
    #expect(await observe { live.results.map(\.id) == [1, 2] })
  }

  private enum Formerly {
    struct Tin: Codable, Identifiable, TypeTagged {
      nonisolated static var typeTag: String { "tin that is followed" }
      var id: Int
      var size: Int
    }
  }
  private struct Tin: Codable, Identifiable, TypeTagged, Indexed, Equatable, Sendable {
    nonisolated static var typeTag: String { "tin that is followed" }
    nonisolated static var indexes: [Index<Tin>] { [Index(\Tin.size)] }
    var id: Int
    var size: Int
  }

  /// Indexes that are new are made where nobody asks but who listens.
  @Test(arguments: Backend.engines.filter { !$0.isSealed }) func indexesAreMade(_ backend: Backend)
    async throws
  {
    let place = try Place(backend)
    let garage = try place.garage()
    for id in 0..<20 { try await garage.park(Formerly.Tin(id: id, size: id % 4)) }
    try await garage.close()
    let other = try place.garage()
    let live = LiveQuery(other.query(Tin.self).where(\.size == 3), in: other)
    #expect(await observe { live.results.map(\.id) == [3, 7, 11, 15, 19] })
    let third = try place.garage()
    #expect(try await third.indexes(of: Tin.self).map(\.state) == [.ready])
  }

  @Test(arguments: Backend.engines) func objectsAreFollowed(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let live = LiveObject(Counter.self, identifier: 1, in: garage)
    #expect(await observe { !live.isLoading })
    #expect(live.object == nil)
    try await garage.park(Counter(id: 1, value: 1))
    #expect(await observe { live.object?.value == 1 })
    try await garage.close()
    _ = live
  }

  private struct Chapter: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var page: Counter
  }

  /// Also where what is read again equals what was there before the error.
  @Test(arguments: Backend.engines) func anErrorIsOverWhenItsReasonIs(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let chapter = Chapter(id: 1, page: Counter(id: 7, value: 1))
    try await garage.park(chapter)
    let live = LiveObject(Chapter.self, identifier: 1, in: garage)
    #expect(await observe { live.object == chapter })
    try await garage.delete(Counter.self, identifier: 7)
    #expect(await observe { live.error != nil })
    try await garage.park(chapter.page)
    #expect(try await comesTrue { live.error == nil })
    #expect(live.object == chapter)
  }

  /// The view model that `Docs/Observing.md` points at.
  @Test(arguments: Backend.engines) func theLibraryFollows(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let model = LibraryModel(in: garage)
    await model.add("Middlemarch", id: "m")
    await model.add("Emma", id: "e")
    #expect(await observe { model.shelf.results.map(\.title) == ["Emma", "Middlemarch"] })
    await model.lend(model.shelf.results[0], to: "Sam")
    #expect(await observe { model.borrowed.results.map(\.borrower) == ["Sam"] })
    #expect(await observe { model.shelf.results.count == 1 })
    await model.giveAway(model.shelf.results[0])
    #expect(await observe { model.shelf.results.isEmpty })
    #expect(model.problem == nil)
    await model.giveAway(Book(id: "x", title: ""))
    #expect(model.problem != nil)
  }

  /// Whoever lets go of it ends it.
  @Test func itEndsWithItsOwner() async throws {
    let garage = try Place(.memory).garage()
    var live: LiveQuery<Counter>? = LiveQuery(garage.query(Counter.self), in: garage)
    weak let kept = live
    #expect(await observe { live?.isLoading == false })
    live = nil
    // What it was doing ends first, which takes a while where much else runs.
    #expect(try await comesTrue { kept == nil })
  }
}

import Foundation
import GarageStorage
import Observation
import Synchronization
import Testing

/// Which thread a query for a task decodes objects on: one of the library's, if their type belongs to no actor.
@MainActor @Suite(.serialized) struct QueryPlaceTests {
  private enum Where: Hashable { case here, elsewhere }
  nonisolated private static let places = Mutex<(main: pthread_t?, seen: Set<Where>)>((nil, []))

  /// It notes where it is decoded.
  nonisolated private struct Crate: Codable, Identifiable {
    var id: Int
    var size: Int
    init(_ id: Int) { (self.id, size) = (id, id % 4) }

    enum CodingKeys: String, CodingKey { case id, size }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      size = try container.decode(Int.self, forKey: .size)
      QueryPlaceTests.places.withLock { places in
        places.seen.insert(
          places.main.map { pthread_equal($0, pthread_self()) != 0 } == true ? .here : .elsewhere)
      }
    }
  }

  /// Where objects were decoded during `body`.
  private func places(of body: () async throws -> Void) async throws -> Set<Where> {
    Self.places.withLock { $0 = (pthread_self(), []) }
    try await body()
    return Self.places.withLock { $0.seen }
  }

  private func filled(_ backend: Backend) async throws -> Garage {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<30).map { Crate($0) })
    return garage
  }

  @Test(arguments: Backend.engines) func everyEndLeavesTheCaller(_ backend: Backend) async throws {
    let garage = try await filled(backend)
    let all = garage.query(Crate.self)
    // A predicate is asked of decoded objects, so that every end decodes some.
    let some = all.where(matching: #Predicate { $0.size > 1 })
    let ends: [(String, @MainActor (Query<Crate>) async throws -> Void)] = [
      ("retrieveAll", { _ = try await $0.retrieveAll() }), ("first", { _ = try await $0.first() }),
      ("count", { _ = try await $0.count() }), ("isEmpty", { _ = try await $0.isEmpty() }),
      ("identifiers", { _ = try await $0.identifiers() }), ("values", { _ = try await $0.values(\.size) }),
      ("two values", { _ = try await $0.values(\.size, \.id) }),
      ("distinct", { _ = try await $0.distinct(\.size) }),
      ("countByValue", { _ = try await $0.countByValue(\.size) }),
      ("min", { _ = try await $0.min(\.size) }), ("max", { _ = try await $0.max(\.size) }),
      ("sum", { _ = try await $0.sum(\.size) }), ("average", { _ = try await $0.average(\.size) }),
      ("page", { _ = try await $0.page(size: 5) }), ("forEach", { try await $0.forEach { _ in } }),
      ("objects", { for try await _ in $0.objects() {} }),
      ("updateAll", { _ = try await $0.updateAll { $0.size += 0 } }),
      ("deleteAll", { _ = try await $0.limit(1).deleteAll() }),
    ]
    for (name, end) in ends {
      #expect(try await places { try await end(some) } == [.elsewhere], "\(name)")
    }
    #expect(try await places { try await all.forEach { _ in } } == [.elsewhere])
    #expect(try await places { for try await _ in all.objects() {} } == [.elsewhere])
    #expect(try await places { _ = try await all.retrieveAll() } == [.elsewhere])
  }

  @Test(arguments: Backend.engines) func soDoesWhoFollows(_ backend: Backend) async throws {
    let garage = try await filled(backend)
    let query = garage.query(Crate.self).where(\.size == 3)
    let byValues = try await places {
      for try await crates in garage.values(of: query) where !crates.isEmpty { break }
    }
    #expect(byValues == [.elsewhere])
    let byLiveQuery = try await places {
      let live = LiveQuery(query, in: garage)
      while live.isLoading {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
          _ = live.isLoading
        } onChange: {
          continuation.finish()
        }
        if live.isLoading { for await _ in changes {} }
      }
      #expect(live.results.count == 7)
    }
    #expect(byLiveQuery == [.elsewhere])
  }

  /// There the type may belong to the caller's actor.
  @Test(arguments: Backend.engines) func genericCodeDecodesWhereItIs(_ backend: Backend) async throws {
    @MainActor func visit<T: Codable>(_ query: Query<T>) async throws {
      _ = try await query.retrieveAll()
      try await query.forEach { _ in }
      for try await _ in query.objects() {}
    }
    let garage = try await filled(backend)
    #expect(try await places { try await visit(garage.query(Crate.self)) } == [.here])
  }
}

import Testing

@testable import GarageStorage

/// Deletion of what a query finds, by rules.
@Suite struct QueryRuleTests {
  /// A garage whose store has beads, and is to have an index of references.
  private func beads(_ backend: Backend) throws -> Garage {
    let place = try Place(backend)
    let before = try place.garage()
    try before.parkAll(
      (0..<4).map { Bead(id: $0, next: $0 == 0 ? Reference(Bead.self, identifier: 3) : nil) })
    try before.close()
    return try backend.relations(place, isIndexed: true)
  }

  /// Who asks for referrers makes the index ready, or all records would be read each time.
  @Test(arguments: Backend.engines)
  func makesTheIndexReady(_ backend: Backend) throws {
    let garage = try beads(backend)
    #expect(try garage.query(Bead.self).where(\.id == 0).deleteAll() == 1)
    #expect(try garage.query(Bead.self).identifiers().count == 2)
    #expect(try garage.referrerIndex()?.state == .ready)
  }

  @Test(arguments: Backend.engines)
  func makesTheIndexReadyInTasks(_ backend: Backend) async throws {
    let garage = try beads(backend)
    #expect(try await garage.query(Bead.self).where(\.id == 0).deleteAll() == 1)
    #expect(try await garage.query(Bead.self).identifiers().count == 2)
    #expect(try await garage.referrerIndex()?.state == .ready)
  }
}

import Testing

@testable import GarageStorage

/// Hashed indexes that come into a store behind unsaved changes, whose entries have hashes of their own.
@Suite struct UnsavedHashTests {
  private func numbers(_ identities: [RecordIdentity]) -> [Int] {
    identities.compactMap { Int($0.identifier.description) }
  }

  @Test(arguments: Backend.engines, [true, false])
  func referrersAreFound(_ backend: Backend, madeByAnother: Bool) throws {
    let place = try Place(backend)
    let hub = Hub(id: "a")
    let before = try place.garage()
    try before.park(Wheel(id: 1, hub: hub))
    try before.close()
    let garage = try Garage(place.open(), referrers: .hashed)
    garage.isAutosaveEnabled = false
    try garage.park(Wheel(id: 2, hub: hub))
    if madeByAnother {
      // On the same storage, where it is made and filled.
      let other = try Garage(place.open(), referrers: .hashed)
      #expect(try numbers(other.referrers(of: hub)) == [1])
    }
    #expect(try numbers(garage.referrers(of: hub)) == [1, 2])
    try garage.park(Wheel(id: 3, hub: hub))
    #expect(try numbers(garage.referrers(of: hub)) == [1, 2, 3])
    #expect(throws: GarageError.self) { try garage.delete(hub, referrers: .deny) }
    try garage.save()
    #expect(try numbers(garage.referrers(of: hub)) == [1, 2, 3])
    #expect(try garage.explainReferrers().indexes == ["referrers"])
    #expect(try garage.verifyIndexes().isSound)
  }
}

import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Whoever listens to a garage that is closed does not wait for ever.
@Suite struct ClosedListenerTests {
  @Test(arguments: Backend.allCases) func whoBeginsTooLateIsNotLeftWaiting(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    var early = garage.changes().makeAsyncIterator()
    try await garage.close()
    #expect(await early.next() == nil)
    for await _ in garage.changes() { Issue.record("a closed garage changed") }
    var values = garage.values(of: .launchCount).makeAsyncIterator()
    // Asked again, it says the same.
    for _ in 0..<2 { await #expect(throws: GarageError.closed) { _ = try await values.next() } }
  }

  /// Garages on one storage, which one of them closes for all.
  @Test(arguments: Backend.sharedAndSealed) func whoListensToAnotherGarageOfTheStorageIsTold(
    _ backend: Backend
  )
    async throws
  {
    let storage = try Place(backend).open()
    let (garage, other) = (try Garage(storage), try Garage(storage))
    var changes = other.changes().makeAsyncIterator()
    var values = other.values(of: .launchCount).makeAsyncIterator()
    #expect(try await values.next() == 0)
    try await garage.close()
    #expect(await changes.next() == nil)
    await #expect(throws: GarageError.closed) { _ = try await values.next() }
  }

  /// Or whoever has the storage itself; it is looked for where other processes' commits are.
  @Test(arguments: Backend.sharedAndSealed + (Backend.isOnServer ? [] : [.memory]))
  func whoListensWhileTheStorageIsClosedIsTold(_ backend: Backend) async throws {
    try await checkClosing(Place(backend).open())
  }

  /// No other process ever commits to it.
  @Test func whoListensWhileSealedMemoryIsClosedIsTold() async throws {
    try await checkClosing(SealedStorage(MemoryStorage(), sealer: InsecureTestSealer(key: 7)))
  }

  private func checkClosing(_ storage: any StorageDriver) async throws {
    let garage = try Garage(storage)
    var changes = garage.changes().makeAsyncIterator()
    var values = garage.values(of: .launchCount).makeAsyncIterator()
    #expect(try await values.next() == 0)
    try storage.close()
    #expect(await changes.next() == nil)
    await #expect(throws: GarageError.closed) { _ = try await values.next() }
    // Too late to be told by anybody.
    for await _ in garage.changes() { Issue.record("a closed storage changed") }
  }
}

import Foundation
import GarageDriver
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

@testable import GarageChild

/// What takes another process.
@Suite(.serialized) struct SeveralProcessesTests {
  /// Nothing of what two processes write at once is lost, and each reads types the other introduced.
  @Test(arguments: Backend.shared)
  func twoProcessesShareAStore(_ backend: Backend) throws {
    let place = try Place(backend)
    let rounds = 100
    // This process knows neither apples nor pears, and has never encoded a note.
    let garage = try Garage(openStorage(backend.rawValue, at: place.storePath.path))
    try garage.park(Fruit("a plum"))
    let left = try Child("share", backend.rawValue, place.storePath.path, "left", "\(rounds)")
    let right = try Child("share", backend.rawValue, place.storePath.path, "right", "\(rounds)")
    for child in [left, right] {
      #expect(try child.firstLine().hasPrefix("ready="))
    }
    for child in [left, right] { try child.send("go") }
    for number in 0..<rounds { try garage.park(Counter(id: number)) }
    #expect(try left.wait()["seen"] == "\(rounds)")
    #expect(try right.wait()["seen"] == "\(rounds)")

    #expect(try garage.retrieve(Tally.self, identifier: 0)?.count == 2 * rounds)
    #expect(try garage.retrieveAll(LeftNote.self).map(\.left) == (0..<rounds).map { "round \($0)" })
    #expect(try garage.retrieveAll(RightNote.self).map(\.right) == (0..<rounds).map { ["round", "\($0)"] })
    #expect(try garage.count(Counter.self) == rounds)
    #expect(try garage.count(Fruit.self) == 2 * rounds + 1)
    // The name of a class that only the other processes know is found in the store.
    #expect {
      try garage.retrieve(Fruit.self, identifier: "pear 7")
    } throws: { error in
      if case .unregisteredClass(let tag, _, "pear 7")? = error as? GarageError {
        tag.hasSuffix("Pear")
      } else {
        false
      }
    }
    try garage.close()
    let knowing = try Garage(
      openStorage(backend.rawValue, at: place.storePath.path), types: [Apple.self, Pear.self])
    #expect(try knowing.count(Apple.self) == rounds)
    #expect(try knowing.retrieveAll(Pear.self).count == rounds)
    try knowing.close()
  }

  /// Sets and dictionaries have another order in every process; the digest has not.
  @Test func aValueHasOneDigestInEveryProcess() throws {
    let here = try Garage(openStorage("memory", at: "")).identifier(for: Basket.sample).description
    for _ in 0..<3 {
      #expect(try Child("digest").wait()["identifier"] == here)
    }
  }

  /// The tags of private and local types are the same in the next process.
  @Test(arguments: Backend.sharedAndSealed)
  func privateTypesAreFoundByTheNextProcess(_ backend: Backend) throws {
    let place = try Place(backend)
    for round in 0..<3 {
      #expect(try Child("hidden", backend.rawValue, place.storePath.path).wait()["found"] == "\(round)")
    }
  }

  /// Making a garage takes the writer's lock. On LMDB it is waited for without limit.
  @Test(arguments: [false, true])
  func aStoreThatAnotherProcessWritesToIsBusy(isSealed: Bool) throws {
    let place = try Place(isSealed ? .sealedSQLite : .sqlite)
    let child = try Child("hold", place.backend.rawValue, place.storePath.path)
    #expect(try child.firstLine().hasPrefix("ready="))
    var options = SQLiteStorage.Options()
    options.busyTimeout = .milliseconds(50)
    let storage = try SQLiteStorage(at: place.storePath, options: options)
    let sealed = isSealed ? try SealedStorage(storage, sealer: InsecureTestSealer(key: 7)) : nil
    #expect {
      try Garage(sealed ?? storage)
    } throws: { error in
      guard case .storage(let error)? = error as? GarageError else { return false }
      return error.kind == .busy && error.isRetryable && !error.message.isEmpty
    }
    try child.send("let go")
    try child.wait()
    try Garage(sealed ?? storage).park(Counter(id: 1))
    try storage.close()
  }

  /// One object after another, in 64 MiB above the empty process however many there are.
  @Test(arguments: Backend.sharedAndSealed)
  func goingThroughAllObjectsTakesBoundedMemory(_ backend: Backend) throws {
    try measure(backend, count: 50_000)
  }

  @Test(.enabled(if: runsLongTests), arguments: Backend.shared)
  func goingThroughAMillionObjectsTakesBoundedMemory(_ backend: Backend) throws {
    try measure(backend, count: 1_000_000)
  }

  private func measure(_ backend: Backend, count: Int) throws {
    #if os(Linux)
      let place = try Place(backend)
      try Child("fill", backend.rawValue, place.storePath.path, "\(count)").wait()
      let figures = try Child("measure-foreach", backend.rawValue, place.storePath.path, "\(count)").wait()
      #expect(figures["visited"] == "\(count)")
      Attachment.record("\(backend) \(count): \(figures)\n", named: "memory.txt")
      try FileManager.default.removeItem(at: place.folder)
    #endif
  }
}

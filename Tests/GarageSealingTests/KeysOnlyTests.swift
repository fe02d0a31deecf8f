import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization
import Testing

/// What asks whether there is something, or how many, reads no value and opens none.
@Suite struct KeysOnlyTests {
  private struct Box: Codable, Identifiable {
    var id: Int
    var content = [UInt8](repeating: 7, count: 5000)
  }

  /// Counts the values that are opened.
  private struct CountingSealer: Sealer {
    let base = InsecureTestSealer(key: 9)
    let opened: Counter
    var keyIdentifier: UInt32 { base.keyIdentifier }
    func maximumValueByteCount(sealedInto byteCount: Int) -> Int {
      base.maximumValueByteCount(sealedInto: byteCount)
    }
    func seal(_ value: Data, context: Data) throws -> Data { try base.seal(value, context: context) }
    func open(_ sealed: Data, context: Data) throws -> Data { try base.open(sealed, context: context) }
    func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      try base.seal(value, context: context, into: output)
    }
    func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      opened.value.add(1, ordering: .relaxed)
      try base.open(sealed, context: context, into: output)
    }
  }

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
    func count(_ body: () throws -> Void) throws -> Int {
      let before = value.load(ordering: .relaxed)
      try body()
      return value.load(ordering: .relaxed) - before
    }
  }

  @Test(arguments: [false, true])
  func countingAndFindingOpenNothing(isUnsaved: Bool) throws {
    let opened = Counter()
    let garage = try Garage(SealedStorage(MemoryStorage(), sealer: CountingSealer(opened: opened)))
    try garage.parkAll((0..<1000).map { Box(id: $0) })
    garage.isAutosaveEnabled = !isUnsaved
    if isUnsaved { try garage.park(Box(id: 1000)) }
    var answers: [Int] = []
    let count = try opened.count {
      answers.append(try garage.count(Box.self))
      answers.append(try garage.contains(Box.self, identifier: 5) ? 1 : 0)
      answers.append(try garage.contains(Box.self, identifier: -5) ? 1 : 0)
    }
    #expect(answers == [isUnsaved ? 1001 : 1000, 1, 0])
    #expect(count == 0)
    let countOfRetrieving = try opened.count { _ = try garage.retrieve(Box.self, identifier: 5) }
    #expect(countOfRetrieving > 0)
    // What goes through objects opens each of them.
    let countOfGoingThrough = try opened.count { try garage.forEach(Box.self) { _ in } }
    #expect(countOfGoingThrough >= 1000)
  }

  /// A value that was changed is there, and whoever reads it is told.
  @Test func whatWasChangedShowsWhenItIsRead() throws {
    let memory = MemoryStorage()
    let sealed = try SealedStorage(memory, sealer: InsecureTestSealer(key: 9))
    for number in UInt8(0)..<3 {
      try sealed.write { transaction in
        try transaction.put([number], for: StorageKey([number]))
        return .commit(())
      }
    }
    try memory.write { transaction in
      var value = try transaction.value(for: StorageKey([1]))!
      value[value.count - 1] ^= 1
      try transaction.put(value, for: StorageKey([1]))
      return .commit(())
    }
    try sealed.read { transaction in
      #expect(try transaction.contains(StorageKey([1])))
      var count = 0
      try transaction.scanKeys(.all, .forward) { _ in
        count += 1
        return .continue
      }
      #expect(count == 3)
      #expect { try transaction.value(for: StorageKey([1])) } throws: {
        ($0 as? StorageError)?.kind == .tampered
      }
    }
  }
}

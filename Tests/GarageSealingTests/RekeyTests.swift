import Foundation
import GarageDriver
import GarageSealing
import InsecureSealer
import Synchronization
import Testing

/// `rekey` seals everything under the new key, also after an interruption.
@Suite struct RekeyTests {
  let old = InsecureTestSealer(key: 1)
  let new = InsecureTestSealer(key: 2)

  private func entries(_ count: Int) -> [String: String] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { (String(format: "%05d", $0), "value \($0)") })
  }

  @Test(arguments: SealedBase.allCases)
  func sealsEverythingAgain(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let all = entries(250)
    try place.sealed(old).put(all)
    let storage = try place.sealed(new, former: [old])
    // Several are read while one writes.
    try storage.put(["00007": "changed", "later": "new"])
    let expected = all.merging(["00007": "changed", "later": "new"]) { $1 }
    #expect(try storage.entries() == expected)

    var steps: [RekeyProgress] = []
    let result = try storage.rekey(batchCount: 20) { steps.append($0) }
    #expect(result.isComplete)
    #expect(result.totalCount == 251 && result.examinedCount == 251)
    #expect(result.resealedCount == 249 && result.failedCount == 0)
    #expect(steps.count >= 13 && steps.last == result)
    #expect(steps.map(\.examinedCount) == steps.map(\.examinedCount).sorted())
    #expect(try storage.entries() == expected)
    // The old key is not needed any more, and not enough.
    #expect(try place.sealed(new).entries() == expected)
    #expect(storageError { _ = try place.sealed(old) }?.kind == .wrongKey)
    // Again it only looks.
    let again = try storage.rekey(batchCount: 20)
    #expect(again.resealedCount == 0 && again.isComplete)
  }

  /// As many as can be said, and numbers that mean nothing.
  @Test(arguments: [Int.max, .max / 100 + 1, .max / 100, 1 << 20, 0, -1, .min])
  func takesAnyNumberForABatch(_ batchCount: Int) throws {
    let place = try SealedPlace(.memory)
    let all = entries(20)
    try place.sealed(old).put(all)
    var steps = 0
    let result = try place.sealed(new, former: [old]).rekey(batchCount: batchCount) { _ in steps += 1 }
    #expect(result.isComplete && result.resealedCount == 20)
    #expect(batchCount > 0 ? steps == 1 : steps >= 20, "\(steps) batches")
    #expect(try place.sealed(new).entries() == all)
  }

  private struct Interrupted: Error {}

  @Test(arguments: SealedBase.allCases)
  func goesOnAfterAnInterruption(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let all = entries(100)
    try place.sealed(old).put(all)
    for _ in 0..<3 {
      let storage = try place.sealed(new, former: [old])
      #expect(throws: Interrupted.self) {
        try storage.rekey(batchCount: 10) { if $0.resealedCount > 10 { throw Interrupted() } }
      }
      #expect(try storage.entries() == all)
      // Half of one key and half of the other: both are needed, and opening says so.
      for alone in [old, new] { #expect(storageError { _ = try place.sealed(alone) }?.kind == .wrongKey) }
    }
    let result = try place.sealed(new, former: [old]).rekey(batchCount: 10)
    #expect(result.isComplete && result.resealedCount == 40)
    #expect(try place.sealed(new).entries() == all)
  }

  @Test func leavesAndReportsWhatDoesNotOpen() throws {
    let place = try SealedPlace(.memory)
    try place.sealed(old).put(entries(50))
    let plain = try place.plain()
    let damaged = try #require(try plain.raw("00007"))
    try plain.put(raw: damaged, for: "00009")
    try plain.put(raw: [1, 2, 3], for: "00011")
    let storage = try place.sealed(new, former: [old])
    let result = try storage.rekey(batchCount: 7)
    #expect(!result.isComplete && result.failedCount == 2 && result.resealedCount == 48)
    #expect(result.failures.map(\.kind) == [.tampered, .notSealed])
    #expect(try plain.raw("00009") == damaged)
    #expect(try plain.raw("00011") == [1, 2, 3])
  }

  /// Batches end by size, too.
  @Test func splitsLargeValues() throws {
    let place = try SealedPlace(.memory)
    let large = String(repeating: "x", count: 3 << 20)
    try place.sealed(old).put(["a": large, "b": large, "c": large, "d": large, "e": "small"])
    var steps = 0
    let result = try place.sealed(new, former: [old]).rekey { _ in steps += 1 }
    #expect(result.resealedCount == 5 && steps == 2)
    #expect(try place.sealed(new).text("d") == large)
  }

  /// Where several write at a time, a batch that comes into conflict with others is made again, though not for ever.
  @Test func isMadeAgainAfterConflicts() throws {
    let place = try SealedPlace(.memory)
    let all = entries(100)
    try place.sealed(old).put(all)
    let contended = ContendedStorage(try place.plain())
    let storage = try SealedStorage(contended, sealer: new, formerSealers: [old])
    contended.conflictCount.store(5, ordering: .relaxed)
    var steps: [RekeyProgress] = []
    let result = try storage.rekey(batchCount: 40) { steps.append($0) }
    #expect(result.isComplete && result.resealedCount == 100 && result.examinedCount == 100)
    #expect(steps.map(\.resealedCount) == steps.map(\.resealedCount).sorted() && steps.last == result)
    #expect(try place.sealed(new).entries() == all)
    contended.conflictCount.store(.max, ordering: .relaxed)
    #expect(storageError { _ = try storage.rekey() }?.kind == .conflict)
  }

  /// An error of the sealer ends the work, whatever its kind: it is not taken for a value that does not open, and nothing of what
  /// was sealed in part comes before the next value.
  @Test(arguments: [StorageError.Kind.wrongKey, .tampered, .newerFormat, .sealingFailed])
  func endsWhereTheSealerRefuses(_ kind: StorageError.Kind) throws {
    let place = try SealedPlace(.memory)
    let all = entries(50)
    try place.sealed(old).put(all)
    let refusing = RefusingSealer(base: new, refused: "value 7", kind: kind)
    let storage = try place.sealed(refusing, former: [old])
    #expect(storageError { _ = try storage.rekey(batchCount: 5) }?.kind == kind)
    #expect(try place.sealed(new, former: [old]).entries() == all)
    #expect(try place.sealed(new, former: [old]).rekey().isComplete)
    #expect(try place.sealed(new).entries() == all)
  }

  @Test func anEmptyStoreIsComplete() throws {
    #expect(try SealedPlace(.memory).sealed(new, former: [old]).rekey().isComplete)
  }
}

/// Refuses to seal one value.
private struct RefusingSealer: Sealer {
  let base: InsecureTestSealer
  let refused: String
  let kind: StorageError.Kind

  var keyIdentifier: UInt32 { base.keyIdentifier }

  func seal(_ value: Data, context: Data) throws -> Data {
    if value == Data(refused.utf8) {
      throw StorageError(kind, during: .put, driver: "test", message: "The test wants it so.")
    }
    return try base.seal(value, context: context)
  }

  func open(_ sealed: Data, context: Data) throws -> Data { try base.open(sealed, context: context) }
}

/// Lets others come first, as often as it is told to.
private final class ContendedStorage: StorageDriver {
  private let base: any StorageDriver
  let conflictCount = Atomic<Int>(0)

  init(_ base: any StorageDriver) { self.base = base }

  var info: StorageInfo { base.info }
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { transaction in
      let outcome = try body(transaction)
      if conflictCount.load(ordering: .relaxed) == 0 { return outcome }
      conflictCount.subtract(1, ordering: .relaxed)
      throw StorageError(
        .conflict, during: .commit, driver: "test", isRetryable: true, message: "The test wants it so.")
    }
  }
  func close() throws { try base.close() }
}

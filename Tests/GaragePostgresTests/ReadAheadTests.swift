import Foundation
import GarageDriver
import GaragePostgres
import PostgresStacks
import Testing

/// Scans ask for their next page before they need it: whatever else is asked meanwhile, and wherever they end, each answer goes to
/// its question.
@Suite struct ReadAheadTests {
  private static let count = 12_000

  private static func name(_ number: Int) -> String { "k\(String(100_000 + number).dropFirst())" }
  private static func value(_ number: Int) -> [UInt8] {
    // Some do not come along with their page, and one is in pieces.
    let byteCount = number == 7000 ? 600 << 10 : number.isMultiple(of: 1499) ? 20 << 10 : number % 40
    return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount)
  }

  private func filled(_ writers: PostgreSQLStorage.Options.Writers) throws -> PostgreSQLStorage {
    let storage = try Server.open(Server.newName(), writers)
    try storage.write { transaction in
      for number in 0..<Self.count { try transaction.put(Self.value(number), for: key(Self.name(number))) }
      return .commit(())
    }
    return storage
  }

  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func everyAnswerGoesToItsQuestion(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let storage = try filled(writers)
    for direction in [ScanDirection.forward, .backward] {
      // Where the scan ends, and how often something else is asked meanwhile.
      for (end, step) in [(Self.count, 0), (Self.count, 500), (1, 1), (1344, 3), (1345, 100), (3000, 700)] {
        try storage.read { transaction in
          var seen = 0
          try transaction.scan(.all, direction) { foundKey, foundValue in
            let number = direction == .forward ? seen : Self.count - 1 - seen
            #expect([UInt8](copying: foundKey) == [UInt8](Self.name(number).utf8))
            #expect([UInt8](copying: foundValue) == Self.value(number))
            seen += 1
            if step > 0, seen.isMultiple(of: step) { try askOther(transaction, seen) }
            return seen == end ? .stop : .continue
          }
          #expect(seen == end)
          try askOther(transaction, 17)
        }
        // The connection is the next transaction's.
        try storage.write { transaction in
          #expect(try transaction.value(for: key(Self.name(3))) == Self.value(3))
          try transaction.put([9], for: key("other"))
          return .rollBack(())
        }
      }
    }
    struct Stop: Error {}
    for end in [10, 1400, 2000] {
      var seen = 0
      #expect(throws: Stop.self) {
        try storage.read {
          try $0.scanKeys(.all, .forward) { _ in
            seen += 1
            if seen == end { throw Stop() }
            return .continue
          }
        }
      }
      #expect(try storage.read { try $0.value(for: key(Self.name(end))) } == Self.value(end))
    }
  }

  /// Gets, many gets, and a scan inside the scan, which ends somewhere itself.
  private func askOther(_ transaction: any ReadTransaction, _ seen: Int) throws {
    let number = seen * 31 % Self.count
    #expect(try transaction.value(for: key(Self.name(number))) == Self.value(number))
    #expect(try !transaction.contains(key("nothing")))
    try transaction.withValues(for: [key(Self.name(7000)), key("nothing")]) { index, value in
      #expect(value?.byteCount == (index == 0 ? 600 << 10 : nil))
    }
    var inner = 0
    try transaction.scanKeys(.prefix([UInt8]("k".utf8)), .forward) { found in
      #expect([UInt8](copying: found) == [UInt8](Self.name(inner).utf8))
      inner += 1
      return inner == 1 + seen * 7 % 2500 ? .stop : .continue
    }
  }

  /// A page that was asked for ahead and failed does not end a scan as the last page does, also where somebody else was told of
  /// the failure, and has passed over it. From then on everything fails for that reason.
  @Test func aPageThatFailsAheadIsNotTheLast() throws {
    let storage = try filled(.several)
    let (begun, goOn, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    // It has read what another one changes, and commits behind it: whoever sees that change, and not this one, is in conflict
    // when he comes to it.
    Thread.detachNewThread {
      do {
        try storage.write { transaction in
          _ = try transaction.value(for: key(Self.name(0)))
          begun.signal()
          goOn.wait()
          try transaction.put([1], for: key(Self.name(8000) + "x"))
          return .commit(())
        }
      } catch {
        Issue.record("\(error)")
        begun.signal()
      }
      done.signal()
    }
    begun.wait()
    try storage.write { transaction in
      try transaction.put([1], for: key(Self.name(0)))
      return .commit(())
    }
    var (seen, kinds): (Int, [StorageError.Kind?]) = (0, [])
    let error = #expect(throws: StorageError.self) {
      try storage.read { transaction in
        goOn.signal()
        done.wait()
        try transaction.scanKeys(.all, .forward) { _ in
          seen += 1
          if seen.isMultiple(of: 1000) {
            do { _ = try transaction.contains(key(Self.name(0))) } catch {
              kinds.append((error as? StorageError)?.kind)
            }
          }
          return .continue
        }
      }
    }
    #expect(error?.kind == .conflict && seen < 8000, "\(String(describing: error)) behind \(seen)")
    #expect(!kinds.isEmpty && kinds.allSatisfy { $0 == .conflict }, "\(kinds)")
  }

  /// A write sees what it has put into the rest of a range between two scans, and its scans wait for nothing.
  @Test func writesReadNothingAhead() throws {
    let storage = try filled(.several)
    try storage.write { transaction in
      for round in 0..<3 {
        try transaction.remove(key(Self.name(4000 + round)))
        var keys: [[UInt8]] = []
        try transaction.scanKeys(.all, .forward) {
          keys.append([UInt8](copying: $0))
          return .continue
        }
        #expect(keys.count == Self.count - round - 1)
        #expect(!keys.contains([UInt8](Self.name(4000 + round).utf8)))
      }
      return .rollBack(())
    }
  }
}

import Foundation
import GarageConformance
import GarageDriver
import GarageMemory
import Synchronization
import Testing

@testable import ConformanceChild

/// The suite rejects each broken driver, by the check that was made for it.
@Suite struct MutantTests {
  @Test func thereAreAtLeastFifteen() {
    #expect(Mutation.allCases.count >= 15)
  }

  @Test(arguments: Mutation.allCases)
  func isRejected(_ mutation: Mutation) throws {
    let stack = try #require(Stack(named: "Mutant(\(mutation))"))
    let check = try #require(Conformance.check(named: mutation.check))
    var options = stack.options()
    // A thread that waits for ever is left behind; this long the suite waits for it.
    if mutation.isDeadlock { options.patience = 2 }
    do {
      try check.run(options, stack.open)
      Issue.record("\(check) let \(mutation) pass")
    } catch let failure as ConformanceFailure {
      #expect(failure.check == mutation.check)
      #expect(failure.rule == check.rule)
      let isDeadlock = failure.seen.contains("a deadlock?")
      #expect(isDeadlock == mutation.isDeadlock, "\(failure)")
    }
  }

  /// Whoever says less of itself than is so is found out, whatever it is made of.
  @Test(arguments: Stack.all)
  func falseModestyIsRejected(_ stack: Stack) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("garage-\(UUID().uuidString)")
      .path
    defer {
      for end in ["", "-wal", "-shm", ".lock", ".guard"] {
        try? FileManager.default.removeItem(atPath: path + end)
      }
    }
    let storage = try stack.open(ConformancePlace(name: UUID().uuidString, path: path))
    let info = storage.info
    try storage.close()
    var claims: [(Mutation, String)] = []
    if info.isDurable {
      claims.append((.claimsToForget, "claim/what-passes-is-in-no-file"))
      claims.append((.claimsToForget, "claim/what-passes-ends-with-its-process"))
      if !info.isSealed { claims.append((.claimsToSeal, "claim/sealed-values-are-in-no-file")) }
    }
    if info.readsDuringWrite { claims.append((.claimsToWait, "claim/waiting-readers-wait")) }
    if info.isSharedAcrossProcesses {
      claims.append((.claimsToBeAlone, "process/unshared-stores-are-guarded"))
    }
    for (mutation, name) in claims {
      let check = try #require(Conformance.check(named: name))
      #expect(throws: ConformanceFailure.self, "\(name) let \(mutation) pass") {
        try check.run(stack.options()) { MutantStorage(try stack.open($0), breaking: mutation) }
      }
    }
  }

  /// Descriptors that leak are noticed without a child, too, where other tests open and close files meanwhile.
  @Test func leaksAreNoticedHere() throws {
    let check = try #require(Conformance.check(named: Mutation.leakedDescriptor.check))
    let leaked = Mutex<[Int32]>([])
    defer { leaked.withLock { for descriptor in $0 { close(descriptor) } } }
    #expect(throws: ConformanceFailure.self) {
      try check.run { place in
        leaked.withLock { $0.append(open("/dev/null", O_RDONLY)) }
        return MemoryStorage(named: place.name)
      }
    }
    try check.run { place in MemoryStorage(named: place.name) }
  }

  /// The figures of the mutants are examples: any other is noticed, too.
  @Test(arguments: figures)
  func isRejectedAtAnyFigure(_ figure: Figure) throws {
    let name = figure.check ?? figure.mutation.check
    let check = try #require(Conformance.check(named: name))
    // Two of them, whichever, unless there is time for all.
    for threshold in figure.thresholds.shuffled().prefix(LongTests.areWanted ? .max : 2) {
      let failure = #expect(
        throws: ConformanceFailure.self, "\(check) let \(figure.mutation) pass at \(threshold)"
      ) {
        try check.run { place in
          MutantStorage(MemoryStorage(named: place.name), breaking: figure.mutation, at: threshold)
        }
      }
      #expect(failure?.seen.contains("a deadlock?") == false)
    }
  }

  struct Figure: Sendable {
    var mutation: Mutation
    var thresholds: [Int]
    /// Another check than the one that was made for the mutant.
    var check: String?
  }

  static let figures = [
    Figure(mutation: .pagesOf100, thresholds: [16, 17, 130, 1000, 4096, 9999]),
    Figure(mutation: .pagesOf256, thresholds: [16, 33, 777, 5000, 10_000]),
    Figure(mutation: .pagesOfMultiGets, thresholds: [16, 50, 1000, 10_000]),
    Figure(mutation: .endlessMultiGet, thresholds: [1, 64, 100, 333, 512, 777, 1000, 1024, 4096]),
    Figure(mutation: .endlessScan, thresholds: [1, 16, 50, 64, 128, 256, 500, 512, 1000, 4096]),
    Figure(mutation: .endlessStop, thresholds: [3, 16, 50, 64, 100, 200, 256, 500, 512, 1000, 4096]),
    Figure(mutation: .pagesOfKeyScans, thresholds: [16, 130, 1000, 4096]),
    Figure(mutation: .endlessKeyStop, thresholds: [3, 16, 50, 64, 100, 200, 256, 500, 512, 1000, 4096]),
    Figure(mutation: .keyScanOf1000Keys, thresholds: [64, 4096, 10_000]),
    Figure(mutation: .removeAllKeepsLargeOnes, thresholds: [600, 30_000, 100_000, 1_000_000]),
    Figure(mutation: .putAllKeepsLargeOnes, thresholds: [600, 30_000, 100_000, 1_000_000]),
    Figure(mutation: .putAllOf1024, thresholds: [100, 999, 2000, 4096]),
    Figure(mutation: .lostRemovalBeyond130, thresholds: [1, 20, 77, 444, 2500, 4800]),
    Figure(
      mutation: .lostRemovalBeyond130, thresholds: [100, 3000, 10_000, 33_333, 70_000],
      check: "large/a-write-of-100000-changes"),
    Figure(mutation: .removesFewOwnPuts, thresholds: [1, 20, 128, 555, 1024, 3000, 20_000]),
    Figure(mutation: .removes10000Keys, thresholds: [1, 100, 256, 1500, 5000, 20_000, 39_000]),
    Figure(mutation: .scanOf2000OwnPuts, thresholds: [1, 100, 512, 10_000, 40_000]),
    Figure(mutation: .backwardFromTheLastCommit, thresholds: [1, 50, 1000, 20_000, 70_000]),
    Figure(mutation: .keptFirstPutOf5000, thresholds: [1, 99, 1000, 2048, 20_000, 45_000]),
    Figure(mutation: .keptFirstPutOf100KB, thresholds: [5000, 65_536, 1_000_000, 5_000_000]),
    Figure(mutation: .lostPutBeyond30000, thresholds: [100, 1000, 10_000, 65_536]),
    Figure(mutation: .scanOf65536Keys, thresholds: [1000, 32_768, 100_000, 131_072]),
    Figure(mutation: .lostOverwriteOfTheSameLength, thresholds: [1024, 8000, 100_000, 500_000, 1_000_000]),
  ]
}

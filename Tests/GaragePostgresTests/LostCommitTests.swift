import Foundation
import GarageDriver
import GaragePostgres
import PostgresStacks
import Synchronization
import Testing

/// Connections that are cut at a commit: what is told of it is so, and nothing is made twice.
@Suite(.serialized) struct LostCommitTests {
  /// How many cuts for each way of writing: a thousand in long runs, few in quick ones.
  static let cutCount =
    ProcessInfo.processInfo.environment["GARAGE_TEST_PG_CUTS"].flatMap { Int($0) }
    ?? (runsLongTests ? 1000 : runsQuickly ? 30 : 150)

  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func everyCommitIsResolved(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let random = Mutex(SplitMix(seed: 18))
    let cut = { @Sendable in random.withLock { CuttingProxy.Cut.allCases.randomElement(using: &$0)! } }
    // Who asks what became of a commit may be cut off, too: seldom enough for him to be told soon.
    let questionCut = { @Sendable in
      random.withLock { Bool.random(using: &$0) } ? CuttingProxy.Cut.none : cut()
    }
    let proxy = try CuttingProxy(before: Server.port(), cut, questions: questionCut)
    defer { proxy.close() }
    let name = "gt_cut_\(writers.rawValue)_\(UUID().uuidString.prefix(8))"
    let direct = try Server.open(name, writers)
    let storage = try Server.open(name, writers, port: proxy.port)
    var number = 0
    var (unknownCount, refusedCount) = (0, 0)
    while proxy.counts.values.reduce(0, +) < Self.cutCount {
      number += 1
      let end = ContinuousClock.now + .seconds(120)
      while true {
        do {
          try storage.write { transaction in
            // A counter tells what was made twice, a key for each what was lost.
            let count =
              Int(String(decoding: try transaction.value(for: key("count")) ?? [48], as: UTF8.self)) ?? 0
            try transaction.put([UInt8]("\(count + 1)".utf8), for: key("count"))
            try transaction.put([1], for: key("number-\(number)"))
            return .commit(())
          }
          break
        } catch let error as StorageError where error.kind == .outcomeUnknown {
          unknownCount += 1
          break
        } catch let error as StorageError where error.isRetryable && ContinuousClock.now < end {
          refusedCount += 1
          let isThere = try direct.read { try $0.contains(key("number-\(number)")) }
          #expect(!isThere, "\(number) was committed, and \(error) says that it was not")
        }
      }
      let isThere = try direct.read { try $0.contains(key("number-\(number)")) }
      #expect(isThere, "\(number) was acknowledged, and is not there")
    }
    #expect(unknownCount == 0)
    #expect(refusedCount > 0)
    let count = try direct.read { try $0.value(for: key("count")) }
    #expect(count == [UInt8]("\(number)".utf8))
    for cut in CuttingProxy.Cut.allCases where cut != .none {
      #expect(proxy.counts[cut, default: 0] > 0 && proxy.questionCounts[cut, default: 0] > 0)
    }
    try storage.close()
    try direct.close()
  }

  /// The commit never arrived, and neither does the answer to the question what became of it: whoever asks again must not take
  /// what the first question left behind for the commit.
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func aQuestionThatIsAskedAgainIsNotTakenForTheCommit(_ writers: PostgreSQLStorage.Options.Writers) throws {
    for lostCount in 1...3 {
      let commitCount = Atomic<Int>(0)
      let questionCount = Atomic<Int>(0)
      let proxy = try CuttingProxy(
        before: Server.port(),
        { commitCount.add(1, ordering: .sequentiallyConsistent).oldValue == 0 ? .before : .none },
        questions: {
          questionCount.add(1, ordering: .sequentiallyConsistent).oldValue < lostCount ? .answer : .none
        })
      defer { proxy.close() }
      let storage = try Server.open(Server.newName(), writers, port: proxy.port)
      func put() throws {
        try storage.write { transaction in
          try transaction.put([1], for: key("a"))
          return .commit(())
        }
      }
      let error = #expect(throws: StorageError.self) { try put() }
      #expect(error?.kind == .disconnected && error?.isRetryable == true)
      #expect(questionCount.load(ordering: .sequentiallyConsistent) == lostCount + 1)
      #expect(try !storage.read { try $0.contains(key("a")) })
      try put()
      #expect(try storage.read { try $0.contains(key("a")) })
    }
  }

  /// Where nobody can be asked, that is said, and no second try is suggested.
  @Test func anUnknownOutcomeIsTold() throws {
    let isCutting = Atomic<Bool>(false)
    let proxy = try CuttingProxy(before: Server.port()) {
      isCutting.load(ordering: .sequentiallyConsistent) ? .answer : .none
    }
    let name = "gt_unknown_\(UUID().uuidString.prefix(8))"
    var options = PostgreSQLStorage.Options()
    options.name = name
    options.resolveTimeout = .milliseconds(300)
    let storage = try PostgreSQLStorage(Server.url(port: proxy.port), options: options)
    try storage.write { transaction in
      try transaction.put([1], for: key("a"))
      return .commit(())
    }
    isCutting.store(true, ordering: .sequentiallyConsistent)
    let error = #expect(throws: StorageError.self) {
      try storage.write { transaction in
        try transaction.put([2], for: key("a"))
        // Nobody is let through any more.
        proxy.close()
        return .commit(())
      }
    }
    #expect(error?.kind == .outcomeUnknown)
    #expect(error?.isRetryable == false)
    let direct = try Server.open(name, .several)
    #expect(try direct.read { try $0.value(for: key("a")) } == [2])
  }
}

func key(_ text: String) -> StorageKey { StorageKey([UInt8](text.utf8)) }

/// SplitMix64: the same numbers for the same seed.
struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

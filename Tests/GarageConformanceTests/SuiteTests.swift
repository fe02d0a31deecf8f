import Foundation
import GarageConformance
import GarageDriver
import Testing

@testable import ConformanceChild

/// The suite itself: complete, named, and repeatable.
@Suite struct SuiteTests {
  @Test func checksHaveNamesOfTheirOwn() {
    let names = Conformance.checks.map(\.name)
    #expect(names.count >= 100)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.split(separator: "/").count == 2 && !$0.contains(" ") })
    #expect(Conformance.checks.allSatisfy { $0.rule.count > 15 && $0.rule.hasSuffix(".") })
    #expect(Conformance.check(named: names[0])?.name == names[0])
    #expect(Conformance.check(named: "none") == nil)
  }

  /// A check that is written down is in the list: every name in the sources is among those of `Conformance.checks`.
  @Test func noCheckIsForgotten() throws {
    var count = 0
    for file in try CheckSources.files() {
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /add\("([^"\\]+)",/) {
        count += 1
        let isListed = Conformance.checks.contains {
          $0.name.hasSuffix("/\(match.1)") || $0.name.hasSuffix("-\(match.1)")
        }
        #expect(isListed, "\(match.1) in \(file.lastPathComponent)")
      }
    }
    #expect(count > 80)
  }

  /// Deferred reads are held to what reads are, by checks of the same names.
  @Test func deferredReadsShareChecks() {
    let names = Set(Conformance.checks.map(\.name))
    let deferred = names.filter { $0.hasPrefix("deferred/") }
    let shared = deferred.filter { name in
      let end = name.dropFirst("deferred/".count)
      return ["transaction", "snapshot", "nesting", "ended", "life"].contains {
        names.contains("\($0)/\(end)")
      }
    }
    #expect(shared.count == 15)
    #expect(deferred.count == shared.count + 2)
  }

  @Test func theReadmeSaysHowMany() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    #expect(text.contains("\(Conformance.checks.count) checks"))
    #expect(text.contains("\(Mutation.allCases.count) deliberately"))
  }

  @Test func transcriptsAreTheSameOnEveryDriver() throws {
    for seed in UInt64(1)...5 {
      var first: [String]?
      for stack in Stack.all {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
          "garage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = ConformancePlace(
          name: folder.lastPathComponent, path: folder.appendingPathComponent("store").path)
        let transcript = try Conformance.transcript(seed: seed, at: place, stack.open)
        #expect(transcript.count > 300)
        #expect(first == nil || first == transcript, "\(stack), seed \(seed)")
        first = transcript
      }
    }
  }

  @Test func failuresSayWhatWasExpectedAndSeen() throws {
    let check = try #require(Conformance.check(named: "history/few-keys-1"))
    let stack = try #require(Stack(named: "Mutant(ignoredDirection)"))
    do {
      try check.run(stack.options(), stack.open)
      Issue.record("a mutant passed")
    } catch let failure as ConformanceFailure {
      #expect(failure.seed != nil && failure.step != nil)
      let text = failure.description
      #expect(text.hasPrefix("history/few-keys-1: expected what the store shows to be"))
      #expect(text.contains("Seed \(failure.seed!), step \(failure.step!)"))
      #expect(text.contains(check.rule))
    }
  }

  @Test func durableDriversNeedAChild() throws {
    let check = try #require(Conformance.check(named: "crash/without-close"))
    let stack = try #require(Stack(named: "Reference"))
    #expect(throws: ConformanceFailure.self) { try check.run(ConformanceOptions(), stack.open) }
  }

  @Test func noFolderIsLeftBehind() throws {
    let check = try #require(Conformance.check(named: "transaction/commits-are-seen"))
    let stack = try #require(Stack(named: "Reference"))
    let places = Places()
    try check.run(stack.options()) { place in
      places.add(place)
      return try stack.open(place)
    }
    #expect(!places.all.isEmpty)
    for place in places.all {
      let folder = place.url.deletingLastPathComponent().path
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }
}

private final class Places: @unchecked Sendable {
  // @unchecked: guarded by the lock.
  private let lock = NSLock()
  private var places: [ConformancePlace] = []
  var all: [ConformancePlace] { lock.withLock { places } }
  func add(_ place: ConformancePlace) { lock.withLock { places.append(place) } }
}

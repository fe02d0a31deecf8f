import Foundation
import GarageConformance
import GarageDriver
import MyStorage
import Synchronization
import Testing

@testable import ConformanceChild

/// What the suite says where a driver goes wrong, or has nothing to be checked for.
@Suite struct FailureMessageTests {
  /// Runs a check that has to fail, and returns what it says.
  private func failure(
    of name: String, _ options: ConformanceOptions = ConformanceOptions(),
    _ open: @escaping @Sendable (ConformancePlace) throws -> any StorageDriver
  ) throws -> ConformanceFailure {
    let check = try #require(Conformance.check(named: name))
    let error = #expect(throws: ConformanceFailure.self) { try check.run(options, open) }
    return try #require(error)
  }

  /// An operation that fails where no check expects it, and the call that it came out of.
  struct Surprise: Sendable {
    var check: String
    var operation: StorageError.Operation
    var line: String

    static let all = [
      Surprise(check: "transaction/commits-are-seen", operation: .put, line: "storage.put([\"a\": \"1\"])"),
      Surprise(check: "scan/forward", operation: .scan, line: "$0.entries(in: .all, .forward)"),
      Surprise(check: "lent/two-values-are-distinct", operation: .get, line: "transaction.lend(\"a\")"),
      Surprise(check: "large/a-write-of-100000-changes", operation: .remove, line: "storage.commit {"),
      Surprise(check: "large/140000-keys", operation: .commit, line: "storage.commit {"),
      Surprise(check: "snapshot/lasts-to-the-end", operation: .get, line: "transaction.text(\"a\"), \"0\""),
      Surprise(check: "race/the-sum-stays", operation: .get, line: "transaction.text(\"account-"),
      Surprise(check: "life/values-close-separately", operation: .write, line: "storage.put([\"a\": \"1\"])"),
      Surprise(check: "key/the-longest-keys", operation: .get, line: "storage.commit {"),
    ]
  }

  @Test(arguments: Surprise.all)
  func unexpectedErrorsNameTheLine(_ surprise: Surprise) throws {
    let (name, operation) = (surprise.check, surprise.operation)
    let failure = try failure(of: name) { place in
      let plan = FaultPlan()
      plan.fail(operation, after: 0, with: .corrupt)
      return FaultyStorage(try ReferenceStorage(path: place.path), plan: plan)
    }
    let rule = try #require(Conformance.check(named: name)).rule
    #expect(failure.check == name && failure.rule == rule)
    #expect(failure.seen.contains("corrupt"), "\(failure)")
    #expect(failure.expected == "\(operation.rawValue) to succeed")
    #expect(failure.step != nil)
    let place = try #require(failure.location.wholeMatch(of: /GarageConformance\/(\w+Checks)\.swift:(\d+)/))
    let description = failure.description
    for part in [name, rule, "tep \(failure.step!)", failure.location, "fault plan"] {
      #expect(description.contains(part), "\(description)")
    }
    // The line is one that calls the driver, in the file of the check.
    let files = try CheckSources.files().filter { $0.lastPathComponent == "\(place.output.1).swift" }
    let file = try #require(files.count == 1 ? files[0] : nil)
    let text = try String(contentsOf: file, encoding: .utf8)
    let line = text.components(separatedBy: "\n")[Int(place.output.2)! - 1]
    #expect(line.contains(surprise.line), "\(line)")
  }

  /// A driver that cannot even be opened.
  @Test func failedOpeningNamesTheLine() throws {
    let failure = try failure(of: "key/put-rejects-the-empty-key") { _ in
      throw StorageError(.io, during: .open, driver: "Broken", message: "It is broken. Mend it.")
    }
    #expect(failure.location.hasPrefix("GarageConformance/KeyChecks.swift:"))
    #expect(failure.expected == "open to succeed")
  }

  @Test(arguments: [("exit", "exit status 7"), ("signal", "signal \(SIGKILL)")])
  func deadChildrenSayHowTheyEnded(_ way: String, _ ending: String) throws {
    let options = ConformanceOptions(
      childExecutable: URL(fileURLWithPath: "/bin/sh"),
      childArguments: ["-c", way == "exit" ? "exit 7" : "kill -KILL $$", "child"])
    for name in [
      "process/4-processes-count", "crash/without-close", "crash/narrow-transactions",
      "room/no-room-for-large-values",
    ] {
      let failure = try failure(of: name, options) { try ReferenceStorage(path: $0.path) }
      #expect(failure.seen.contains(ending), "\(failure)")
      #expect(failure.seen.contains("the child ended"), "\(failure)")
    }
  }

  /// A child that ends in the middle of its work.
  @Test func childrenThatEndLaterSayHow() throws {
    let options = ConformanceOptions(
      childExecutable: URL(fileURLWithPath: "/bin/sh"),
      childArguments: ["-c", "echo ready; read line; exit 9", "child"])
    for name in [
      "crash/without-close", "process/our-commits-are-seen-there", "process/3-processes-count",
      "crash/wide-transactions",
    ] {
      let failure = try failure(of: name, options) { try ReferenceStorage(path: $0.path) }
      #expect(failure.seen.contains("exit status 9"), "\(failure)")
    }
  }

  @Test func missingValuesAreNone() throws {
    let failure = try failure(of: "value/every-length") { place in
      MutantStorage(try ReferenceStorage(path: place.path), breaking: .emptyValueIsNone)
    }
    #expect(failure.seen == "none", "\(failure)")
    for check in Conformance.checks {
      #expect(!check.rule.contains("-1"))
    }
  }

  // MARK: Skipped checks

  @Test func skippedChecksSaySo() throws {
    let told = Mutex<[String: ConformanceOutcome]>([:])
    let options = ConformanceOptions(onOutcome: { check, outcome in told.withLock { $0[check.name] = outcome }
    })
    let open: @Sendable (ConformancePlace) throws -> any StorageDriver = { ArrayStorage(named: $0.name) }
    let skipped = try #require(Conformance.check(named: "crash/without-close"))
    let outcome = try skipped.run(options, open)
    #expect(outcome.reasonToSkip?.contains("isDurable") == true)
    let passed = try #require(Conformance.check(named: "scan/forward"))
    #expect(try passed.run(options, open) == .passed)
    #expect(told.withLock(\.self) == [skipped.name: outcome, passed.name: .passed])
  }

  /// The list of skipped checks is what running them says.
  @Test(arguments: Stack.all)
  func theListIsWhatHappens(_ stack: Stack) throws {
    let probe = FileManager.default.temporaryDirectory.appendingPathComponent("garage-\(UUID().uuidString)")
      .path
    defer { try? FileManager.default.removeItem(atPath: probe) }
    let storage = try stack.open(ConformancePlace(name: UUID().uuidString, path: probe))
    let info = storage.info
    try storage.close()
    let options = stack.options()
    let skipped = Conformance.skippedChecks(for: info, options)
    #expect(skipped.allSatisfy { $0.reason.contains("info.") })
    for (check, reason) in skipped {
      #expect(check.reasonToSkip(for: info, options) == reason)
      #expect(try check.run(options, stack.open) == .skipped(reason: reason))
    }
    let names = Set(skipped.map(\.check.name))
    #expect(names.contains("crash/without-close") == !info.isDurable)
    #expect(names.contains("claim/what-passes-is-in-no-file") == info.isDurable)
    #expect(names.contains("snapshot/readers-pass-the-writer") == !info.readsDuringWrite)
    #expect(names.contains("claim/waiting-readers-wait") == info.readsDuringWrite)
    #expect(!names.contains("scan/forward"))
  }

  /// What runs out of room in a child does so on every driver that writes files.
  @Test(arguments: Stack.all.filter { ["SQLite", "LMDB", "Reference", "Sealed(LMDB)"].contains($0.name) })
  func roomRunsOut(_ stack: Stack) throws {
    for check in Conformance.checks where check.name.hasPrefix("room/") {
      #expect(try check.run(stack.options(), stack.open) == .passed, "\(check)")
    }
  }

  /// Nothing is skipped on every driver, or nobody would know whether it works.
  @Test func everyCheckRunsSomewhere() {
    var skipped: Set<String>?
    for stack in Stack.all {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("garage-\(UUID().uuidString)")
        .path
      defer { try? FileManager.default.removeItem(atPath: path) }
      guard let storage = try? stack.open(ConformancePlace(name: UUID().uuidString, path: path)) else {
        continue
      }
      let names = Set(Conformance.skippedChecks(for: storage.info, stack.options()).map(\.check.name))
      try? storage.close()
      skipped = skipped.map { $0.intersection(names) } ?? names
    }
    #expect(skipped == [])
  }
}

public import GarageDriver

/// One sentence of the driver contract, with a way to find out whether a driver keeps it.
public struct ConformanceCheck: Sendable, Identifiable, CustomStringConvertible {
  /// A name that stays the same from version to version, such as `scan/forward-excludes-the-upper-bound`.
  public let name: String
  /// The sentence of the contract that is checked.
  public let rule: String
  /// Whether the check takes hundreds of megabytes, or many seconds. A test runner may want to run such checks one at a time.
  public let isHeavy: Bool
  let requirement: Requirement
  /// The line of the suite where the check is declared.
  let location: String
  /// Whether its stores read by `deferredRead`. On a driver that has no such reads there is nothing to check.
  var readsDeferred = false
  let body: @Sendable (Fixture) throws -> Void

  /// The name, which is unique.
  public var id: String { name }
  /// The name.
  public var description: String { name }

  /// The reason why there is nothing to check on a driver with this ``StorageInfo``; nil if there is something to check.
  public func reasonToSkip(
    for info: StorageInfo, _ options: ConformanceOptions = ConformanceOptions()
  ) -> String? {
    requirement.reasonToSkip(info, options)
  }

  /// Runs the check on a store of its own, in a new temporary folder that is deleted afterwards.
  ///
  /// `open` opens or makes the store at a place. It is called several times for one place, also while earlier values are open,
  /// and from several threads. All values opened at one place are values on one store.
  ///
  /// Throws ``ConformanceFailure`` if the driver breaks the rule, takes longer than ``ConformanceOptions/patience``, or throws
  /// an error that it should not. Returns whether anything was checked: a rule that does not apply to a driver with its
  /// ``StorageInfo`` is skipped. ``ConformanceOptions/onOutcome`` is told the same.
  ///
  /// If ``StorageInfo/writersConflict`` is true, an engine may refuse a write that would have fitted. A check that ended with a
  /// retryable ``StorageError/Kind/conflict`` is then run again, as callers do, up to three times in all.
  @discardableResult
  public func run(
    _ options: ConformanceOptions = ConformanceOptions(),
    _ open: @escaping @Sendable (ConformancePlace) throws -> any StorageDriver
  ) throws -> ConformanceOutcome {
    var triesLeft = 3
    while true {
      let fixture = try Fixture(check: self, options: options, openStore: open)
      triesLeft -= 1
      guard try run(in: fixture, options, mayBeRefused: triesLeft > 0) else { continue }
      options.onOutcome?(self, fixture.outcome)
      return fixture.outcome
    }
  }

  /// Runs the check once. Returns false if the engine refused a call that it may refuse, so that the check is to be run again.
  private func run(in fixture: Fixture, _ options: ConformanceOptions, mayBeRefused: Bool) throws -> Bool {
    let worker = Worker { [self] in
      if let reason = try fixture.reasonToSkip(requirement) { return fixture.skip(reason) }
      try body(fixture)
      fixture.closeAll()
    }
    defer { fixture.removeFolder() }
    let hasEnded = worker.wait(seconds: options.patience)
    fixture.runAtEnd()
    guard hasEnded else {
      // The thread is left behind with everything it holds, because it cannot be ended from outside.
      if let failure = fixture.firstFailure { throw failure }
      throw fixture.unplacedFailure(
        "The check to end", "nothing for \(Int(options.patience)) seconds: a deadlock?",
        at: worker.origin(of: nil))
    }
    // A driver that swallows the errors of its bodies does not hide a failure.
    if let failure = fixture.firstFailure { throw failure }
    do {
      try worker.join()
    } catch {
      if mayBeRefused && fixture.isRefusal(error) { return false }
      let operation = (error as? StorageError).map { "\($0.operation.rawValue) to succeed" }
      throw fixture.unplacedFailure(operation ?? "no error", "\(error)", at: worker.origin(of: error))
    }
    return true
  }
}

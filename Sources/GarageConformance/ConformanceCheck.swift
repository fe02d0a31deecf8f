public import GarageDriver

/// One sentence of the driver contract, and how to find out whether a driver keeps it.
public struct ConformanceCheck: Sendable, Identifiable, CustomStringConvertible {
  /// A name that stays the same from version to version, such as `scan/upper-bound-is-excluded`.
  public let name: String
  /// The sentence of the contract that is checked.
  public let rule: String
  /// Whether the check takes hundreds of megabytes or many seconds. A test runner may want to run these one
  /// at a time.
  public let isHeavy: Bool
  let body: @Sendable (Fixture) throws -> Void

  /// The name, which no other check has.
  public var id: String { name }
  /// The name.
  public var description: String { name }

  /// Runs the check on a store of its own, in a fresh temporary folder that is deleted afterwards.
  ///
  /// `open` opens, or makes, the store at a place. It is called several times for one place, also while
  /// earlier values are open, and from several threads; all values of one place are values on one store.
  ///
  /// Throws ``ConformanceFailure`` where the driver breaks the rule or takes longer than
  /// ``ConformanceOptions/patience``, and whatever the driver throws unexpectedly.
  public func run(
    _ options: ConformanceOptions = ConformanceOptions(),
    _ open: @escaping @Sendable (ConformancePlace) throws -> any StorageDriver
  ) throws {
    let fixture = try Fixture(check: self, options: options, openStore: open)
    let worker = Worker { [body] in
      try body(fixture)
      fixture.closeAll()
    }
    defer { fixture.removeFolder() }
    let hasEnded = worker.wait(seconds: options.patience)
    fixture.runAtEnd()
    guard hasEnded else {
      // The thread is left behind with everything it holds: it cannot be ended from outside.
      if let failure = fixture.firstFailure { throw failure }
      throw fixture.failure("The check to end", "nothing for \(Int(options.patience)) seconds: a deadlock?")
    }
    // A driver that swallows its body's errors does not hide a failure.
    if let failure = fixture.firstFailure { throw failure }
    do {
      try worker.join()
    } catch {
      throw fixture.failure("no error", "\(error)")
    }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageDriver

/// How thoroughly the suite runs, and what it needs from outside.
public struct ConformanceOptions: Sendable {
  /// An executable whose `main` calls ``Conformance/runChild(_:)`` with the driver under test.
  ///
  /// Checks across processes and checks of crashes run it. A driver that is neither durable nor shared
  /// across processes needs none; any other fails those checks without one.
  public var childExecutable: URL?
  /// Arguments for the executable, put before those of the suite, for instance to choose a driver.
  public var childArguments: [String]
  /// The seed of everything random. The same seed brings the same run, thread timing aside.
  public var seed: UInt64
  /// How often each crash check kills its child.
  public var killCount: Int
  /// Whether `value/guaranteed-size` stores a value of 512 MiB; else it stores one of 16 MiB. On a driver
  /// that works in memory it needs up to 2 GiB.
  public var storesLargeValues: Bool
  /// Seconds after which a check that has not ended counts as a deadlock.
  public var patience: Double
  /// Opens the store at a place for reading only; nil where the driver has no such thing.
  ///
  /// The `read-only/…` checks then hold it to ``StorageInfo/isReadOnly``, which no other check does; without it they ask nothing.
  public var openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)?
  /// Is told what each crash check did.
  public var onCrashReport: (@Sendable (CrashReport) -> Void)?
  /// Is told how each check ended that did not fail: passed, or skipped and why.
  public var onOutcome: (@Sendable (ConformanceCheck, ConformanceOutcome) -> Void)?

  /// Options for a quick run; a driver that is durable or shared needs at least an executable.
  public init(
    childExecutable: URL? = nil, childArguments: [String] = [], seed: UInt64 = 1, killCount: Int = 10,
    storesLargeValues: Bool = false, patience: Double = 120,
    openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)? = nil,
    onCrashReport: (@Sendable (CrashReport) -> Void)? = nil,
    onOutcome: (@Sendable (ConformanceCheck, ConformanceOutcome) -> Void)? = nil
  ) {
    self.childExecutable = childExecutable
    self.childArguments = childArguments
    self.seed = seed
    self.killCount = killCount
    self.storesLargeValues = storesLargeValues
    self.patience = patience
    self.openReadOnly = openReadOnly
    self.onCrashReport = onCrashReport
    self.onOutcome = onOutcome
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageDriver

/// How thoroughly the suite runs, and what it needs from its caller.
public struct ConformanceOptions: Sendable {
  /// An executable whose `main` calls ``Conformance/runChild(_:)`` with the driver under test.
  ///
  /// Checks with several processes and checks of crashes run it. A driver that is neither durable nor shared across processes
  /// needs none. Any other driver fails those checks without one.
  public var childExecutable: URL?
  /// Arguments for the executable, which are put before those of the suite, for instance to choose a driver.
  public var childArguments: [String]
  /// The seed of all random choices. The same seed gives the same run, except for the timing of threads.
  public var seed: UInt64
  /// How often each crash check kills its child.
  public var killCount: Int
  /// Whether `value/guaranteed-size` stores a value of 512 MiB. If not, it stores one of 16 MiB. On a driver that works in
  /// memory, 512 MiB need up to 2 GiB of memory.
  public var storesLargeValues: Bool
  /// The number of seconds after which a check that has not ended counts as a deadlock.
  public var patience: Double
  /// Opens the store at a place for reading only; nil if the driver cannot do that.
  ///
  /// The `read-only/…` checks then check ``StorageInfo/isReadOnly``, which no other check does. Without it they check nothing.
  public var openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)?
  /// Called with a report of what each crash check did.
  public var onCrashReport: (@Sendable (CrashReport) -> Void)?
  /// Called with the outcome of each check that did not fail: that it passed, or that it was skipped and why.
  public var onOutcome: (@Sendable (ConformanceCheck, ConformanceOutcome) -> Void)?

  /// Options for a quick run. A driver that is durable or shared needs at least an executable.
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

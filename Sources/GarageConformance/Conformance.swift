public import GarageDriver

/// The rules that every driver has to keep, as checks that any test framework can run.
///
/// A driver author's whole test file, with Swift Testing:
/// ```swift
/// @Test(arguments: Conformance.checks)
/// func conforms(to check: ConformanceCheck) throws {
///   try check.run { place in try MyStorage(path: place.path) }
/// }
/// ```
/// If a driver's ``StorageInfo`` says that it is durable, or shared across processes, its tests also need an executable for the
/// checks with a second process: see ``ConformanceOptions/childExecutable``. No check is optional. Some have nothing to check
/// on a driver with certain ``StorageInfo``: they end as ``ConformanceOutcome/skipped(reason:)``, and each has a counterpart
/// that checks what such a driver does instead.
public enum Conformance {
  /// All checks, in the order in which they are best met when a driver is written.
  public static let checks: [ConformanceCheck] = topics.flatMap(\.checks)

  /// The check with this name; nil if there is none.
  public static func check(named name: String) -> ConformanceCheck? {
    checks.first { $0.name == name }
  }

  /// The checks that are skipped on a driver with this ``StorageInfo``, each with the reason. All others run.
  public static func skippedChecks(
    for info: StorageInfo, _ options: ConformanceOptions = ConformanceOptions()
  ) -> [(check: ConformanceCheck, reason: String)] {
    checks.compactMap { check in
      check.reasonToSkip(for: info, options).map { (check, $0) }
    }
  }

  static let topics: [CheckTopic] = [
    CheckTopic("info", InfoChecks.add),
    CheckTopic("transaction", TransactionChecks.add),
    CheckTopic("own-changes", OwnChangeChecks.add),
    CheckTopic("key", KeyChecks.add),
    CheckTopic("value", ValueChecks.add),
    CheckTopic("put-all", PutAllChecks.add),
    CheckTopic("remove", RemoveChecks.add),
    CheckTopic("scan", ScanChecks.add),
    CheckTopic("multi-get", MultiGetChecks.add),
    CheckTopic("contains", ContainsChecks.add),
    CheckTopic("snapshot", SnapshotChecks.add),
    CheckTopic("nesting", NestingChecks.add),
    CheckTopic("lent", LentByteChecks.add),
    CheckTopic("poison", PoisonChecks.add),
    CheckTopic("ended", EndedTransactionChecks.add),
    CheckTopic("life", LifeChecks.add),
    CheckTopic("read-only", ReadOnlyChecks.add),
    CheckTopic("claim", ClaimChecks.add),
    CheckTopic("fault", FaultChecks.add),
    CheckTopic("history", HistoryChecks.add),
    CheckTopic("large", LargeChecks.add),
    CheckTopic("race", RaceChecks.add),
    CheckTopic("conflict", ConflictChecks.add),
    CheckTopic("process", ProcessChecks.add),
    CheckTopic("signal", SignalChecks.add),
    CheckTopic("deferred", DeferredChecks.add),
    CheckTopic("care", CareChecks.add),
    CheckTopic("crash", CrashChecks.add),
    CheckTopic("room", RoomChecks.add),
  ]
}

/// The checks of one subject. Their names begin with the topic's name.
struct CheckTopic: Sendable {
  let name: String
  private(set) var checks: [ConformanceCheck] = []

  init(_ name: String, _ fill: (inout CheckTopic) -> Void) {
    self.name = name
    fill(&self)
  }

  /// Adds a check of `rule`, a sentence of the contract on `StorageDriver`, for drivers that meet `requirement`.
  mutating func add(
    _ name: String, _ rule: String, isHeavy: Bool = false, where requirement: Requirement = .none,
    file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Fixture) throws -> Void
  ) {
    checks.append(
      ConformanceCheck(
        name: "\(self.name)/\(name)", rule: rule, isHeavy: isHeavy, requirement: requirement,
        location: "\(file):\(line)", body: body))
  }

  /// Adds a check of another topic, run on stores that read by `deferredRead`.
  mutating func addDeferred(_ check: ConformanceCheck) {
    checks.append(
      ConformanceCheck(
        name: name + check.name.drop { $0 != "/" }, rule: check.rule, isHeavy: check.isHeavy,
        requirement: check.requirement, location: check.location, readsDeferred: true
      ) { fixture in
        guard try fixture.newStore() is DeferredReadStorage else { return }
        try check.body(fixture)
      })
  }
}

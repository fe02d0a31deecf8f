public import GarageDriver

/// Wraps any driver, and lets operations fail as a ``FaultPlan`` says.
///
/// Without faults it is transparent: a driver that conforms also does so through this wrapper. It counts, and can let fail:
/// `read` and `write`, before their bodies run; `get` (a multi-get counts as one, and `contains` as one); `scan`, also of keys;
/// `put` (many at once count as many); `remove`, also of ranges; and `commit`, after the body and before the wrapped driver
/// commits. An injected fault poisons the transaction, as a failure of the wrapped driver does.
public struct FaultyStorage: StorageDriver {
  let base: any StorageDriver
  /// Says what fails.
  public let plan: FaultPlan

  /// Wraps `base`. The plan may be changed at any time.
  public init(_ base: any StorageDriver, plan: FaultPlan = FaultPlan()) {
    self.base = base
    self.plan = plan
  }

  /// The facts of the wrapped driver.
  public var info: StorageInfo { base.info }

  /// Reads from the wrapped driver, with the plan's faults.
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    if let error = plan.next(.read, driver: info.name) { throw error }
    return try base.read { transaction in
      let faulty = FaultyReadTransaction(transaction, plan, info.name)
      defer { faulty.isOver = true }
      return try body(faulty)
    }
  }

  /// Writes to the wrapped driver, with the plan's faults.
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if let error = plan.next(.write, driver: info.name) { throw error }
    return try base.write { transaction in
      let faulty = FaultyWriteTransaction(transaction, plan, info.name)
      defer { faulty.isOver = true }
      let outcome = try body(faulty)
      if case .commit = outcome {
        // An error thrown from the body of `base`'s transaction rolls that transaction back.
        if let error = faulty.firstError { throw error }
        if let error = plan.next(.commit, driver: info.name) { throw error }
      }
      return outcome
    }
  }

  /// Closes the wrapped driver. The plan cannot let this fail.
  public func close() throws { try base.close() }
}

private class FaultyReadTransaction: ReadTransaction {
  private let base: any ReadTransaction
  private let plan: FaultPlan
  private let driver: String
  /// Set when the closure has ended. From then on the base refuses everything, and the plan counts nothing.
  var isOver = false
  /// The first failure, either the base's own or an injected one.
  private(set) var firstError: StorageError?

  init(_ base: any ReadTransaction, _ plan: FaultPlan, _ driver: String) {
    self.base = base
    self.plan = plan
    self.driver = driver
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try inject(.get)
    return try noting { thrown in
      try base.withValue(for: key) { value in try noting(in: &thrown) { try body(value) } }
    }
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try inject(.get)
    try noting { thrown in
      try base.withValues(for: keys) { position, value in
        try noting(in: &thrown) { try visit(position, value) }
      }
    }
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try inject(.scan)
    try noting { thrown in
      try base.scan(range, direction) { key, value in try noting(in: &thrown) { try visit(key, value) } }
    }
  }

  func contains(_ key: RawSpan) throws -> Bool {
    try inject(.get)
    return try noting { _ in try base.contains(key) }
  }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    try inject(.scan)
    try noting { thrown in
      try base.scanKeys(range, direction) { key in try noting(in: &thrown) { try visit(key) } }
    }
  }

  /// Throws the fault that the plan has for this operation.
  func inject(_ operation: StorageError.Operation) throws {
    if isOver { return }
    if let error = plan.next(operation, driver: driver) {
      note(error)
      throw error
    }
  }

  func note(_ error: StorageError) {
    if firstError == nil { firstError = error }
  }

  /// Runs an operation of the base, and notes its failure, unless the caller's closure threw it.
  private func noting<R>(_ operation: (inout Bool) throws -> R) throws -> R {
    var closureThrew = false
    do {
      return try operation(&closureThrew)
    } catch let error as StorageError where !closureThrew {
      note(error)
      throw error
    }
  }

  /// Runs the caller's closure, and sets `thrown` if it throws.
  private func noting<R>(in thrown: inout Bool, _ closure: () throws -> R) throws -> R {
    do { return try closure() } catch {
      thrown = true
      throw error
    }
  }
}

private final class FaultyWriteTransaction: FaultyReadTransaction, WriteTransaction {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ plan: FaultPlan, _ driver: String) {
    self.base = base
    super.init(base, plan, driver)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try inject(.put)
    try noting { try base.put(value, for: key) }
  }

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    for _ in entries { try inject(.put) }
    try noting { try base.putAll(entries, in: bytes) }
  }

  func remove(_ key: RawSpan) throws {
    try inject(.remove)
    try noting { try base.remove(key) }
  }

  func removeAll(in range: StorageKeyRange) throws {
    try inject(.remove)
    try noting { try base.removeAll(in: range) }
  }

  private func noting(_ change: () throws -> Void) throws {
    do { try change() } catch let error as StorageError {
      note(error)
      throw error
    }
  }
}

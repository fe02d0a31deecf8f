import GarageDriver

/// Wraps any driver and breaks a rule that can be broken from outside.
struct MutantStorage: StorageDriver {
  private let base: any StorageDriver
  private let mutation: Mutation

  init(_ base: any StorageDriver, breaking mutation: Mutation) {
    self.base = base
    self.mutation = mutation
  }

  var info: StorageInfo { base.info }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { transaction in try body(MutantReadTransaction(transaction, mutation)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if mutation == .bodyRunsTwice {
      try base.write { transaction in
        _ = try body(transaction)
        return .rollBack(())
      }
    }
    do {
      return try base.write { transaction in try body(MutantWriteTransaction(transaction, mutation)) }
    } catch {
      if mutation == .changedError, !(error is StorageError) { throw ChangedError(cause: error) }
      throw error
    }
  }

  func close() throws { try base.close() }
}

private struct ChangedError: Error {
  var cause: any Error
}

private class MutantReadTransaction: ReadTransaction {
  private let base: any ReadTransaction
  fileprivate let mutation: Mutation

  init(_ base: any ReadTransaction, _ mutation: Mutation) {
    self.base = base
    self.mutation = mutation
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key) { value in
      if let value, value.byteCount == 0, mutation == .emptyValueIsNone { return try body(nil) }
      return try body(value)
    }
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    var positions = Array(keys.indices)
    if mutation == .sortedMultiGet { positions.sort { keys[$0] < keys[$1] } }
    if mutation == .forgottenRepetitions {
      var seen: Set<StorageKey> = []
      positions.removeAll { !seen.insert(keys[$0]).inserted }
    }
    for position in positions {
      try base.withValue(for: keys[position]) { value in try visit(position, value) }
    }
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    var range = range
    let direction = mutation == .ignoredDirection ? .forward : direction
    if let upper = range.upperBound {
      if mutation == .upperBoundIncluded { range.upperBound = upper + [0] }
      if mutation == .crossedBoundsHoldKeys && range.isEmpty && upper != range.lowerBound {
        range = StorageKeyRange(from: upper, to: range.lowerBound)
      }
    }
    try base.scan(range, direction) { key, value in
      if mutation == .lowerBoundExcluded && [UInt8](copying: key) == range.lowerBound { return .continue }
      let step = try visit(key, value)
      return mutation == .ignoredStop ? .continue : step
    }
  }
}

extension MutantReadTransaction {
  func contains(_ key: RawSpan) throws -> Bool {
    try withValue(for: key) { value in
      guard let value else { return false }
      return value.byteCount > 0 || mutation != .emptyValueIsNotContained
    }
  }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    var range = range
    if let upper = range.upperBound, mutation == .keyScanIncludesTheUpperBound {
      range.upperBound = upper + [0]
    }
    let direction = mutation == .keyScanGoesForwardOnly ? .forward : direction
    try scan(range, direction) { key, _ in try visit(key) }
  }
}

private final class MutantWriteTransaction: MutantReadTransaction, WriteTransaction {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ mutation: Mutation) {
    self.base = base
    super.init(base, mutation)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    let key = mutation == .cutKeys && key.byteCount > 511 ? key.extracting(first: 511) : key
    let value = mutation == .cutValues && value.byteCount > 1 << 16 ? value.extracting(first: 1 << 16) : value
    try base.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws {
    let isMissing = mutation == .missingKeyIsAnError ? try base.withValue(for: key) { $0 == nil } : false
    if isMissing {
      throw StorageError(
        .engine, during: .remove, driver: "Mutant", message: "There is no such key. Put it first.")
    }
    try base.remove(key)
  }

  func removeAll(in range: StorageKeyRange) throws {
    guard mutation == .removesOneBlock else { return try base.removeAll(in: range) }
    var keys: [StorageKey] = []
    try base.scan(range, .forward) { key, _ in
      keys.append(StorageKey(key))
      return keys.count < 1024 ? .continue : .stop
    }
    for key in keys { try base.remove(key) }
  }
}

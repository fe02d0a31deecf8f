import GarageDriver

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Wraps any driver and breaks a rule that can be broken from outside.
struct MutantStorage: StorageDriver {
  let base: any StorageDriver
  let mutation: Mutation
  /// The figure from which on the rule is broken, where there is one.
  let threshold: Int

  init(_ base: any StorageDriver, breaking mutation: Mutation, at threshold: Int? = nil) {
    self.base = base
    self.mutation = mutation
    self.threshold = threshold ?? mutation.threshold
    if mutation == .leakedDescriptor { _ = open("/dev/null", O_RDONLY | O_CLOEXEC) }
  }

  var info: StorageInfo {
    var info = base.info
    if mutation == .claimsToForget { info.isDurable = false }
    if mutation == .claimsToWait { info.readsDuringWrite = false }
    if mutation == .claimsToSeal { info.isSealed = true }
    if mutation == .claimsToBeAlone { info.isSharedAcrossProcesses = false }
    if mutation == .claimsToReadOnly { info.isReadOnly = true }
    if mutation == .claimsLongKeys { info.maximumKeyByteCount += 1 }
    return info
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { transaction in try body(MutantReadTransaction(transaction, mutation, threshold, base)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if mutation == .bodyRunsTwice {
      try base.write { transaction in
        _ = try body(transaction)
        return .rollBack(())
      }
    }
    var kept: (key: StorageKey, value: [UInt8])?
    defer {
      // What the rolled back write should not have left.
      if let kept {
        try? base.write { transaction in
          try transaction.put(kept.value, for: kept.key)
          return .commit(())
        }
      }
    }
    do {
      return try base.write { transaction in
        let mutant = MutantWriteTransaction(transaction, mutation, threshold, base)
        kept = nil
        defer { kept = mutant.keptPut }
        let outcome = try body(mutant)
        if case .commit = outcome { mutant.commits() }
        return outcome
      }
    } catch {
      if mutation == .changedError, !(error is StorageError) { throw ChangedError(cause: error) }
      if mutation == .retryableMistakes, var error = error as? StorageError {
        error.isRetryable = true
        throw error
      }
      throw error
    }
  }

  func close() throws { try base.close() }
}

/// Signals, whatever the base does: nothing, but for the mutants of that.
extension MutantStorage: ChangeSignaling {
  func foreignChangeMark() throws -> UInt64? {
    switch mutation {
    case .unsignalledCommit: 0
    case .signalledOwnCommit:
      try base.read { try $0.value(for: StorageKey([0x61])).map { UInt64($0.last ?? 0) } ?? 0 }
    case .markBehindTheWriter:
      // Where that would be a write inside a write there is no mark.
      try? base.write { _ in .rollBack(0) }
    default: nil
    }
  }

  var changeOrigin: ObjectIdentifier? { nil }
}

private struct ChangedError: Error {
  var cause: any Error
}

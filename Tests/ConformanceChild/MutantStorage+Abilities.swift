import GarageDriver

// What a driver may offer besides: as the base has it, but for the mutants of that.

extension MutantStorage: DeferredReading {
  func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    guard let deferred = base as? any DeferredReading else { return try read(body) }
    return try deferred.deferredRead { transaction in
      try body(MutantReadTransaction(transaction, mutation, threshold, base))
    }
  }
}

extension MutantStorage: BackingUp {
  func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    guard let base = base as? any BackingUp else {
      throw StorageError.notSupported(
        "make a backup by itself", by: info.name, during: .read, "Copy it in another way.")
    }
    try base.backUp(to: path, compacting: compacting, progress: progress)
  }
}

extension MutantStorage: Compacting {
  func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    if mutation == .compactingLosesAnEntry {
      try removeFirst()
      return CompactionResult(byteCountBefore: 0, byteCountAfter: 0)
    }
    guard let base = base as? any Compacting else {
      throw StorageError.notSupported(
        "give back room", by: info.name, during: .write, "Copy it in another way.")
    }
    return try base.compact(progress: progress)
  }

  private func removeFirst() throws {
    try base.write { transaction in
      var first: StorageKey?
      try transaction.scan(.all, .forward) { key, _ in
        first = StorageKey(key)
        return .stop
      }
      if let first { try transaction.remove(first) }
      return .commit(())
    }
  }
}

extension MutantStorage: IntegrityChecking {
  func integrityComplaints() throws -> [String] {
    if mutation == .complainsOfSoundStores { return ["page 1 looks odd"] }
    return try (base as? any IntegrityChecking)?.integrityComplaints() ?? []
  }
}

internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Counts what the store has, by type, without decoding anything. It reads the whole store once.
  ///
  /// Unsaved changes are not counted.
  ///
  /// - Parameter progress: is told every 1024 entries how far the call is, and again from the beginning if the engine asks for
  ///   another try. An error that it throws ends the call, and so does cancelling the task.
  /// - Throws: `CancellationError`, the errors of `progress`, ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func statistics(progress: (CareProgress) throws -> Void = { _ in }) throws -> StoreStatistics {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        try beginCall()
        defer { endCall() }
        var statistics = try retrying(nil, store.gate, isRead: true) {
          try store.driver.read { transaction in
            var counting = try StoreCounting(ReadAccess(garage: self, transaction: transaction), progress)
            return try counting.run()
          }
        }
        statistics.freeByteCount = try (store.driver as? any Compacting)?.freeByteCount()
        return statistics
      }
    }
  }
}

/// Goes through one state of a store and counts.
private struct StoreCounting {
  private let access: ReadAccess
  private var progress: ProgressReporter
  private var statistics = StoreStatistics()
  /// By the digest of the tag under which the objects are counted.
  private var types: [UInt64: StoreStatistics.TypeStatistics] = [:]
  private var incoming: [UInt64: Int] = [:]

  init(_ access: ReadAccess, _ progress: @escaping (CareProgress) throws -> Void) throws {
    self.access = access
    self.progress = ProgressReporter(total: try access.transaction.keyCount(in: .all), progress)
  }

  mutating func run() throws -> StoreStatistics {
    let transaction = access.transaction
    if access.garage.objectKeys.isSealed {
      try countSealed()
    } else {
      try transaction.scan(.all, .forward) { key, value in
        try count(key, value)
        return .continue
      }
    }
    for (tag, count) in incoming { types[tag]?.incomingReferenceCount = count }
    for (tag, type) in types {
      var type = type
      type.name = access.garage.texts.reportedName(ofTag: tag, in: transaction)
      statistics.types.append(type)
    }
    statistics.types.sort { $0.name < $1.name }
    try progress.end()
    return statistics
  }

  /// A scan would stop at a value that does not open.
  private mutating func countSealed() throws {
    var range = StorageKeyRange.all
    while true {
      var block: [StorageKey] = []
      try access.transaction.scanKeys(range, .forward) { key in
        block.append(StorageKey(key))
        return block.count < 256 ? .continue : .stop
      }
      for key in block {
        let bytes = key.bytes.span.bytes
        try access.transaction.withReplaceableValue(for: bytes, isSealed: true) { value in
          if let value { try count(bytes, value) }
        }
      }
      guard let last = block.last, block.count == 256 else { return }
      range.lowerBound = last.bytes + [0]
    }
  }

  private mutating func count(_ key: RawSpan, _ value: RawSpan) throws {
    try progress.advance()
    let byteCount = key.byteCount + value.byteCount
    switch KeyLayout.space(of: key) {
    case .record where KeyLayout.isRecord(key): countRecord(key, value, byteCount)
    case .value:
      statistics.keyCount += 1
      statistics.keyByteCount += byteCount
      try? RecordVerifier.forEachReference(inValueUnder: KeyLayout.checked(key), value) { _, tag, _ in
        incoming[tag, default: 0] += 1
      }
    default: statistics.otherByteCount += byteCount
    }
  }

  private mutating func countRecord(_ key: RawSpan, _ record: RawSpan, _ byteCount: Int) {
    let keys = access.garage.objectKeys
    let tag = KeyLayout.tag(inRecordKey: key)
    var references: [(ReferenceKind, UInt64)] = []
    let summary = try? keys.withIdentifier(of: key, record, typeName: "") { identifier in
      try RecordVerifier.forEachReference(tag: tag, keyIdentifier: identifier, record: record) {
        references.append(($0, $1))
      }
    }
    let own = summary?.concreteTag ?? tag
    var type = types.removeValue(forKey: own) ?? StoreStatistics.TypeStatistics(name: "")
    type.objectCount += 1
    type.byteCount += byteCount
    if byteCount > type.largestByteCount {
      type.largestByteCount = byteCount
      type.largestIdentifier = keys.identifierText(of: key, record)
    }
    if let summary {
      for (kind, target) in references {
        type.outgoingReferences[kind, default: 0] += 1
        incoming[target, default: 0] += 1
      }
      if let status = summary.syncStatus { type.syncStatuses[status, default: 0] += 1 }
    } else {
      type.damagedCount += 1
    }
    types[own] = type
  }
}

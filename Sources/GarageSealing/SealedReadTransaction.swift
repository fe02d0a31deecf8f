internal import GarageDriver

/// Opens the values that a transaction of the wrapped storage lends.
///
/// Opened values are lent from memory of this transaction. Each running closure has memory of its own, so that its value stays
/// as it is, whatever is read inside the closure.
class SealedReadTransaction: SealedValues {
  private let base: any ReadTransaction
  let keys: KeyRing
  let info: StorageInfo
  final var state: TransactionState
  /// Memory that no closure uses at present.
  private final var spare: [SealerOutput] = []
  final let context = SealerOutput()

  init(_ base: any ReadTransaction, _ keys: KeyRing, _ info: StorageInfo) {
    self.base = base
    self.keys = keys
    self.info = info
    state = TransactionState(driver: info.name)
  }

  /// Makes every later operation throw.
  final func end() {
    state.end()
    spare = []
  }

  /// The first failure of an operation, which forbids the commit.
  final var firstError: StorageError? { state.firstError }

  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    state.lend()
    defer { state.takeBack() }
    return try noting { isVisiting in
      try base.withValue(for: key) { sealed in
        try withOpened(sealed, for: key, .get) { value in
          isVisiting = true
          let result = try body(value)
          isVisiting = false
          return result
        }
      }
    }
  }

  final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try state.beginRead(.get)
    state.lend()
    defer { state.takeBack() }
    // An invalid key throws here when its turn comes, so that the error names this storage.
    let wrong = keys.firstIndex { !(1...info.maximumKeyByteCount ~= $0.bytes.count) }
    try noting { isVisiting in
      try base.withValues(for: wrong.map { Array(keys[..<$0]) } ?? keys) { position, sealed in
        let key = keys[position].bytes
        try withOpened(sealed, for: key.span.bytes, .get) { value in
          isVisiting = true
          try visit(position, value)
          isVisiting = false
        }
      }
    }
    if let key = wrong.map({ keys[$0].bytes }) {
      try state.checkKey(key.span.bytes, .get, limit: info.maximumKeyByteCount)
    }
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    state.lend()
    defer { state.takeBack() }
    let output = takeMemory()
    defer { giveBack(output) }
    try noting { isVisiting in
      try base.scan(range, direction) { key, sealed in
        output.removeAll()
        try self.keys.open(sealed, for: key, .scan, into: output, context: context)
        isVisiting = true
        let step = try output.withUnsafeBytes { try visit(key, $0.bytes) }
        isVisiting = false
        return step
      }
    }
  }

  /// Does not open the value: only reading it shows whether it was changed. Keys are not sealed, so nothing shows that an entry
  /// is missing or was added.
  final func contains(_ key: RawSpan) throws -> Bool {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    return try noting { _ in try base.contains(key) }
  }

  /// Does not open the values, just as ``contains(_:)``.
  final func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    state.lend()
    defer { state.takeBack() }
    try noting { isVisiting in
      try base.scanKeys(range, direction) { key in
        isVisiting = true
        let step = try visit(key)
        isVisiting = false
        return step
      }
    }
  }

  final func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    state.lend()
    defer { state.takeBack() }
    return try noting { isVisiting in
      try base.withValue(for: key) { sealed in
        let output = takeMemory()
        defer { giveBack(output) }
        if let sealed, try keys.fault(opening: sealed, for: key, into: output, context: context) != nil {
          output.removeAll()
        }
        isVisiting = true
        let result = try output.withUnsafeBytes { try body(sealed == nil ? nil : $0.bytes) }
        isVisiting = false
        return result
      }
    }
  }

  private func withOpened<R>(
    _ sealed: RawSpan?, for key: RawSpan, _ operation: StorageError.Operation, _ body: (RawSpan?) throws -> R
  ) throws -> R {
    guard let sealed else { return try body(nil) }
    let output = takeMemory()
    defer { giveBack(output) }
    try keys.open(sealed, for: key, operation, into: output, context: context)
    return try output.withUnsafeBytes { try body($0.bytes) }
  }

  /// Runs an operation, and notes its failure, which forbids the commit. An error of the caller's closure does not count as a
  /// failure; the operation sets its argument while that closure runs.
  private func noting<R>(_ operation: (_ isVisiting: inout Bool) throws -> R) throws -> R {
    var isVisiting = false
    do {
      return try operation(&isVisiting)
    } catch let error as StorageError where !isVisiting {
      throw state.failed(error)
    }
  }

  // MARK: - Memory

  /// Larger memory is released after its value.
  private static let keptByteCount = 1 << 20

  final func takeMemory() -> SealerOutput {
    guard let output = spare.popLast() else { return SealerOutput() }
    output.removeAll()
    return output
  }

  final func giveBack(_ output: SealerOutput) {
    if output.capacity <= SealedReadTransaction.keptByteCount { spare.append(output) }
  }
}

internal import GarageDriver

/// Reads a storage through the changes that are not saved to it yet.
///
/// Where the changes have the answer, it keeps the rules of ``GarageDriver/ReadTransaction`` itself; otherwise the storage's
/// transaction does.
class OverlayReadTransaction: SealedValues {
  final var changes: UnsavedChanges
  final let base: any ReadTransaction
  final let info: StorageInfo
  final var state: TransactionState

  init(_ changes: UnsavedChanges, over base: any ReadTransaction, _ info: StorageInfo) {
    self.changes = changes
    self.base = base
    self.info = info
    state = TransactionState(driver: info.name)
  }

  /// Makes every later operation throw.
  final func end() { state.end() }

  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    let change = changes.change(of: key)
    state.lend()
    defer { state.takeBack() }
    switch change {
    case .removed: return try body(nil)
    case .put(let value): return try body(value.storage.span.bytes.extracting(value.range))
    case nil:
      return try readBase { isVisiting in
        try base.withValue(for: key) { value in
          isVisiting = true
          let result = try body(value)
          isVisiting = false
          return result
        }
      }
    }
  }

  final func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    if info.isSealed, changes.change(of: key) == nil {
      try state.beginRead(.get)
      state.lend()
      defer { state.takeBack() }
      return try readBase { isVisiting in
        try base.withReplaceableValue(for: key, isSealed: true) { value in
          isVisiting = true
          let result = try body(value)
          isVisiting = false
          return result
        }
      }
    }
    return try withValue(for: key, body)
  }

  final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try state.beginRead(.get)
    state.lend()
    defer { state.takeBack() }
    // The storage is asked once, for all keys that the changes do not have; the others are shown in between, in order.
    let found = keys.map { changes.change(of: $0.bytes.span.bytes) }
    let missing = keys.indices.filter { found[$0] == nil }
    var next = 0
    func visitFound(before end: Int) throws {
      while next < end {
        if case .put(let value) = found[next] {
          try visit(next, value.storage.span.bytes.extracting(value.range))
        } else {
          try visit(next, nil)
        }
        next += 1
      }
    }
    if !missing.isEmpty {
      var shownCount = 0
      try readBase { isVisiting in
        do {
          try base.withValues(for: missing.map { keys[$0] }) { index, value in
            isVisiting = true
            try visitFound(before: missing[index])
            try visit(missing[index], value)
            (next, shownCount) = (missing[index] + 1, index + 1)
            isVisiting = false
          }
        } catch let failure where !isVisiting && shownCount < missing.count {
          // First the values that stand before the key that failed have their turn.
          isVisiting = true
          try visitFound(before: missing[shownCount])
          isVisiting = false
          throw failure
        }
      }
    }
    try visitFound(before: keys.count)
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    state.lend()
    defer { state.takeBack() }
    var cursor = UnsavedChanges.Cursor(changes, range, direction)
    var step = ScanStep.continue
    try readBase { isVisiting in
      try base.scan(range, direction) { key, value in
        isVisiting = true
        let isChanged = try cursor.visit(upTo: key, direction, visit, &step)
        if step == .continue, !isChanged { step = try visit(key, value) }
        isVisiting = false
        return step
      }
    }
    while step == .continue, let (key, change) = cursor.next() {
      step = try change.visit(key, visit)
    }
  }

  final func contains(_ key: RawSpan) throws -> Bool {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    switch changes.change(of: key) {
    case .removed: return false
    case .put: return true
    case nil: return try readBase { _ in try base.contains(key) }
    }
  }

  final func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    state.lend()
    defer { state.takeBack() }
    var cursor = UnsavedChanges.Cursor(changes, range, direction)
    var step = ScanStep.continue
    try readBase { isVisiting in
      try base.scanKeys(range, direction) { key in
        isVisiting = true
        let isChanged = try cursor.visit(upTo: key, direction, { key, _ in try visit(key) }, &step)
        if step == .continue, !isChanged { step = try visit(key) }
        isVisiting = false
        return step
      }
    }
    while step == .continue, let (key, change) = cursor.next() {
      step = try change.visit(key) { key, _ in try visit(key) }
    }
  }

  /// Reads from the storage, and notes where that fails: it forbids the commit.
  ///
  /// An error of the caller's closure does not forbid it; `read` tells by its argument when that closure runs.
  final func readBase<R>(_ read: (_ isVisiting: inout Bool) throws -> R) throws -> R {
    var isVisiting = false
    do {
      return try read(&isVisiting)
    } catch let error as StorageError where !isVisiting {
      throw state.failed(error)
    }
  }
}

// MARK: - Merging

extension UnsavedChanges.Cursor {
  /// Visits the changes that stand before `key` in the direction of the scan, and one of `key` itself; returns
  /// whether there is one. Stops as soon as `step` says so.
  fileprivate mutating func visit(
    upTo key: RawSpan, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep,
    _ step: inout ScanStep
  ) throws -> Bool {
    while step == .continue, let next = nextKey {
      let order = compareKeys(next.storage.span.bytes.extracting(next.range), key)
      if direction == .forward ? order > 0 : order < 0 { return false }
      if let (key, change) = self.next() { step = try change.visit(key, visit) }
      if order == 0 { return true }
    }
    return false
  }
}

extension UnsavedChange {
  fileprivate func visit(
    _ key: TreeBytes, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    guard case .put(let value) = self else { return .continue }
    return try visit(
      key.storage.span.bytes.extracting(key.range), value.storage.span.bytes.extracting(value.range))
  }
}

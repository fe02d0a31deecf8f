internal import GarageDriver

extension ReadTransaction {
  /// Visits every entry of a range, forward. A sealed value that does not open is given as nil.
  func forEachEntry(
    in range: StorageKeyRange, isSealed: Bool, _ visit: (_ key: RawSpan, _ value: RawSpan?) throws -> Void
  ) throws {
    var rest: StorageKeyRange? = range
    while let range = rest {
      guard let damaged = try scanUntilDamage(range, isSealed: isSealed, visit) else { return }
      try visit(damaged.bytes.span.bytes, nil)
      rest = StorageKeyRange(from: damaged.bytes + [0], to: range.upperBound)
    }
  }

  /// Visits every entry of a range, forward, and gets each value by itself, because scans and multi-gets stop at a sealed value
  /// that does not open. Such a value is given as nil, and so is an empty one.
  func forEachEntryByItself(
    in range: StorageKeyRange, isSealed: Bool, _ visit: (_ key: RawSpan, _ value: RawSpan?) throws -> Void
  ) throws {
    var range = range
    while true {
      var block: [StorageKey] = []
      try scanKeys(range, .forward) { key in
        block.append(StorageKey(key))
        return block.count < 256 ? .continue : .stop
      }
      for key in block {
        try withReplaceableValue(for: key.bytes.span.bytes, isSealed: isSealed) { value in
          if let value, value.byteCount > 0 {
            try visit(key.bytes.span.bytes, value)
          } else {
            try visit(key.bytes.span.bytes, nil)
          }
        }
      }
      guard let last = block.last, block.count == 256 else { return }
      range.lowerBound = last.bytes + [0]
    }
  }

  /// Visits entries up to one that is sealed and does not open. Returns the key of that one.
  private func scanUntilDamage(
    _ range: StorageKeyRange, isSealed: Bool, _ visit: (_ key: RawSpan, _ value: RawSpan?) throws -> Void
  ) throws -> StorageKey? {
    var last: [UInt8] = []
    var isVisiting = false
    do {
      try scan(range, .forward) { key, value in
        isVisiting = true
        try visit(key, value)
        isVisiting = false
        if isSealed {
          last.removeAll(keepingCapacity: true)
          key.withUnsafeBytes { last.append(contentsOf: $0) }
        }
        return .continue
      }
      return nil
    } catch let error as StorageError where isSealed && error.isOfOneValue && !isVisiting {
      // The scan cannot go on here, so the next entry is found by a scan of keys only.
      let lower = last.isEmpty ? range.lowerBound : last + [0]
      var damaged: StorageKey?
      try scanKeys(StorageKeyRange(from: lower, to: range.upperBound), .forward) { key in
        damaged = StorageKey(key)
        return .stop
      }
      return damaged
    }
  }
}

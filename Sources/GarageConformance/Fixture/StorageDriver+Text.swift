internal import GarageDriver

// Short forms of what checks do all the time. Keys and values are text if their bytes do not matter. Every call notes the line
// of the check that made it.

extension StorageDriver {
  /// Runs `body` and commits.
  @discardableResult
  func commit<R>(
    file: StaticString = #fileID, line: UInt = #line, _ body: (any WriteTransaction) throws -> R
  ) throws -> R {
    try located(file, line) { try write { transaction in .commit(try body(transaction)) } }
  }

  /// Commits these entries.
  func put(
    _ entries: KeyValuePairs<String, String>, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    try commit(file: file, line: line) { transaction in
      for (key, value) in entries { try transaction.set(key, value, file: file, line: line) }
    }
  }

  /// The committed value of `key` as text.
  func text(_ key: String, file: StaticString = #fileID, line: UInt = #line) throws -> String? {
    try located(file, line) { try read { try $0.text(key, file: file, line: line) } }
  }
}

extension ReadTransaction {
  /// The value of `key` as text.
  func text(_ key: String, file: StaticString = #fileID, line: UInt = #line) throws -> String? {
    try located(file, line) { try value(for: StorageKey(bytes(key))) }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// The entries in `range`, in the order in which they are visited.
  func entries(
    in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> [Entry] {
    var entries: [Entry] = []
    try located(file, line) {
      try scan(range, direction) { key, value in
        entries.append(Entry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
        return .continue
      }
    }
    return entries
  }

  /// The keys in `range` as text, in the order in which they are visited.
  func keys(
    in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> [String] {
    try entries(in: range, direction, file: file, line: line).map { String(decoding: $0.key, as: UTF8.self) }
  }
}

extension ReadTransaction {
  /// Lends the value of `key` to `body`.
  func lend<R>(
    _ key: String, file: StaticString = #fileID, line: UInt = #line, _ body: (RawSpan?) throws -> R
  ) throws -> R {
    try located(file, line) { try withValue(for: StorageKey(bytes(key)), body) }
  }

  /// The visits of `withValues`, in order: each position with its value as text.
  func texts(_ keys: [String], file: StaticString = #fileID, line: UInt = #line) throws -> [String] {
    var visits: [String] = []
    try located(file, line) {
      try withValues(for: keys.map { StorageKey(bytes($0)) }) { position, value in
        visits.append("\(position): \(ownedText(value) ?? "none")")
      }
    }
    return visits
  }
}

extension WriteTransaction {
  func set(_ key: String, _ value: String, file: StaticString = #fileID, line: UInt = #line) throws {
    try located(file, line) { try put(bytes(value), for: StorageKey(bytes(key))) }
  }

  func delete(_ key: String, file: StaticString = #fileID, line: UInt = #line) throws {
    try located(file, line) { try remove(StorageKey(bytes(key))) }
  }
}

internal import GarageDriver

// What checks do all the time, in few words. Keys and values are written as text where their bytes do not matter.

/// Runs a call of that line of a check; an error that comes out of it and that nobody expected names the line.
func located<R>(_ file: StaticString, _ line: UInt, _ body: () throws -> R) throws -> R {
  let worker = Worker.current
  worker?.reach(file, line)
  do {
    return try body()
  } catch {
    worker?.note(error, "\(file):\(line)")
    throw error
  }
}

/// The bytes of `text`.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

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

  /// What `withValues` visits, in order: each position with its value as text.
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

/// Lent bytes as text.
func text(_ span: RawSpan) -> String { String(decoding: [UInt8](copying: span), as: UTF8.self) }

/// Lent bytes as text, or nil where there are none.
func ownedText(_ span: RawSpan?) -> String? {
  guard let span else { return nil }
  return text(span)
}

/// A copy of lent bytes, or nil where there are none.
func owned(_ span: RawSpan?) -> [UInt8]? {
  guard let span else { return nil }
  return [UInt8](copying: span)
}

/// A number as four digits, so that the order of keys is the order of numbers.
func digits(_ number: Int, _ count: Int = 4) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, count - text.count)) + text
}

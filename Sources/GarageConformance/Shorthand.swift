internal import GarageDriver

// What checks do all the time, in few words. Keys and values are written as text where their bytes do not matter.

/// The bytes of `text`.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension StorageDriver {
  /// Runs `body` and commits.
  @discardableResult
  func commit<R>(_ body: (any WriteTransaction) throws -> R) throws -> R {
    try write { transaction in .commit(try body(transaction)) }
  }

  /// Commits these entries.
  func put(_ entries: KeyValuePairs<String, String>) throws {
    try commit { transaction in
      for (key, value) in entries { try transaction.set(key, value) }
    }
  }

  /// The committed value of `key` as text.
  func text(_ key: String) throws -> String? {
    try read { try $0.text(key) }
  }
}

extension ReadTransaction {
  /// The value of `key` as text.
  func text(_ key: String) throws -> String? {
    try value(for: StorageKey(bytes(key))).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The entries in `range`, in the order in which they are visited.
  func entries(in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward) throws -> [Entry] {
    var entries: [Entry] = []
    try scan(range, direction) { key, value in
      entries.append(Entry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
      return .continue
    }
    return entries
  }

  /// The keys in `range` as text, in the order in which they are visited.
  func keys(in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward) throws -> [String] {
    try entries(in: range, direction).map { String(decoding: $0.key, as: UTF8.self) }
  }
}

extension ReadTransaction {
  /// Lends the value of `key` to `body`.
  func lend<R>(_ key: String, _ body: (RawSpan?) throws -> R) throws -> R {
    try withValue(for: StorageKey(bytes(key)), body)
  }

  /// What `withValues` visits, in order: each position with its value as text.
  func texts(_ keys: [String]) throws -> [String] {
    var visits: [String] = []
    try withValues(for: keys.map { StorageKey(bytes($0)) }) { position, value in
      visits.append("\(position): \(ownedText(value) ?? "none")")
    }
    return visits
  }
}

extension WriteTransaction {
  func set(_ key: String, _ value: String) throws {
    try put(bytes(value), for: StorageKey(bytes(key)))
  }

  func delete(_ key: String) throws { try remove(StorageKey(bytes(key))) }
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

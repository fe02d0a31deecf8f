internal import GarageDriver

/// The expected content of a store whose keys and values are numbers. It is fast enough for histories of a hundred thousand
/// changes.
///
/// A key is its number in eight bytes, the most significant one first, so that keys are ordered as their numbers. A value has
/// eight bytes, too: its number, and the version of the change that put it.
struct NumberModel {
  /// The version of each number's value; 0 if the number is missing.
  private(set) var versions: [UInt32]

  /// A model for numbers below `limit`, of which none is there yet.
  init(below limit: Int) { versions = [UInt32](repeating: 0, count: limit) }

  subscript(number: Int) -> UInt32 {
    get { versions[number] }
    set { versions[number] = newValue }
  }

  /// The number that a scan of `range` comes to at or behind `start`; nil if there is none.
  func next(at start: Int, in range: Range<Int>, _ direction: ScanDirection) -> Int? {
    let step = direction == .forward ? 1 : -1
    var number = start
    while number >= range.lowerBound && number < range.upperBound {
      if versions[number] != 0 { return number }
      number += step
    }
    return nil
  }

  /// The range of the keys of the numbers in `range`. If these are all numbers of the model, it is the range of all keys.
  func keys(_ range: Range<Int>) -> StorageKeyRange {
    StorageKeyRange(
      from: range.lowerBound == 0 ? [] : Self.key(range.lowerBound).bytes,
      to: range.upperBound == versions.count ? nil : Self.key(range.upperBound).bytes)
  }

  static func key(_ number: Int) -> StorageKey {
    withUnsafeBytes(of: UInt64(number).bigEndian) { StorageKey([UInt8]($0)) }
  }

  /// The value of a number in a version.
  static func value(_ number: Int, _ version: UInt32) -> UInt64 {
    UInt64(version) << 32 | UInt64(number)
  }
}

extension WriteTransaction {
  /// Puts a number in a version.
  func put(number: Int, version: UInt32) throws {
    let (key, value) = (UInt64(number).bigEndian, NumberModel.value(number, version))
    try withUnsafeBytes(of: key) { key in
      try withUnsafeBytes(of: value) { value in try put(value.bytes, for: key.bytes) }
    }
  }

  /// Removes a number.
  func remove(number: Int) throws {
    let key = UInt64(number).bigEndian
    try withUnsafeBytes(of: key) { key in try remove(key.bytes) }
  }
}

extension Fixture {
  /// A new store that holds every `step`th number below `limit` in version 1, and its model.
  func newStore(
    ofNumbersBelow limit: Int, step: Int = 1, file: StaticString = #fileID, line: UInt = #line
  ) throws -> (storage: any StorageDriver, numbers: NumberModel) {
    let storage = try newStore(file: file, line: line)
    var numbers = NumberModel(below: limit)
    try storage.commit(file: file, line: line) { transaction in
      for number in stride(from: 0, to: limit, by: step) {
        try transaction.put(number: number, version: 1)
        numbers[number] = 1
      }
    }
    return (storage, numbers)
  }

  /// Expects a get of `number` to return what the model has, and `contains` to agree.
  func expectGet(
    _ number: Int, of numbers: NumberModel, in transaction: any ReadTransaction,
    _ what: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    let key = UInt64(number).bigEndian
    let seen = try located(file, line) {
      try withUnsafeBytes(of: key) { key in
        try transaction.withValue(for: key.bytes) { value in self.number(in: value) }
      }
    }
    let expected = numbers[number] == 0 ? nil : NumberModel.value(number, numbers[number])
    if seen != expected {
      throw failure(
        "a get of number \(number) to find \(words(expected)), \(what())", words(seen), file: file, line: line
      )
    }
    let isThere = try located(file, line) {
      try withUnsafeBytes(of: key) { key in try transaction.contains(key.bytes) }
    }
    try expectEqual(
      isThere, expected != nil, "contains of number \(number), \(what()),", file: file, line: line)
  }

  /// Expects a multi-get of these numbers to return what the model has, each number in its place.
  func expectMultiGet(
    _ wanted: [Int], of numbers: NumberModel, in transaction: any ReadTransaction,
    _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    var visitCount = 0
    var difference: String?
    try located(file, line) {
      try transaction.withValues(for: wanted.map { NumberModel.key($0) }) { position, value in
        let seen = self.number(in: value)
        let version = position < wanted.count ? numbers[wanted[position]] : 0
        let expected = version == 0 ? nil : NumberModel.value(wanted[position], version)
        if difference == nil && (position != visitCount || seen != expected) {
          difference = "\(words(seen)) for \(words(expected)) at visit \(visitCount), position \(position)"
        }
        visitCount += 1
      }
    }
    try expect(
      difference == nil && visitCount == wanted.count, "a multi-get of \(wanted.count) numbers, \(what())",
      seen: difference ?? "\(visitCount) visits", file: file, line: line)
  }

  /// Expects a scan of the numbers in `range` to visit what the model has, up to `limit` of them.
  ///
  /// - Parameter keysOnly: whether it scans only keys, without values.
  func expectScan(
    _ direction: ScanDirection, _ range: Range<Int>? = nil, limit: Int = .max, of numbers: NumberModel,
    keysOnly: Bool = false, in transaction: any ReadTransaction, _ what: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line,
    onVisit: (_ visitCount: Int, _ number: Int) throws -> Void = { _, _ in }
  ) throws {
    let range = range ?? 0..<numbers.versions.count
    let step = direction == .forward ? 1 : -1
    var position = direction == .forward ? range.lowerBound : range.upperBound - 1
    var visitCount = 0
    var difference: String?
    func visit(_ key: RawSpan, _ value: UInt64?) throws -> ScanStep {
      let expected = numbers.next(at: position, in: range, direction)
      let seen =
        key.byteCount == 8 ? key.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self).bigEndian } : nil
      if let expected, seen == UInt64(expected),
        keysOnly || value == NumberModel.value(expected, numbers[expected])
      {
        position = expected + step
        visitCount += 1
        try onVisit(visitCount, expected)
        return visitCount < limit ? .continue : .stop
      }
      func entry(_ number: String, _ value: UInt64?) -> String {
        keysOnly ? "number \(number)" : "number \(number) with \(words(value))"
      }
      let wanted = expected.map { entry("\($0)", NumberModel.value($0, numbers[$0])) }
      difference = "\(entry(seen.map { "\($0)" } ?? text(key), value)) in place of \(wanted ?? "the end")"
      return .stop
    }
    try located(file, line) {
      if keysOnly {
        try transaction.scanKeys(numbers.keys(range), direction) { key in try visit(key, nil) }
      } else {
        try transaction.scan(numbers.keys(range), direction) { key, value in
          try visit(key, number(in: value))
        }
      }
    }
    if difference == nil, visitCount < limit, let missing = numbers.next(at: position, in: range, direction) {
      difference = "the end in place of number \(missing)"
    }
    guard let difference else { return met(file: file, line: line) }
    throw failure(
      "a scan \(keysOnly ? "of keys " : "")\(direction) to visit every number that is there, \(what())",
      "\(difference), after \(visitCount) visits", file: file, line: line)
  }

  /// Expects both scans of all numbers to visit what the model has.
  ///
  /// - Parameter keysOnly: whether they scan only keys.
  func expectScans(
    of numbers: NumberModel, keysOnly: Bool = false, in transaction: any ReadTransaction,
    _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    for direction in ScanDirection.allCases {
      try expectScan(
        direction, of: numbers, keysOnly: keysOnly, in: transaction, what(), file: file, line: line)
    }
  }

  private func number(in value: RawSpan?) -> UInt64? {
    guard let value else { return nil }
    return value.byteCount == 8 ? value.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } : .max
  }
}

private func words(_ value: UInt64?) -> String {
  guard let value else { return "none" }
  return value == .max ? "a value of another length" : "version \(value >> 32) of \(value & 0xFFFF_FFFF)"
}

internal import GarageDriver

/// The expected content of a store: an ordinary dictionary, which is sorted when it is read.
///
/// It shares no code with any driver. Nor does it take the order of keys from `GarageDriver`: it compares bytes as the standard
/// library compares sequences of unsigned numbers.
struct DictionaryModel {
  private(set) var values: [[UInt8]: [UInt8]] = [:]

  mutating func put(_ value: [UInt8], for key: [UInt8]) { values[key] = value }

  mutating func remove(_ key: [UInt8]) { values[key] = nil }

  mutating func removeAll(from lower: [UInt8], to upper: [UInt8]?) {
    for key in values.keys where isIn(key, lower, upper) { values[key] = nil }
  }

  func value(for key: [UInt8]) -> [UInt8]? { values[key] }

  func entries(from lower: [UInt8], to upper: [UInt8]?, _ direction: ScanDirection) -> [Entry] {
    let inRange = values.filter { isIn($0.key, lower, upper) }
    let sorted = inRange.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let entries = sorted.map { Entry(key: $0.key, value: $0.value) }
    return direction == .forward ? entries : entries.reversed()
  }

  private func isIn(_ key: [UInt8], _ lower: [UInt8], _ upper: [UInt8]?) -> Bool {
    if key.lexicographicallyPrecedes(lower) { return false }
    guard let upper else { return true }
    return key.lexicographicallyPrecedes(upper)
  }
}

import GarageDriver
import Testing

/// Keys and ranges of keys compare by unsigned bytes.
struct StorageKeyTests {
  /// In their order.
  private let keys: [[UInt8]] = [
    [], [0], [0, 0], [0, 0xFF], [1], [1, 2], [1, 2, 3], [0x7F], [0x80], [0x80, 0], [0xFE, 0xFF], [0xFF],
    [0xFF, 0xFF],
  ]

  @Test func comparesUnsignedBytesAndPutsPrefixesFirst() {
    for (left, leftKey) in keys.enumerated() {
      for (right, rightKey) in keys.enumerated() {
        let order = compareKeys(leftKey.span.bytes, rightKey.span.bytes)
        #expect(order.signum() == (left - right).signum(), "\(leftKey), \(rightKey)")
        #expect((StorageKey(leftKey) < StorageKey(rightKey)) == (left < right))
        #expect((StorageKey(leftKey) == StorageKey(rightKey)) == (left == right))
      }
    }
  }

  @Test func aPrefixRangeHoldsWhatBeginsWithIt() {
    for prefix in keys {
      let range = StorageKeyRange.prefix(prefix)
      for key in keys + keys.map({ $0 + [0xFF, 0xFF, 0xFF] }) + keys.map({ $0 + [0] }) {
        #expect(range.contains(StorageKey(key)) == key.starts(with: prefix), "\(key) in \(prefix)")
      }
    }
    #expect(StorageKeyRange.prefix([]) == .all)
    #expect(StorageKeyRange.prefix([1, 2]) == StorageKeyRange(from: [1, 2], to: [1, 3]))
    #expect(StorageKeyRange.prefix([1, 0xFF]) == StorageKeyRange(from: [1, 0xFF], to: [2]))
    #expect(StorageKeyRange.prefix([0xFF, 0xFF]) == StorageKeyRange(from: [0xFF, 0xFF]))
  }

  @Test func aRangeHoldsItsLowerBoundAndNotItsUpperOne() {
    for lower in keys {
      for upper in keys {
        let range = StorageKeyRange(from: lower, to: upper)
        #expect(range.isEmpty == !(StorageKey(lower) < StorageKey(upper)))
        for key in keys.map({ StorageKey($0) }) {
          #expect(range.contains(key) == (StorageKey(lower) <= key && key < StorageKey(upper)))
        }
      }
    }
    #expect(!StorageKeyRange.all.isEmpty && !StorageKeyRange(from: [0xFF]).isEmpty)
  }

  @Test func aKeyShowsItsFirstBytes() {
    #expect(StorageKey([0, 0xAB, 0x1F]).description == "00ab1f")
    let long = StorageKey([UInt8](repeating: 0x11, count: 65)).description
    #expect(long == String(repeating: "11", count: 64) + "… (65 bytes)")
  }

  @Test func lentBytesAreCopied() {
    let bytes: [UInt8] = [3, 1, 2]
    #expect([UInt8](copying: bytes.span.bytes) == bytes)
    #expect(StorageKey(bytes.span.bytes) == StorageKey(bytes))
    #expect([UInt8](copying: [UInt8]().span.bytes).isEmpty)
  }
}

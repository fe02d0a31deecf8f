import Testing

@testable import GarageCoding

/// Entries are found where dictionaries and sets keep them: all of them, each once, the key beside its value.
@Suite struct HashStorageTests {
  private struct Wide: Hashable {
    var a: UInt8
    var b: String
    var c: Bool
  }

  private func check<Key: Hashable, Value: Equatable>(_ dictionary: [Key: Value]) {
    var found: [Key: Value] = [:]
    var count = 0
    HashStorage.with(dictionary) { storage in
      storage.forEachPlace { place in
        found[storage.key(place, as: Key.self)[as: Key.self]] =
          storage.value(place, as: Value.self)[as: Value.self]
        count += 1
      }
    }
    #expect(found == dictionary && count == dictionary.count)
    let keys = Set(dictionary.keys)
    var elements: Set<Key> = []
    HashStorage.with(keys) { storage in
      storage.forEachPlace { elements.insert(storage.key($0, as: Key.self)[as: Key.self]) }
    }
    #expect(elements == keys)
  }

  @Test(arguments: [0, 1, 2, 3, 6, 7, 12, 24, 47, 48, 49, 63, 64, 65, 96, 97, 191, 192, 193, 1000, 5000])
  func entries(count: Int) {
    let numbers = Array(0..<count)
    check(Dictionary(uniqueKeysWithValues: numbers.map { ($0, $0) }))
    check(Dictionary(uniqueKeysWithValues: numbers.map { ("\($0)", UInt8(truncatingIfNeeded: $0)) }))
    check(Dictionary(uniqueKeysWithValues: numbers.map { (UInt16($0), "value \($0) that is long enough") }))
    check(
      Dictionary(
        uniqueKeysWithValues: numbers.map { (Wide(a: UInt8($0 % 256), b: "\($0)", c: true), Optional($0)) }))
    check(Dictionary(uniqueKeysWithValues: numbers.map { ($0, ()) }).mapValues { _ in [Int]() })
    var removed = Dictionary(uniqueKeysWithValues: numbers.map { ($0, "\($0)") })
    for number in numbers where number % 3 != 0 { removed[number] = nil }
    check(removed)
    removed.removeAll(keepingCapacity: true)
    check(removed)
    var reserved = [String: Double](minimumCapacity: 10 * count)
    reserved["only"] = 1
    check(reserved)
  }
}

import Testing

@testable import GarageCoding

/// Identities keep their numbers, however many there are, however long, and whatever is forgotten between.
@Suite struct IdentityTableTests {
  private struct Key: Hashable {
    var tag: UInt64
    var bytes: [UInt8]
  }

  /// Lengths around those that stand with their tags, and around what is compared a word at a time.
  private static let lengths = [
    0, 1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 19, 20, 21, 23, 24, 25, 31, 32, 33, 100, 300,
  ]

  private func randomKey(_ random: inout SeededGenerator) -> Key {
    let length = Self.lengths.randomElement(using: &random)!
    var bytes = [UInt8](repeating: 7, count: length)
    // Mostly they differ in one byte alone, anywhere.
    if length > 0 {
      bytes[Int.random(in: 0..<length, using: &random)] = UInt8.random(in: 0...3, using: &random)
    }
    return Key(tag: UInt64.random(in: 1...3, using: &random), bytes: bytes)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64], [5, 9, 40, 1000])
  func likeADictionary(seed: UInt64, limit: Int) {
    var random = SeededGenerator(seed)
    var table = IdentityTable()
    var expected: [Key: Int] = [:]
    var order: [Key] = []
    for step in 0..<3000 {
      switch Int.random(in: 0..<200, using: &random) {
      case 0:
        table.removeAll()
        (expected, order) = ([:], [])
      case 1:
        let count = Int.random(in: 0...order.count, using: &random)
        table.truncate(to: count)
        for key in order[count...] { expected[key] = nil }
        order.removeSubrange(count...)
      case 5: table.reserve(Int.random(in: 0...100, using: &random))
      default:
        let key = order.count < limit ? randomKey(&random) : order.randomElement(using: &random)!
        let asksAhead = Bool.random(using: &random)
        let (number, isNew) = key.bytes.withUnsafeBytes {
          let hash = asksAhead ? table.prefetch(tag: key.tag, $0) : 0
          return table.insert(tag: key.tag, $0, hash: hash)
        }
        guard isNew == (expected[key] == nil), number == expected[key] ?? order.count else {
          Issue.record("\(key) got number \(number) at step \(step), seed \(seed)")
          return
        }
        if isNew {
          expected[key] = order.count
          order.append(key)
        }
      }
      guard step % 100 == 0 else { continue }
      let areThere = order.indices.allSatisfy {
        table.tag(of: $0) == order[$0].tag && table.identifier(of: $0).elementsEqual(order[$0].bytes)
      }
      #expect(table.count == order.count && areThere, "seed \(seed), step \(step)")
    }
  }
}

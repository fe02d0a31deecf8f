import Testing

@testable import GarageDriver

/// Strings are found in a list wherever they are guessed to be.
@Suite struct ByteListTests {
  @Test(arguments: [0, 1, 2, 3, 7, 30]) func aGuessChangesNothing(count: Int) {
    var random = SeededGenerator(seed: 11)
    for round in 0..<20 {
      var strings: Set<[UInt8]> = []
      while strings.count < count {
        strings.insert(random.bytes(Int.random(in: 1...3, using: &random)).map { $0 % 4 })
      }
      var list = ByteList()
      let sorted = strings.sorted { $0.lexicographicallyPrecedes($1) }
      for (index, string) in sorted.enumerated() { list.insert(string.span.bytes, at: index) }
      let others = (0..<20).map { _ in random.bytes(Int.random(in: 1...4, using: &random)).map { $0 % 4 } }
      for wanted in sorted + others {
        let expected = sorted.firstIndex { !$0.lexicographicallyPrecedes(wanted) } ?? count
        let isThere = strings.contains(wanted)
        for guess in Array(0...count) + [Int.max] {
          let found = list.position(of: wanted.span.bytes, near: guess)
          #expect(found == (expected, isThere), "seed 11, round \(round), \(wanted) near \(guess)")
        }
        #expect(
          list.position(of: wanted.span.bytes) == (expected, isThere), "seed 11, round \(round), \(wanted)")
      }
    }
  }
}

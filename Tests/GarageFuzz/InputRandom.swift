/// Numbers from an input, and when that is used up, numbers that follow from it: a short input is a whole case.
struct InputRandom: RandomNumberGenerator {
  private let input: [UInt8]
  private var position = 0
  private var state: UInt64 = 0
  private var uniqueCount = 0
  /// How many more elements the collections of this case may have: hundreds in hundreds would take it all the time.
  private var elementsLeft = 10_000

  init(_ input: [UInt8]) {
    self.input = input
    for byte in input { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
  }

  init(seed: UInt64) { (input, state) = ([], seed) }

  mutating func next() -> UInt64 {
    if position + 2 <= input.count {
      // Two bytes decide what is mostly a choice among few: spread over all 64 bits.
      let number = UInt64(input[position]) << 8 | UInt64(input[position + 1])
      position += 2
      return number << 48 | mix(number) >> 16
    }
    // SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    state &+= 0x9E37_79B9_7F4A_7C15
    return mix(state)
  }

  /// A number that no other call gives: the input may repeat itself, and then chance does too.
  mutating func unique() -> Int {
    uniqueCount += 1
    return uniqueCount
  }

  /// As many elements as are wanted and left.
  mutating func elements(_ count: Int) -> Int {
    let count = min(count, elementsLeft)
    elementsLeft -= count
    return count
  }

  private func mix(_ number: UInt64) -> UInt64 {
    var z = number
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number below `limit`, which is above 0.
  mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % limit }

  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 56) }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

  /// True once in so many times.
  mutating func once(in count: Int) -> Bool { below(count) == 0 }
}

import GarageDriver
import Testing

@testable import GarageStorage

/// The records to which entries lead come in the order of identifiers, however they are sorted, and each once.
@Suite struct CandidateKeysTests {
  enum Kind: CaseIterable {
    case numbers, negativeNumbers, fewBytes, namesWithNumbers, lengths, zeros, bytes16, longNames, wide
  }

  private func identifier(_ kind: Kind, _ random: inout SeededGenerator) -> [UInt8] {
    func bytes(_ count: Int, _ values: ClosedRange<UInt8>) -> [UInt8] {
      (0..<count).map { _ in UInt8.random(in: values, using: &random) }
    }
    func bigEndian(_ number: UInt64) -> [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
    switch kind {
    case .numbers: return [4] + bigEndian(UInt64.random(in: 0..<100_000, using: &random))
    case .negativeNumbers:
      return [4] + bigEndian(1 << 63 &- UInt64.random(in: 0..<300, using: &random) &+ 150)
    case .fewBytes: return bytes(2, 0...255)
    case .namesWithNumbers: return Array("person \(Int.random(in: 0..<9999, using: &random))".utf8)
    // Some begin with others, and zeros stand for what is not there.
    case .lengths: return bytes(Int.random(in: 1...3, using: &random), 0...1)
    case .zeros: return [UInt8](repeating: 0, count: Int.random(in: 1...18, using: &random))
    case .bytes16: return bytes(16, 0...255)
    case .longNames: return Array("somebody whose number is \(Int.random(in: 0..<999, using: &random))".utf8)
    case .wide: return bytes(14, 0...1)
    }
  }

  @Test(arguments: Kind.allCases, [1, 2, 31, 32, 33, 1000])
  func ascending(kind: Kind, count: Int) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let prefix: [UInt8] = [0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9]
    var candidates = CandidateKeys()
    var expected: Set<[UInt8]> = []
    for _ in 0..<count {
      let identifier = identifier(kind, &random)
      candidates.append(
        recordOf: (prefix + identifier).span.bytes, identifierAt: prefix.count, isMatch: true)
      expected.insert(identifier)
    }
    candidates.sort(areOfOneTag: true)
    var found: [[UInt8]] = []
    candidates.forEachOnce { key, _ in
      found.append([UInt8](copying: key.extracting(KeyLayout.identifierOffset...)))
      return .continue
    }
    #expect(found == expected.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
  }

  /// Those that are among others, too, whichever way each list is sorted.
  @Test(arguments: Kind.allCases, [1, 31, 40, 1000])
  func shared(kind: Kind, count: Int) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let prefix: [UInt8] = [0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9]
    func candidates(_ identifiers: [[UInt8]]) -> CandidateKeys {
      var candidates = CandidateKeys()
      for identifier in identifiers {
        candidates.append(
          recordOf: (prefix + identifier).span.bytes, identifierAt: prefix.count, isMatch: false)
      }
      candidates.sort(areOfOneTag: true)
      return candidates
    }
    let all = (0..<count).map { _ in identifier(kind, &random) }
    let left = all.filter { _ in Bool.random(using: &random) }
    let right =
      all.filter { _ in Bool.random(using: &random) } + [identifier(kind, &random), [255, 255, 255, 255]]
    var shared = candidates(left)
    shared.formIntersection(candidates(right))
    var found: [[UInt8]] = []
    shared.forEachOnce { key, _ in
      found.append([UInt8](copying: key.extracting(KeyLayout.identifierOffset...)))
      return .continue
    }
    let expected = Set(left).intersection(right).sorted { $0.lexicographicallyPrecedes($1) }
    #expect(found == expected, "seed \(seed)")
    shared.formIntersection(CandidateKeys())
    #expect(shared.count == 0)
  }

  /// Those of two types that have one identifier stay apart, and in one order.
  @Test func ofTwoTypes() {
    var candidates = CandidateKeys()
    for _ in 0..<2 {
      for type in [2, 1] as [UInt8] {
        for number in (0..<100 as Range<UInt8>).reversed() {
          let prefix: [UInt8] = [0x11, 0, 0, 0, 0, 0, 0, 0, type, 0, 0, 0, 9]
          candidates.append(
            recordOf: (prefix + [number]).span.bytes, identifierAt: prefix.count, isMatch: true)
        }
      }
    }
    candidates.sort(areOfOneTag: false)
    var found: [[UInt8]] = []
    candidates.forEachOnce { key, _ in
      found.append([UInt8](copying: key.extracting(8...)))
      return .continue
    }
    #expect(found == (0..<100).flatMap { [[1, $0], [2, $0]] })
  }
}

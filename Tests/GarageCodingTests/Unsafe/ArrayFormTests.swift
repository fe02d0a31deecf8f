import Synchronization
import Testing

@testable import GarageCoding

/// Arrays that the decoder makes itself are arrays like any other, whatever their elements are.
struct ArrayFormTests {
  private struct Nothing: Codable, Equatable {}
  private struct Tiny: Codable, Equatable { var value: UInt8 }
  private struct Odd: Codable, Equatable { var a: UInt8, b: UInt64, c: UInt8 }
  private struct Wide: Codable, Equatable { var value: SIMD8<Float>, text: String }
  private final class Named: Codable, Equatable {
    var name: String
    init(_ name: String) { self.name = name }
    static func == (a: Named, b: Named) -> Bool { a.name == b.name }
  }

  /// Where they look otherwise all are made the usual way, and the rest tests that one.
  @Test func theyLookAsExpected() {
    #if os(Linux)
      #expect(ArrayForm(Nothing.self) != nil)
      #expect(ArrayForm(Tiny.self) != nil)
      #expect(ArrayForm(Wide.self) != nil)
      #expect(ArrayForm(Named.self) != nil)
      #expect(ArrayForm(Optional<Odd>.self) != nil)
      #expect(ArrayForm([String].self) != nil)
    #endif
  }

  /// Read, then changed as arrays are: copies stay what they were.
  private func check<Element: Codable & Equatable>(_ make: (Int) -> Element) throws {
    for count in [0, 1, 2, 3, 7, 64, 1000] {
      let elements = (0..<count).map(make)
      var read = try copy(elements)
      #expect(read == elements)
      #expect(read.capacity >= count)
      let before = read
      read.append(make(count))
      #expect(read == (0...count).map(make))
      if count > 1 {
        var expected = (0...count).map(make)
        expected.swapAt(0, 1)
        expected.removeLast(2)
        read.swapAt(0, 1)
        read.removeLast(2)
        #expect(read == expected)
      }
      #expect(before == elements)
      read.removeAll(keepingCapacity: true)
      read.append(contentsOf: before)
      #expect(read == elements)
    }
  }

  @Test func allSizesOfElements() throws {
    try check { _ in Nothing() }
    try check { Tiny(value: UInt8(truncatingIfNeeded: $0)) }
    try check { Odd(a: UInt8(truncatingIfNeeded: $0), b: UInt64($0), c: 7) }
    try check { Wide(value: SIMD8(repeating: Float($0)), text: "number \($0)") }
    try check { Named("somebody with the number \($0)") }
    try check { $0 % 3 == 0 ? nil : Odd(a: 1, b: UInt64($0), c: 2) }
    try check { Array(repeating: Tiny(value: 1), count: $0 % 5) }
    try check { ["a": [Tiny(value: UInt8(truncatingIfNeeded: $0))]] }
  }

  /// Counts how many of its kind there are.
  private final class Counted: Codable {
    static let count = Atomic<Int>(0)
    struct Refusal: Error {}

    let number: Int
    init(_ number: Int) {
      self.number = number
      Counted.count.add(1, ordering: .relaxed)
    }
    convenience init(from decoder: any Decoder) throws {
      let number = try decoder.singleValueContainer().decode(Int.self)
      // One that was made, and one that was not.
      self.init(number)
      if number == -1 { throw Refusal() }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
    deinit { Counted.count.subtract(1, ordering: .relaxed) }
  }

  /// Whatever was made before an element that cannot be read is let go of, once.
  @Test func elementsBeforeAnErrorAreLetGoOf() throws {
    for count in [1, 2, 5, 100] {
      for failing in Set([0, 1, count / 2, count - 1]) where failing < count {
        var numbers = Array(0..<count)
        numbers[failing] = -1
        let graph = try GraphEncoder().encode([Old([numbers, [1, 2, 3]])])
        #expect(throws: (any Error).self) { try reread(graph, as: New<[[Counted]]>.self) }
        #expect(Counted.count.load(ordering: .relaxed) == 0, "\(count), failing at \(failing)")
      }
    }
    do {
      let read = try recode([[1, 2], [3]], as: [[Counted]].self)
      #expect(read.map { $0.map(\.number) } == [[1, 2], [3]])
      #expect(Counted.count.load(ordering: .relaxed) == 3)
    }
    #expect(Counted.count.load(ordering: .relaxed) == 0)
  }
}

import Testing

@testable import GarageStorage

/// Elements that are moved to where they belong.
@Suite struct ArrangingTests {
  /// Is counted while it is there.
  private final class Counted {
    let number: Int
    private let count: Count
    init(_ number: Int, _ count: Count) {
      (self.number, self.count) = (number, count)
      count.count += 1
    }
    deinit { count.count -= 1 }
  }
  private final class Count { var count = 0 }

  @Test func everyOrder() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for count in [0, 1, 2, 3, 4, 5, 6, 100, 1_000] {
      for _ in 0..<50 {
        let order = (0..<count).shuffled(using: &random)
        let counting = Count()
        var elements = (0..<count).map { (Counted($0, counting), "number \($0)") }
        let before = elements
        elements.arrange(order)
        #expect(elements.map(\.0.number) == order, "seed \(seed)")
        #expect(elements.map(\.1) == order.map { "number \($0)" }, "seed \(seed)")
        #expect(before.map(\.0.number) == Array(0..<count), "a copy stays as it was, seed \(seed)")
        #expect(counting.count == count, "seed \(seed)")
        elements = []
        _ = before
      }
    }
  }

  @Test func noOrderLeavesThemAsTheyAre() {
    var elements = ["b", "a"]
    elements.arrange(nil)
    #expect(elements == ["b", "a"])
  }
}

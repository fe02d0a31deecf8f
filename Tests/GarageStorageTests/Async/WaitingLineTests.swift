import Testing

@testable import GarageStorage

@Suite struct WaitingLineTests {
  /// It does what an array does.
  @Test func isALine() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var line = WaitingLine<Int>()
    var model: [Int] = []
    for step in 0..<20_000 {
      // Sometimes more come than go, and sometimes fewer.
      switch Int.random(in: 0..<(step / 500 % 2 == 0 ? 12 : 20), using: &random) {
      case 0..<6:
        line.append(step)
        model.append(step)
      case 6:
        let numbers = Array(step..<step + Int.random(in: 0..<3, using: &random))
        line.putFirst(numbers)
        model.insert(contentsOf: numbers, at: 0)
      case 7:
        let number = model.randomElement(using: &random) ?? -1
        let removed = line.remove { $0 == number }
        let expected = model.firstIndex(of: number).map { model.remove(at: $0) }
        #expect(removed == expected, "seed \(seed)")
      default:
        #expect(line.first == model.first, "seed \(seed)")
        let taken = line.popFirst()
        let expected = model.isEmpty ? nil : model.removeFirst()
        #expect(taken == expected, "seed \(seed)")
      }
      #expect(line.count == model.count, "seed \(seed)")
    }
  }

  /// What was taken is held no longer.
  @Test func letsGoOfWhatIsTaken() {
    final class Held {}
    var line = WaitingLine<Held>()
    weak var first: Held?
    do {
      let held = Held()
      first = held
      line.append(held)
      for _ in 0..<10 { line.append(Held()) }
      _ = line.popFirst()
    }
    #expect(first == nil)
    #expect(line.count == 10)
  }
}

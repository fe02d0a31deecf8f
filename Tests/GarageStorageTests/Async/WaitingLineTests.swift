import Testing

@testable import GarageStorage

@Suite struct WaitingLineTests {
  /// It does what an array does.
  @Test func isALine() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var line = WaitingLine<Int>()
    var model: [Int] = []
    var tickets: [Int: WaitingLine<Int>.Ticket] = [:]
    var all: [Int] = []
    for step in 0..<20_000 {
      // Sometimes more come than go, and sometimes fewer.
      switch Int.random(in: 0..<(step / 500 % 2 == 0 ? 12 : 20), using: &random) {
      case 0..<6:
        tickets[step] = line.append(step)
        all.append(step)
        model.append(step)
      case 6:
        let numbers = (0..<Int.random(in: 0..<3, using: &random)).map { -3 * step - $0 }
        for (number, ticket) in zip(numbers, line.putFirst(numbers)) { tickets[number] = ticket }
        all += numbers
        model.insert(contentsOf: numbers, at: 0)
      case 7:
        // Of all that ever came, most are not there any more.
        let meant = Bool.random(using: &random) ? model : all
        guard let number = meant.randomElement(using: &random), let ticket = tickets[number] else { continue }
        let removed = line.remove(ticket)
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

  /// What comes back is found by its new ticket alone.
  @Test func givesTicketsAnew() {
    var line = WaitingLine<Int>()
    let (former, second) = (line.append(1), line.append(2))
    let taken = line.popFirst()
    #expect(taken == 1)
    let again = line.putFirst([1])
    var removed = [line.remove(former), line.remove(again[0]), line.remove(second), line.remove(second)]
    #expect(removed == [nil, 1, 2, nil])
    #expect(line.first == nil)
    // Others do not get the number of one that is gone.
    line.append(3)
    removed = [line.remove(second), line.remove(former), line.popFirst()]
    #expect(removed == [nil, nil, 3])
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

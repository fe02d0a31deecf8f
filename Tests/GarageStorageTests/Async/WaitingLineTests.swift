import Testing

@testable import GarageStorage

/// The line of those who wait, compared with an array.
@Suite struct WaitingLineTests {
  @Test func doesWhatAnArrayDoes() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let hint: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      var line = WaitingLine<Int>()
      var model: [(place: Int, value: Int)] = []
      // Those that were taken are not to be found at their places.
      var gone: [Int] = []
      // Some lines grow long, others are mostly empty.
      let addShare = Int.random(in: 3...6, using: &random)
      for value in 0..<2000 {
        if Int.random(in: 0..<10, using: &random) < addShare {
          model.append((place: line.append(value), value: value))
        } else {
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<4:
            let first = line.popFirst()
            #expect(first == model.first?.value, hint)
            if !model.isEmpty { gone.append(model.removeFirst().place) }
          case 4..<8:
            guard let index = model.indices.randomElement(using: &random) else { continue }
            let one = model.remove(at: index)
            let removed = line.remove(at: one.place)
            #expect(removed == one.value, hint)
            gone.append(one.place)
          case 8:
            let place = gone.randomElement(using: &random) ?? -1
            if model.contains(where: { $0.place == place }) { continue }
            let removed = line.remove(at: place)
            #expect(removed == nil, hint)
          default:
            let values = (0..<Int.random(in: 0..<40, using: &random)).map { -value * 40 - $0 }
            let new = zip(line.prepend(values), values).map { (place: $0, value: $1) }
            model.insert(contentsOf: new, at: 0)
          }
        }
        #expect(line.count == model.count && line.first == model.first?.value, hint)
      }
      #expect(Set(model.map(\.place)).count == model.count, hint)
      var rest: [Int] = []
      while let next = line.popFirst() { rest.append(next) }
      #expect(rest == model.map(\.value), hint)
      #expect(line.first == nil && line.count == 0, hint)
    }
  }

  @Test func holdsNobodyWhoIsGone() {
    final class Waiter {}
    var line = WaitingLine<Waiter>()
    var waiters = (0..<10).map { _ in Waiter() }
    let places = waiters.map { line.append($0) }
    weak let removed = waiters[5]
    weak let popped = waiters[0]
    _ = line.remove(at: places[5])
    _ = line.popFirst()
    waiters = []
    #expect(removed == nil && popped == nil && line.count == 8)
  }
}

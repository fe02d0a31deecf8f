import Foundation
import GarageCoding

/// Random values of random types: each comes back equal and has the same bytes again. Then its records are
/// damaged and read.
final class TypeFuzzer: Fuzzer {
  var seeds: [[UInt8]] { [] }

  func run(_ input: [UInt8]) {
    var random = InputRandom(input)
    roundTrip(RandomType.any(&random), &random)
  }

  func mutate(_ input: [UInt8], _ random: InputRandom) -> [UInt8] {
    var random = random
    var input = input
    if input.isEmpty || random.once(in: 3) { return random.bytes(2 + random.below(60)) }
    for _ in 0...random.below(3) { input[random.below(input.count)] = random.byte() }
    return input
  }

  private func roundTrip<T: Randomized>(_ type: T.Type, _ random: inout InputRandom) {
    let value = T.random(&random, 0)
    do {
      let encoder = GraphEncoder(keyPrefix: 0, userInfo: [:], fixedTime: 1)
      let graph = try encoder.encode([FuzzRoot(value)])
      let source = FuzzSource()
      source.add(graph)
      let session = GraphDecodingSession(source: source, types: try RegisteredTypes())
      guard let copy = try session.object(FuzzRoot<T>.self, graph.roots[0])?.value else {
        fail("\(T.self): nothing came back")
      }
      if copy != value { fail("\(T.self): \(value) came back as \(copy)") }
      let again = try encoder.encode([FuzzRoot(copy)])
      // Record by record: how much room there is before one with a large body depends on what was encoded before.
      if !isSame(again, graph) {
        fail("\(T.self): \(value) has other bytes again")
      }
      damage(graph, T.self, &random)
    } catch {
      fail("\(T.self): \(value): \(error)")
    }
  }

  private func isSame(_ a: EncodedGraph, _ b: EncodedGraph) -> Bool {
    a.recordsByKey.elementsEqual(b.recordsByKey) { $0.key == $1.key && $0.record == $1.record }
  }

  private func damage<T: Randomized>(_ graph: EncodedGraph, _ type: T.Type, _ random: inout InputRandom) {
    let byKey = graph.recordsByKey
    let records = byKey.map(\.record)
    var mutator = Mutator(random: InputRandom(seed: random.next()))
    for _ in 0..<4 {
      let source = FuzzSource()
      source.add(graph)
      let index = mutator.random.below(records.count)
      let key = byKey[index].key
      var record = mutator.mutate(records[index], from: records)
      seal(&record, key: key)
      source.records[key] = record
      guard let types = try? RegisteredTypes() else { return }
      let session = GraphDecodingSession(source: source, types: types)
      guard let copy = try? session.object(FuzzRoot<T>.self, graph.roots[0]) else { continue }
      _ = try? GraphEncoder().encode([copy])
    }
  }
}

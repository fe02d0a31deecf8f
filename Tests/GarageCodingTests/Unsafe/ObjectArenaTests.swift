import Testing

@testable import GarageCoding

/// Where a graph keeps its objects until they are encoded.
struct ObjectArenaTests {
  private final class Counter {
    nonisolated(unsafe) var ended = 0
  }

  private final class Object: Encodable {
    let counter: Counter
    let number: Int

    init(_ counter: Counter, _ number: Int) {
      self.counter = counter
      self.number = number
    }

    func encode(to encoder: any Encoder) throws {}
    deinit { counter.ended += 1 }
  }

  private struct Small: Encodable {
    var object: Object
    var flag = true
  }

  private struct Empty: Encodable {}

  /// Larger than a part of a chunk, and than its own neighbours.
  private struct Large: Encodable {
    var object: Object
    var bytes: (SIMD64<UInt8>, SIMD64<UInt8>, SIMD64<UInt8>, SIMD64<UInt8>) = (.zero, .one, .zero, .one)
    func encode(to encoder: any Encoder) throws {}
  }

  private func number<T: Encodable>(_ kept: KeptObject, _ path: KeyPath<T, Int>, as type: T.Type) -> Int {
    kept.address.assumingMemoryBound(to: type)[0][keyPath: path]
  }

  @Test func objectsStayUntilAllGo() {
    let counter = Counter()
    var arena = ObjectArena()
    for round in 1...3 {
      var kept: [(KeptObject, Int)] = []
      for index in 0..<2000 {
        switch index % 4 {
        case 0: kept.append((arena.keep(Object(counter, index)), index))
        case 1: kept.append((arena.keep(Small(object: Object(counter, index))), index))
        case 2: kept.append((arena.keep(Large(object: Object(counter, index))), index))
        default: _ = arena.keep(Empty())
        }
      }
      #expect(counter.ended == (round - 1) * 1500)
      for (object, index) in kept {
        switch index % 4 {
        case 0: #expect(number(object, \Object.number, as: Object.self) == index)
        case 1: #expect(number(object, \Small.object.number, as: Small.self) == index)
        default:
          #expect(number(object, \Large.object.number, as: Large.self) == index)
          #expect(Int(bitPattern: object.address) % MemoryLayout<Large>.alignment == 0)
        }
      }
      arena.removeAll()
      #expect(counter.ended == round * 1500)
    }
  }

  /// An object that ends with the graph may encode another one.
  @Test func whatEndsWithTheGraphMayEncode() throws {
    final class Last: Codable, Identifiable {
      var id = 1
      var next: Last?
      deinit { _ = try? GraphEncoder().encode(root: Other(id: id)) }
    }
    struct Other: Codable, Identifiable {
      var id: Int
    }
    struct Holder: Codable, Identifiable {
      var id = 7
      var last: Last { Last() }
      enum CodingKeys: CodingKey { case id, last }
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(last, forKey: .last)
      }
    }
    for _ in 0..<10 { #expect(try GraphEncoder().encode(root: Holder()).records.count == 2) }
  }
}

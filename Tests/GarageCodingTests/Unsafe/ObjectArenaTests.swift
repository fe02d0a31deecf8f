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

  // MARK: - Arrays, whose elements wait for their turn

  private struct Leaf: Codable, Identifiable, Equatable {
    var id: String
    var text: String
    var more: [String]

    init(_ name: String) {
      id = "leaf with a long name, \(name)"
      text = "text of \(name), longer than what fits into a string"
      more = [text, name]
    }
  }

  /// Makes its arrays when it is encoded, and lets them go: nobody but the graph has them afterwards.
  private struct Maker: Codable, Identifiable, Equatable {
    var id: Int
    var names: [String]
    var leaves: [Leaf] = []
    var pairs: [[Leaf]] = []

    enum CodingKeys: CodingKey { case id, names, leaves, pairs }

    init(id: Int, names: [String], isMade: Bool) {
      (self.id, self.names) = (id, names)
      if isMade {
        (leaves, pairs) = (names.map { Leaf($0) }, names.map { [Leaf($0 + "a"), Leaf($0 + "b")] })
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(names, forKey: .names)
      try container.encode(names.map { Leaf($0) }, forKey: .leaves)
      try container.encode(names.map { [Leaf($0 + "a"), Leaf($0 + "b")] }, forKey: .pairs)
    }
  }

  @Test func arraysThatNobodyElseHasStay() throws {
    struct Shelf: Codable, Identifiable, Equatable {
      var id = 1
      var makers: [Maker]
    }
    func shelf(isMade: Bool) -> Shelf {
      Shelf(
        makers: (0..<50).map { number in
          Maker(id: number, names: (0..<number % 7).map { "\(number) and \($0)" }, isMade: isMade)
        })
    }
    for _ in 0..<5 { #expect(try roundTrip(shelf(isMade: false)) == shelf(isMade: true)) }
  }

  /// Structs in arrays in structs in arrays, some with an identity, whose parts may stand in the same memory.
  @Test func arraysInArrays() throws {
    struct Box: Codable, Equatable {
      var leaf: Leaf
      var others: [Leaf]
      var spare: Leaf?
    }
    struct Room: Codable, Identifiable, Equatable {
      var id: Int
      var boxes: [Box]
      var spares: [Leaf?]
    }
    struct House: Codable, Identifiable, Equatable {
      var id = 1
      var rooms: [Room]
      var best: Room
    }
    func leaf(_ number: Int) -> Leaf { Leaf("\(number % 11)") }
    let rooms = (0..<20).map { number in
      Room(
        id: number,
        boxes: (0..<3).map { box in
          Box(
            leaf: leaf(number + box), others: (0..<box).map { leaf(number * $0) },
            spare: box == 1 ? leaf(number) : nil)
        },
        spares: [nil, leaf(number + 3), leaf(number + 4)])
    }
    for _ in 0..<5 {
      let house = House(rooms: rooms, best: rooms[3])
      #expect(try roundTrip(house) == house)
    }
  }

  /// What throws within an array leaves nothing behind: what comes later may stand in memory where that array stood.
  @Test func arraysThatThrow() throws {
    struct Refused: Error {}
    struct Refusing: Codable, Identifiable {
      var id: Int
      var leaf: Leaf
      init(_ id: Int) { (self.id, leaf) = (id, Leaf("\(id)")) }
      func encode(to encoder: any Encoder) throws { if id == 3 { throw Refused() } }
    }
    struct Part: Codable, Equatable {
      var leaf: Leaf
      init(_ number: Int) { leaf = Leaf("part \(number)") }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode([leaf, leaf])
        if leaf.id.hasSuffix("part 3") { throw Refused() }
      }
      init(from decoder: any Decoder) throws {
        leaf = try decoder.singleValueContainer().decode([Leaf].self)[0]
      }
    }
    struct Root: Codable, Identifiable {
      var id: Int
      var leaves: [Leaf] = []
      enum CodingKeys: CodingKey { case id, leaves, parts }
      init(id: Int) { self.id = id }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        leaves = try container.decode([Leaf].self, forKey: .leaves)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try? container.encode((0..<5).map { Part($0) }, forKey: .parts)
        try container.encode((0..<5).map { Leaf("leaf \($0)") }, forKey: .leaves)
      }
    }
    for id in 0..<20 {
      let copy = try roundTrip(Root(id: id))
      #expect(copy.leaves == (0..<5).map { Leaf("leaf \($0)") })
      #expect(throws: Refused.self) { try roundTrip(Owner((0..<5).map { Refusing($0) })) }
    }
  }

  /// All that was kept ends with the graph, that of arrays too.
  @Test func keptArraysEnd() throws {
    struct Counted: Encodable, Identifiable {
      var id: Int
      var object: Object
      var padding = (1, 2, 3)
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
      }
    }
    struct Owner: Encodable, Identifiable {
      var id = 1
      var counter: Counter
      enum CodingKeys: CodingKey { case first, second }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode((0..<10).map { Counted(id: $0, object: Object(counter, $0)) }, forKey: .first)
        try container.encode((5..<15).map { Counted(id: $0, object: Object(counter, $0)) }, forKey: .second)
        // They are encoded later.
        #expect(counter.ended < 20)
      }
    }
    let counter = Counter()
    #expect(try GraphEncoder().encode(root: Owner(counter: counter)).records.count == 16)
    #expect(counter.ended == 20)
  }
}

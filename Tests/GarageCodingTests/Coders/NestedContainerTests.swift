import Foundation
import Testing

@testable import GarageCoding

// Nested containers that are filled in any order: at once, one inside the other, in turn with what is around them, late,
// or never. JSON's coders say what comes out. (Not of superclasses' encoders, with which they do not get along.)

private struct LooseKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(_ text: String) { stringValue = text }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

private enum CaseKey: String, CodingKey, CaseIterable { case a, b, c, d, e, f }

/// What was written, as a decoder finds it.
private indirect enum FoundTree: Codable, Equatable {
  case map([String: FoundTree]), list([FoundTree]), number(Int), text(String)

  init(from decoder: any Decoder) throws {
    if let map = try? decoder.container(keyedBy: LooseKey.self) {
      let entries = try map.allKeys.map { ($0.stringValue, try map.decode(FoundTree.self, forKey: $0)) }
      self = .map(Dictionary(uniqueKeysWithValues: entries))
    } else if var list = try? decoder.unkeyedContainer() {
      var elements: [FoundTree] = []
      while !list.isAtEnd { elements.append(try list.decode(FoundTree.self)) }
      self = .list(elements)
    } else {
      let single = try decoder.singleValueContainer()
      if let number = try? single.decode(Int.self) {
        self = .number(number)
      } else {
        self = .text(try single.decode(String.self))
      }
    }
  }

  func encode(to encoder: any Encoder) throws {}
}

/// Writes containers at random, the same for the same seed.
private struct Writing: Encodable {
  var seed: UInt64
  var depth = 0
  /// Then values may fail on the way. JSON's encoder is left in disorder by these.
  @TaskLocal static var failsOnTheWay = false

  private enum Container {
    case cases(KeyedEncodingContainer<CaseKey>), texts(KeyedEncodingContainer<LooseKey>)
    case list(any UnkeyedEncodingContainer)
  }

  func encode(to encoder: any Encoder) throws {
    var random = SeededGenerator(seed)
    var open: [Container] = [Self.container(of: encoder, &random)]
    var paths = [encoder.codingPath.count]
    var keys: [Set<String>] = [[]]
    for step in 0..<Int.random(in: 1...14, using: &random) {
      let index = Int.random(in: 0..<open.count, using: &random)
      var used = keys[index]
      var new: Container?
      let action = Int.random(in: 0...9, using: &random)
      switch open[index] {
      case .cases(var container):
        guard let key = CaseKey.allCases.first(where: { !used.contains($0.rawValue) }) else { continue }
        // Mostly in order, sometimes not.
        let chosen = action == 9 ? CaseKey.allCases.last(where: { !used.contains($0.rawValue) }) ?? key : key
        used.insert(chosen.rawValue)
        new = try write(to: &container, chosen, action, step, &random)
        open[index] = .cases(container)
      case .texts(var container):
        let key = LooseKey(
          ["z", "é", "m\(step)", "super \(step)"].randomElement(using: &random)! + "\(used.count)")
        used.insert(key.stringValue)
        new = try write(to: &container, key, action, step, &random)
        open[index] = .texts(container)
      case .list(var container):
        let count = container.count
        new = try write(to: &container, action, step, &random)
        #expect(container.count == count + 1)
        open[index] = .list(container)
      }
      keys[index] = used
      if let new {
        open.append(new)
        keys.append([])
        paths.append(paths[index] + 1)
      }
      for (container, count) in zip(open, paths) { #expect(Self.path(of: container).count == count) }
    }
  }

  private static func container(of encoder: any Encoder, _ random: inout SeededGenerator) -> Container {
    switch Int.random(in: 0...2, using: &random) {
    case 0: .cases(encoder.container(keyedBy: CaseKey.self))
    case 1: .texts(encoder.container(keyedBy: LooseKey.self))
    default: .list(encoder.unkeyedContainer())
    }
  }

  private static func path(of container: Container) -> [any CodingKey] {
    switch container {
    case .cases(let container): container.codingPath
    case .texts(let container): container.codingPath
    case .list(let container): container.codingPath
    }
  }

  private func child(_ random: inout SeededGenerator) -> Writing {
    Writing(seed: random.next(), depth: depth + 1)
  }

  private func write<Key: CodingKey>(
    to container: inout KeyedEncodingContainer<Key>, _ key: Key, _ action: Int, _ step: Int,
    _ random: inout SeededGenerator
  ) throws -> Container? {
    switch action {
    case 0: return .cases(container.nestedContainer(keyedBy: CaseKey.self, forKey: key))
    case 1: return .texts(container.nestedContainer(keyedBy: LooseKey.self, forKey: key))
    case 2: return .list(container.nestedUnkeyedContainer(forKey: key))
    case 4 where depth < 3: try container.encode(child(&random), forKey: key)
    case 5: try container.encode(Point(x: step, y: -1), forKey: key)
    case 6: try container.encode(String(repeating: "x", count: step * 30), forKey: key)
    case 7:
      if Writing.failsOnTheWay { try? container.encode(Failing(), forKey: key) };
      try container.encode(7, forKey: key)
    default: try container.encode(step, forKey: key)
    }
    return nil
  }

  private func write(
    to container: inout any UnkeyedEncodingContainer, _ action: Int, _ step: Int,
    _ random: inout SeededGenerator
  ) throws -> Container? {
    switch action {
    case 0: return .cases(container.nestedContainer(keyedBy: CaseKey.self))
    case 1: return .texts(container.nestedContainer(keyedBy: LooseKey.self))
    case 2: return .list(container.nestedUnkeyedContainer())
    case 4 where depth < 3: try container.encode(child(&random))
    case 5: try container.encode(Point(x: step, y: -1))
    case 6: try container.encode(String(repeating: "x", count: step * 30))
    default: try container.encode(step)
    }
    return nil
  }

  /// Writes into nested containers, one of which waits, and fails.
  private struct Failing: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CaseKey.self)
      var first = container.nestedContainer(keyedBy: CaseKey.self, forKey: .c)
      var second = container.nestedUnkeyedContainer(forKey: .a)
      try first.encode(1, forKey: .b)
      try second.encode(Point(x: 1, y: 1))
      var third = first.nestedUnkeyedContainer(forKey: .a)
      try third.encode("third")
      throw CancellationError()
    }
  }
}

/// Reads what stands in a tree, nested containers in any order, and compares.
private struct Reading: Decodable {
  @TaskLocal static var expected = FoundTree.list([])
  @TaskLocal static var seed: UInt64 = 0

  init(from decoder: any Decoder) throws {
    var random = SeededGenerator(Reading.seed)
    var waiting: [(FoundTree, KeyedDecodingContainer<LooseKey>?, (any UnkeyedDecodingContainer)?)] = []
    try Self.open(Reading.expected, decoder, &waiting)
    var left: [[String]] = waiting.map { Self.keys(of: $0.0).shuffled(using: &random) }
    while !waiting.isEmpty {
      let index = Int.random(in: 0..<waiting.count, using: &random)
      if case .map(let map) = waiting[index].0, let container = waiting[index].1 {
        guard let key = left[index].popLast(), let value = map[key] else {
          #expect(Set(container.allKeys.map(\.stringValue)) == Set(map.keys))
          waiting.remove(at: index); left.remove(at: index); continue
        }
        let at = LooseKey(key)
        switch value {
        case .map where Bool.random(using: &random):
          waiting.append((value, try container.nestedContainer(keyedBy: LooseKey.self, forKey: at), nil))
        case .list where Bool.random(using: &random):
          waiting.append((value, nil, try container.nestedUnkeyedContainer(forKey: at)))
        case .map, .list:
          if Bool.random(using: &random) {
            #expect(try container.decode(FoundTree.self, forKey: at) == value)
          } else {
            try Self.open(value, container.superDecoder(forKey: at), &waiting)
          }
        case .number(let number): #expect(try container.decode(Int.self, forKey: at) == number)
        case .text(let text): #expect(try container.decode(String.self, forKey: at) == text)
        }
      } else if case .list(let list) = waiting[index].0, var container = waiting[index].2 {
        #expect(container.count == list.count)
        guard !container.isAtEnd else { waiting.remove(at: index); left.remove(at: index); continue }
        let value = list[container.currentIndex]
        switch value {
        case .map where Bool.random(using: &random):
          #expect(throws: DecodingError.self) { try container.nestedUnkeyedContainer() }
          waiting.append((value, try container.nestedContainer(keyedBy: LooseKey.self), nil))
        case .list where Bool.random(using: &random):
          waiting.append((value, nil, try container.nestedUnkeyedContainer()))
        default: #expect(try container.decode(FoundTree.self) == value)
        }
        waiting[index].2 = container
      }
      while left.count < waiting.count {
        left.append(Self.keys(of: waiting[left.count].0).shuffled(using: &random))
      }
    }
  }

  private static func keys(of tree: FoundTree) -> [String] {
    if case .map(let map) = tree { map.keys.sorted() } else { [] }
  }

  private static func open(
    _ tree: FoundTree, _ decoder: any Decoder,
    _ waiting: inout [(FoundTree, KeyedDecodingContainer<LooseKey>?, (any UnkeyedDecodingContainer)?)]
  ) throws {
    if case .map = tree {
      waiting.append((tree, try decoder.container(keyedBy: LooseKey.self), nil))
    } else {
      waiting.append((tree, nil, try decoder.unkeyedContainer()))
    }
  }
}

@Suite struct NestedContainerTests {
  private struct Written: Encodable, Identifiable, TypeTagged {
    static var typeTag: String { "nested" }
    var id = 1
    var value: Writing
  }
  private struct Read<Value: Codable>: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "nested" }
    var id = 1
    var value: Value
  }
  private struct ReadingHolder: Codable {
    init(from decoder: any Decoder) throws { _ = try Reading(from: decoder) }
    func encode(to encoder: any Encoder) throws {}
  }

  @Test(arguments: 0..<400 as Range<UInt64>) func anyOrder(seed: UInt64) throws {
    let written = Written(value: Writing(seed: seed))
    let json = try JSONEncoder().encode(written)
    let expected = try JSONDecoder().decode(Read<FoundTree>.self, from: json).value
    let graph = try Writing.$failsOnTheWay.withValue(true) { try GraphEncoder().encode(root: written) }
    #expect(try reread(graph, as: Read<FoundTree>.self).value == expected)
    #expect(content(try GraphEncoder().encode(root: written)) == content(graph))
    for order in 0..<3 as Range<UInt64> {
      try Reading.$expected.withValue(expected) {
        try Reading.$seed.withValue(order) { _ = try reread(graph, as: Read<ReadingHolder>.self) }
      }
    }
  }

  /// Keys that are asked for again find the container that they had, also where there are many.
  @Test func manyByKey() throws {
    struct Many: Scripted {
      var found: String
      static func write(_ encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: LooseKey.self)
        for round in 0..<3 {
          for index in 0..<200 {
            var nested = container.nestedContainer(keyedBy: LooseKey.self, forKey: LooseKey("k\(index)"))
            try nested.encode(index, forKey: LooseKey("r\(round)"))
          }
        }
      }
      static func read(_ decoder: any Decoder) throws -> String {
        guard case .map(let map) = try FoundTree(from: decoder) else { return "no map" }
        return
          "\(map.count) \(map.values.allSatisfy { if case .map(let inner) = $0 { inner.count == 3 } else { false } })"
      }
    }
    #expect(try copy(Many(found: "")).found == "200 true")
  }

  /// A container around ten thousand that wait costs no more for each than one around ten.
  @Test func manyThatWait() throws {
    struct Wide: Codable {
      init() {}
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var nested: [any UnkeyedDecodingContainer] = []
        while !list.isAtEnd { nested.append(try list.nestedUnkeyedContainer()) }
        for index in nested.indices { #expect(try nested[index].decode(Int.self) == index) }
      }
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        var nested = (0..<10_000).map { _ in list.nestedUnkeyedContainer() }
        for index in nested.indices { try nested[index].encode(index) }
      }
    }
    _ = try copy(Wide())
  }
}

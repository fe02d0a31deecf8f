import Foundation
import Testing

@testable import GarageCoding

/// As deep as one wants: arrays in arrays, maps in maps, single values in single values, nested containers.
private enum Way: Int, CaseIterable { case array, map, single, nestedUnkeyed, nestedKeyed, superEncoder }

private struct Deep: Codable {
  @TaskLocal static var way = Way.array
  var depth: Int
  init(_ depth: Int) { self.depth = depth }
  enum Keys: CodingKey { case a }

  func encode(to encoder: any Encoder) throws {
    switch Deep.way {
    case .array:
      var list = encoder.unkeyedContainer()
      if depth > 1 { try list.encode(Deep(depth - 1)) }
    case .map:
      var map = encoder.container(keyedBy: Keys.self)
      if depth > 1 { try map.encode(Deep(depth - 1), forKey: .a) }
    case .single:
      var single = encoder.singleValueContainer()
      if depth > 1 { try single.encode(Deep(depth - 1)) } else { try single.encode(5) }
    case .nestedUnkeyed:
      var list = encoder.unkeyedContainer()
      for _ in 1..<depth { list = list.nestedUnkeyedContainer() }
      try list.encode("bottom")
    case .nestedKeyed:
      var map = encoder.container(keyedBy: Keys.self)
      for _ in 1..<depth { map = map.nestedContainer(keyedBy: Keys.self, forKey: .a) }
      try map.encode("bottom", forKey: .a)
    case .superEncoder:
      var encoder = encoder
      for _ in 1..<depth { var list = encoder.unkeyedContainer(); encoder = list.superEncoder() }
      try "bottom".encode(to: encoder)
    }
  }

  init(from decoder: any Decoder) throws {
    depth = 1
    switch Deep.way {
    case .array:
      var list = try decoder.unkeyedContainer()
      if !list.isAtEnd { depth += try list.decode(Deep.self).depth }
    case .map:
      let map = try decoder.container(keyedBy: Keys.self)
      if map.contains(.a) { depth += try map.decode(Deep.self, forKey: .a).depth }
    case .single:
      let single = try decoder.singleValueContainer()
      if (try? single.decode(Int.self)) == nil { depth += try single.decode(Deep.self).depth }
    case .nestedUnkeyed:
      var list = try decoder.unkeyedContainer()
      while (try? list.decode(String.self)) == nil { list = try list.nestedUnkeyedContainer(); depth += 1 }
    case .nestedKeyed:
      var map = try decoder.container(keyedBy: Keys.self)
      while (try? map.decode(String.self, forKey: .a)) == nil {
        map = try map.nestedContainer(keyedBy: Keys.self, forKey: .a); depth += 1
      }
    case .superEncoder:
      var decoder = decoder
      while (try? String(from: decoder)) == nil {
        var list = try decoder.unkeyedContainer(); decoder = try list.superDecoder(); depth += 1
      }
    }
  }
}

/// A body of arrays in arrays, as no encoder writes it.
private func nestedArrays(_ depth: Int) -> [UInt8] {
  var body: [UInt8] = []
  for level in 0..<depth {
    let length = UInt32((depth - level - 1) * 9)
    body.append(BodyTag.arrayLarge)
    withUnsafeBytes(of: length.littleEndian) { body.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt32(level < depth - 1 ? 1 : 0).littleEndian) { body.append(contentsOf: $0) }
  }
  return body
}

/// Values may nest to any depth, or are refused, without the stack ending.
@Suite struct DepthTests {
  private func isTooDeep(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch GraphCodingError.nestingTooDeep {
      return true
    }
  }

  @Test(arguments: Way.allCases.map(\.rawValue)) func deepValues(_ way: Int) throws {
    try Deep.$way.withValue(Way(rawValue: way)!) { () throws -> Void in
      // Two levels are the owner and its property.
      for depth in [1, 100, 500] {
        if way != Way.single.rawValue {
          #expect(try copy(Deep(depth)).depth == depth, "\(depth)")
        } else {
          _ = try copy(Deep(depth))
        }
      }
      for depth in [513, 1000, 10_000] {
        #expect(try isTooDeep { _ = try GraphEncoder().encode([Owner(Deep(depth))]) }, "\(depth)")
      }
      #expect(try copy(Point(x: 1, y: 2)) == Point(x: 1, y: 2))
    }
  }

  @Test func containersOneHundredThousandDeep() throws {
    for way in [Way.nestedUnkeyed, .nestedKeyed, .superEncoder] {
      try Deep.$way.withValue(way) { () throws -> Void in
        let done = try onSmallStack {
          try Deep.$way.withValue(way) {
            try isTooDeep { _ = try GraphEncoder().encode([Owner(Deep(100_000))]) }
          }
        }
        #expect(done)
      }
    }
  }

  @Test func smallStacks() throws {
    for way in Way.allCases {
      // As much as fits comes back; more throws, on either side.
      let outcome = try onSmallStack {
        try Deep.$way.withValue(way) {
          var greatest = 0
          for depth in [1, 10, 50, 100, 200, 300, 400, 500, 511] {
            if try isTooDeep({ _ = try copy(Deep(depth)) }) { break }
            greatest = depth
          }
          return greatest
        }
      }
      #expect(outcome >= 10, "\(way): \(outcome)")
      let graph = try Deep.$way.withValue(way) { try GraphEncoder().encode([Owner(Deep(500))]) }
      _ = try onSmallStack {
        try Deep.$way.withValue(way) { try isTooDeep { _ = try reread(graph, as: Owner<Deep>.self) } }
      }
    }
  }

  /// A record as nobody writes it: the decoder has a limit of its own.
  @Test(arguments: [511, 513, 5000, 200_000]) func deepRecords(_ depth: Int) throws {
    struct List: Codable, Identifiable {
      var id = 1
      init() {}
      init(from decoder: any Decoder) throws { _ = try Deep(from: decoder) }
      func encode(to encoder: any Encoder) throws {}
    }
    let graph = try GraphEncoder().encode([List()])
    let source = DictionarySource()
    source.add(graph)
    let key = source.records.keys.first!
    source.records[key] = sealed(
      Array(source.records[key]!.prefix(RecordHead.byteCount)) + nestedArrays(depth), key: key)
    for way in [Way.array, .nestedUnkeyed, .superEncoder] {
      try Deep.$way.withValue(way) { () throws -> Void in
        let read = {
          try isTooDeep {
            do { _ = try decode(List.self, graph.roots[0], from: source) } catch is DecodingError {}
          }
        }
        #expect(try read() == (depth > 512), "\(way)")
        if depth > 512 { #expect(try onSmallStack { try Deep.$way.withValue(way) { try read() } }) }
      }
    }
  }

  /// Values and records in turn: the depth is that of each record, the stack is one.
  @Test func recordsInsideValues() throws {
    final class Nest: Codable, Identifiable {
      var id: Int, inside: [[[[[Nest]]]]]
      init(_ id: Int, _ inner: Nest?) { self.id = id; inside = inner.map { [[[[[$0]]]]] } ?? [] }
    }
    try onSmallStack {
      var nest = Nest(0, nil)
      for index in 1..<5000 { nest = Nest(index, nest) }
      let copy = try roundTrip(nest)
      for start in [nest, copy] {
        var count = 0
        var next: Nest? = start
        while let current = next { next = current.inside.first?[0][0][0][0]; current.inside = []; count += 1 }
        #expect(count == 5000)
      }
    }
  }
}

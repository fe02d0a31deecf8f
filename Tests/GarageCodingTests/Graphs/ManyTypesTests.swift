import Foundation
import Testing

@testable import GarageCoding

// Types made of types: as many of them as one wants.

private protocol Digit {}
private enum D0: Digit {}
private enum D1: Digit {}
private enum D2: Digit {}
private enum D3: Digit {}
/// A type for each pair of types.
private enum Two<A, B>: Digit {}

private struct Tagged<T>: Codable, Identifiable, Equatable {
  var id: Int
  init(_ id: Int) { self.id = id }
}
/// Calls `body` with 256 types.
private func forEachType(_ body: (any Digit.Type) throws -> Void) rethrows {
  func all(_ types: [any Digit.Type]) -> [any Digit.Type] {
    func pair<A: Digit, B: Digit>(_: A.Type, _: B.Type) -> any Digit.Type { Two<A, B>.self }
    return types.flatMap { a in types.map { b in pair(a, b) } }
  }
  for type in all(all([D0.self, D1.self, D2.self, D3.self])) { try body(type) }
}

/// Encodes an object of each type, and decodes them in turn.
private struct TypeZoo: Codable, Identifiable {
  var id = 1
  var count = 0
  init() {}
  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    try forEachType { type in
      func decode<T: Digit>(_: T.Type) throws {
        guard try list.decode(Tagged<T>.self) == Tagged<T>(count) else { throw WrongField(index: count) }
        count += 1
      }
      try decode(type)
    }
  }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    var count = 0
    try forEachType { type in
      func encode<T: Digit>(_: T.Type) throws { try list.encode(Tagged<T>(count)) }
      try encode(type)
      count += 1
    }
  }
}

/// A record with more than 255 shapes: keys of one type, of which each value has others.
private struct ShapeZoo: Codable, Equatable {
  var mask: [Int]
  init(_ mask: [Int]) { self.mask = mask }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CaseKeyed.Key.self)
    mask = try CaseKeyed.Key.allCases.filter { container.contains($0) }.map {
      try container.decode(Int.self, forKey: $0)
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CaseKeyed.Key.self)
    for (key, value) in zip(CaseKeyed.Key.allCases, mask) { try container.encode(value, forKey: key) }
  }
}

/// A graph may have more types and shapes than fit into one byte.
@Suite struct ManyTypesTests {
  @Test func moreThan63Tags() throws {
    let graph = try GraphEncoder().encode([TypeZoo()])
    #expect(graph.records.count == 257 && graph.tags.count == 257)
    #expect(try roundTrip(TypeZoo()).count == 256)
  }

  @Test func moreThan255Shapes() throws {
    let zoo = (0...256).map { ShapeZoo(Array(0..<$0)) } + (0...256).reversed().map { ShapeZoo(Array(0..<$0)) }
    let graph = try GraphEncoder().encode([Owner(zoo)])
    #expect(graph.shapes.count > 256)
    #expect(try copy(zoo) == zoo)
    #expect(try body(Owner(zoo)) == body(Owner(zoo)))
  }
}

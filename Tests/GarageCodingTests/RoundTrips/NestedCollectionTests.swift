import Testing

@testable import GarageCoding

extension CodingUserInfoKey {
  fileprivate static let encodings = CodingUserInfoKey(rawValue: "encodings")!
}

/// Elements of sets and keys of dictionaries are encoded once for their order and once to be written. Inside each other
/// that must not become twice as much with each level.
struct NestedCollectionTests {
  private final class Counter: @unchecked Sendable {
    // @unchecked: used by one thread.
    var count = 0
  }

  private struct Leaf: Codable, Hashable {
    var number = 7

    init() {}
    init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }

    func encode(to encoder: any Encoder) throws {
      (encoder.userInfo[.encodings] as? Counter)?.count += 1
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  private struct Wrapper<Value: Codable & Hashable>: Codable, Hashable {
    var value: Value
  }

  private struct Once<Value: Codable & Hashable>: Interned {
    var value: Value
  }

  /// How often the innermost value of so many levels is encoded; that the whole comes back is checked on the way.
  private func encodings(_ value: Value, levels: Int, _ nest: (Value) -> Value) throws -> Int {
    var nested = value
    for _ in 0..<levels { nested = nest(nested) }
    func count<V: Codable & Hashable>(_ value: V) throws -> Int {
      let counter = Counter()
      let graph = try GraphEncoder(userInfo: [.encodings: counter]).encode(root: Owner(value))
      #expect(try reread(graph, as: Owner<V>.self).value == value)
      return counter.count
    }
    return try count(nested)
  }

  private typealias Value = any (Codable & Hashable)

  private static func set<T: Codable & Hashable>(_ value: T) -> Value { Set([value]) }
  private static func key<T: Codable & Hashable>(_ value: T) -> Value { [value: 1] }
  private static func setOfStruct<T: Codable & Hashable>(_ value: T) -> Value { Set([Wrapper(value: value)]) }
  private static func setOfArray<T: Codable & Hashable>(_ value: T) -> Value { Set([[value]]) }
  private static func setOfOnce<T: Codable & Hashable>(_ value: T) -> Value { Set([Once(value: value)]) }

  private static let nestings: [(name: String, nest: @Sendable (Value) -> Value)] = [
    ("sets", { set($0) }), ("keys", { key($0) }), ("sets of structs", { setOfStruct($0) }),
    ("sets of arrays", { setOfArray($0) }), ("sets of values stored once", { setOfOnce($0) }),
  ]

  @Test(arguments: nestings.map(\.name)) func levelsAddUp(_ name: String) throws {
    let nest = try #require(Self.nestings.first { $0.name == name }).nest
    for levels in 1...9 {
      // Each level sorts what is in it by its canonical bytes, which holds those of the levels below.
      #expect(try encodings(Leaf(), levels: levels, nest) <= 2 * levels + 2, "\(levels) levels")
    }
  }
}

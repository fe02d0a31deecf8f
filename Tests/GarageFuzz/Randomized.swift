import Foundation
import GarageStorage

/// A type of which there are random values: the leaves, and types made of types.
protocol Randomized: Codable, Equatable, SendableMetatype {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Self
  /// Whether a value may be nil, which inside another optional is the same nil.
  static var isOptional: Bool { get }
  /// Whether its own `encode(to:)` writes in the order of hashes, which differs from process to process. The
  /// coder knows better, if it is asked to encode the value.
  static var isInHashOrder: Bool { get }
}

extension Randomized {
  static var isOptional: Bool { false }
  static var isInHashOrder: Bool { false }
}

typealias RandomizedKey = Randomized & Hashable

/// Few elements mostly, sometimes enough for long headers, and in one case no more than it can go through many of.
private func elementCount(_ random: inout InputRandom, _ depth: Int) -> Int {
  if depth > 5 { return random.elements(random.below(2)) }
  return random.elements(random.once(in: 40) ? 200 + random.below(200) : random.below(5))
}

// MARK: - Leaves

extension FixedWidthInteger where Self: Codable {
  static func anyMagnitude(_ random: inout InputRandom) -> Self {
    let number =
      Self(truncatingIfNeeded: random.next())
      ^ (Self(truncatingIfNeeded: random.next()) << (Self.bitWidth / 2))
    return number >> Self(random.below(Self.bitWidth))
  }
}

extension Int: Randomized { static func random(_ r: inout InputRandom, _ d: Int) -> Int { anyMagnitude(&r) } }
extension Int8: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> Int8 { anyMagnitude(&r) }
}
extension Int16: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> Int16 { anyMagnitude(&r) }
}
extension UInt8: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> UInt8 { anyMagnitude(&r) }
}
extension UInt32: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> UInt32 { anyMagnitude(&r) }
}
extension UInt64: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> UInt64 { anyMagnitude(&r) }
}
extension Int128: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> Int128 { anyMagnitude(&r) }
}
extension UInt128: Randomized {
  static func random(_ r: inout InputRandom, _ d: Int) -> UInt128 { anyMagnitude(&r) }
}

extension Bool: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Bool { random.once(in: 2) }
}

extension Double: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Double {
    let number = Double(bitPattern: random.next())
    // NaN is not equal to itself.
    return number.isNaN ? .infinity : random.once(in: 3) ? number : Double(random.below(1000)) / 4
  }
}

extension Float: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Float {
    let number = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    return number.isNaN ? -0.0 : number
  }
}

extension String: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> String {
    let alphabet: [String] = ["a", "b", "\0", "é", "e\u{301}", "€", "😀", "\u{FEFF}", "longer words"]
    let count = random.once(in: 30) ? 60 + random.below(300) : random.below(6)
    return (0..<count).map { _ in alphabet[random.below(alphabet.count)] }.joined()
  }
}

extension Date: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Double.random(&random, depth))
  }
}

extension UUID: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> UUID {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) { buffer in for index in 0..<16 { buffer[index] = random.byte() } }
    return UUID(uuid: bytes)
  }
}

extension Data: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Data {
    Data(random.bytes(random.once(in: 20) ? 250 + random.below(20) : random.below(8)))
  }
}

extension Decimal: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Decimal {
    Decimal(Int.random(&random, depth)) / Decimal(1 + random.below(16))
  }
}

// MARK: - Types made of types

extension Optional: Randomized where Wrapped: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Wrapped? {
    random.once(in: 3) ? nil : Wrapped.random(&random, depth + 1)
  }
  static var isOptional: Bool { true }
}

extension Array: Randomized where Element: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> [Element] {
    (0..<elementCount(&random, depth)).map { _ in Element.random(&random, depth + 1) }
  }
}

extension Dictionary: Randomized where Key: RandomizedKey, Value: Randomized {
  static func random(_ random: inout InputRandom, _ depth: Int) -> [Key: Value] {
    var result: [Key: Value] = [:]
    for _ in 0..<elementCount(&random, depth) {
      result[Key.random(&random, depth + 1)] = Value.random(&random, depth + 1)
    }
    return result
  }
  static var isInHashOrder: Bool { true }
}

extension Set: Randomized where Element: RandomizedKey {
  static func random(_ random: inout InputRandom, _ depth: Int) -> Set<Element> {
    Set((0..<elementCount(&random, depth)).map { _ in Element.random(&random, depth + 1) })
  }
  static var isInHashOrder: Bool { true }
}

/// A map with a shape.
struct Fields<A: Randomized, B: Randomized>: Randomized {
  var first: A
  var second: B?
  var third: A?
  var name: String
  static func random(_ random: inout InputRandom, _ depth: Int) -> Self {
    // A nil in a nil is the outer one, once it was stored.
    Fields(
      first: A.random(&random, depth + 1),
      second: random.once(in: 3) || B.isOptional ? nil : B.random(&random, depth + 1),
      third: random.once(in: 2) || A.isOptional ? nil : A.random(&random, depth + 1),
      name: String.random(&random, depth))
  }
}
extension Fields: Hashable where A: Hashable, B: Hashable {}

/// An enum with payloads.
enum Choice<A: Randomized, B: Randomized>: Randomized {
  case neither
  case left(A)
  case both(A, named: B)
  static func random(_ random: inout InputRandom, _ depth: Int) -> Self {
    switch random.below(3) {
    case 0: .neither
    case 1: .left(A.random(&random, depth + 1))
    default: .both(A.random(&random, depth + 1), named: B.random(&random, depth + 1))
    }
  }
}

/// Inside others it is a reference to its own record.
final class Node<Value: Randomized>: Randomized, Identifiable {
  var id: String
  var value: Value
  var next: Node?
  @Linked var links: [Node]
  var name: Reference<Node>?

  init(_ id: String, _ value: Value) { (self.id, self.value) = (id, value) }

  static func random(_ random: inout InputRandom, _ depth: Int) -> Node {
    // Two objects of one identity would be one record.
    func fresh(_ random: inout InputRandom) -> Node {
      Node(
        "\(random.next())-\(random.unique())"
          + (random.once(in: 8) ? String(repeating: "é", count: 150) : ""),
        Value.random(&random, depth + 2))
    }
    let node = fresh(&random)
    if random.once(in: 2) { node.next = fresh(&random) }
    if random.once(in: 2) { node.links = [node.next ?? node, fresh(&random)] }
    if random.once(in: 2) { node.name = Reference(to: node) }
    return node
  }

  static func == (a: Node, b: Node) -> Bool {
    a.id == b.id && a.value == b.value && a.name == b.name && a.next?.id == b.next?.id
      && a.next?.value == b.next?.value && a.links.map(\.id) == b.links.map(\.id)
      && a.links.map(\.value) == b.links.map(\.value)
  }
}

/// Stored once, referenced from every place.
struct Unique<Value: RandomizedKey>: RandomizedKey, Interned {
  var value: Value
  static func random(_ random: inout InputRandom, _ depth: Int) -> Self {
    Self(value: Value.random(&random, depth + 1))
  }
}

/// Encodes in containers of every kind: nested, super, single, keys out of order.
struct Contrary<A: Randomized, B: Randomized>: Randomized {
  var a: A
  var list: [B]
  var style: Int
  enum CodingKeys: CodingKey { case style, list, a, inner }

  static func random(_ random: inout InputRandom, _ depth: Int) -> Self {
    let list = (0..<random.below(4)).map { _ in B.random(&random, depth + 1) }
    return Contrary(a: A.random(&random, depth + 1), list: list, style: A.isInHashOrder ? 0 : random.below(4))
  }

  init(a: A, list: [B], style: Int) { (self.a, self.list, self.style) = (a, list, style) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if style & 1 == 0 { try container.encode(style, forKey: .style) }
    switch style {
    case 0:
      try container.encode(a, forKey: .a)
      var inner = container.nestedUnkeyedContainer(forKey: .list)
      for value in list { try inner.encode(value) }
    case 1:
      try a.encode(to: container.superEncoder(forKey: .a))
      var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
      try inner.encode(list, forKey: .list)
    case 2:
      var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
      try inner.encode(a, forKey: .a)
      try list.encode(to: container.superEncoder(forKey: .list))
    default:
      var inner = container.nestedUnkeyedContainer(forKey: .inner)
      try inner.encode(a)
      var innermost = inner.nestedContainer(keyedBy: CodingKeys.self)
      try innermost.encode(list, forKey: .list)
    }
    if style & 1 == 1 { try container.encode(style, forKey: .style) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    style = try container.decode(Int.self, forKey: .style)
    switch style {
    case 0:
      a = try container.decode(A.self, forKey: .a)
      var inner = try container.nestedUnkeyedContainer(forKey: .list)
      list = []
      while !inner.isAtEnd { list.append(try inner.decode(B.self)) }
    case 1:
      a = try A(from: container.superDecoder(forKey: .a))
      list = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner).decode(
        [B].self, forKey: .list)
    case 2:
      a = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner).decode(A.self, forKey: .a)
      list = try [B](from: container.superDecoder(forKey: .list))
    default:
      var inner = try container.nestedUnkeyedContainer(forKey: .inner)
      a = try inner.decode(A.self)
      list = try inner.nestedContainer(keyedBy: CodingKeys.self).decode([B].self, forKey: .list)
    }
  }
}

// MARK: - Random types

/// Types built at run time, each nested at most so deep.
enum RandomType {
  static let leaves: [any Randomized.Type] = [
    Int.self, Int8.self, Int16.self, UInt8.self, UInt32.self, UInt64.self, Int128.self, UInt128.self,
    Bool.self,
    Double.self, Float.self, String.self, Date.self, UUID.self, Data.self, Decimal.self,
  ]
  static let keys: [any RandomizedKey.Type] = [
    String.self, Int.self, UUID.self, UInt8.self, Double.self, Date.self, Fields<Int, String>.self,
    [Int].self,
  ]

  static func any(_ random: inout InputRandom, _ depth: Int = 0) -> any Randomized.Type {
    if depth == 3 || random.once(in: 5) { return leaves[random.below(leaves.count)] }
    switch random.below(9) {
    case 0: return optional(any(&random, depth + 1))
    case 1: return array(any(&random, depth + 1))
    case 2: return dictionary(keys[random.below(keys.count)], any(&random, depth + 1))
    case 3: return set(keys[random.below(keys.count)])
    case 4: return fields(any(&random, depth + 1), any(&random, depth + 1))
    case 5: return choice(any(&random, depth + 1), any(&random, depth + 1))
    case 6: return node(any(&random, depth + 1))
    case 7: return unique(keys[random.below(keys.count)])
    default: return contrary(any(&random, depth + 1), any(&random, depth + 1))
    }
  }

  private static func optional<T: Randomized>(_: T.Type) -> any Randomized.Type {
    T.isOptional ? T.self : Optional<T>.self
  }
  private static func array<T: Randomized>(_: T.Type) -> any Randomized.Type { [T].self }
  private static func dictionary<K: RandomizedKey, V: Randomized>(_: K.Type, _: V.Type) -> any Randomized.Type
  {
    [K: V].self
  }
  private static func set<T: RandomizedKey>(_: T.Type) -> any Randomized.Type { Set<T>.self }
  private static func fields<A: Randomized, B: Randomized>(_: A.Type, _: B.Type) -> any Randomized.Type {
    Fields<A, B>.self
  }
  private static func choice<A: Randomized, B: Randomized>(_: A.Type, _: B.Type) -> any Randomized.Type {
    Choice<A, B>.self
  }
  private static func node<T: Randomized>(_: T.Type) -> any Randomized.Type { Node<T>.self }
  private static func unique<T: RandomizedKey>(_: T.Type) -> any Randomized.Type { Unique<T>.self }
  private static func contrary<A: Randomized, B: Randomized>(_: A.Type, _: B.Type) -> any Randomized.Type {
    Contrary<A, B>.self
  }
}

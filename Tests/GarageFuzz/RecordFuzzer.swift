import Foundation
import GarageCoding
import GarageStorage

/// Any bytes as a record, read as each of some types.
///
/// An input is | type 1 | mode 1 | record |. Mode: 01 leaves the checksum as it is, 02 has the identifier cut in
/// the key, 04 answers every reference with the same record, 08 gives unknown shapes a text.
final class RecordFuzzer: Fuzzer {
  private struct Target {
    var decode: (GraphDecodingSession, UInt64, [UInt8], [UInt8]) throws -> Void
    var tag: UInt64
  }
  private var targets: [Target] = []
  private(set) var seeds: [[UInt8]] = []
  private var shapes: [UInt64: [UInt8]] = [:]
  private var tags: [UInt64: String] = [:]
  private let types: RegisteredTypes

  init() throws {
    types = try RegisteredTypes([FuzzDog.self, FuzzCat.self])
    try addSamples()
  }

  private func add<T: Codable & Identifiable>(_ value: T) throws {
    let graph = try GraphEncoder().encode([value])
    for shape in graph.shapes { shapes[shape.digest] = shape.text }
    for tag in graph.tags { tags[tag.digest] = tag.name }
    let index = UInt8(targets.count)
    for record in graph.records {
      for mode in [0, 4] as [UInt8] { seeds.append([index, mode] + graph.bytes[record.value]) }
    }
    targets.append(
      Target(
        decode: { session, tag, key, record in
          _ = try session.object(T.self, tag: tag, keyIdentifier: key.span.bytes, record: record.span.bytes)
        }, tag: graph.roots[0].tag))
  }

  private func addSamples() throws {
    var random = InputRandom(seed: 1)
    try add(FuzzRoot(Fields<Int, [String]>.random(&random, 0)))
    try add(FuzzRoot([1, 2, 300]))
    try add(FuzzRoot(["a", "b", ""]))
    try add(FuzzRoot([UInt8]([1, 2])))
    try add(FuzzRoot([Date()]))
    try add(FuzzRoot([Float(1)]))
    try add(FuzzRoot([1.5]))
    try add(FuzzRoot([true]))
    try add(FuzzRoot([UInt64.max]))
    try add(FuzzRoot([Int?.some(1), nil]))
    try add(FuzzRoot(Data([1, 2])))
    try add(FuzzRoot(Decimal(1.5)))
    try add(FuzzRoot(Int128.min))
    try add(FuzzRoot(["a": ["b": 1.5]]))
    try add(FuzzRoot([UUID(): "a"]))
    try add(FuzzRoot(Set(["a", "b"])))
    try add(FuzzRoot([Choice<Int, String>.neither, .left(1), .both(2, named: "x")]))
    try add(FuzzRoot([Contrary<[Int], String>(a: [1], list: ["x"], style: 3)]))
    for style in 0..<3 { try add(FuzzRoot(Contrary<Date, Int>(a: Date(), list: [1], style: style))) }
    let node = Node<Int>("a", 1)
    node.next = Node("b", 2)
    node.links = [node]
    node.name = Reference(to: node)
    try add(node)
    try add(FuzzRoot([Unique(value: "a")]))
    try add(FuzzDog("rex"))
    try add(FuzzCat("tom"))
    try add(FuzzAnimal("any"))
    try add(FuzzRoot(AnyTree.map(["a": .list([.text("b"), .number(1), .null])])))
  }

  func run(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let target = targets[Int(input[0]) % targets.count]
    let mode = input[1]
    var record = Array(input[2...])
    let key: [UInt8] =
      mode & 2 == 0
      ? [0x20, 0x81, 1] : Identifier.fuzzKey(of: [0x50] + [UInt8](repeating: 0x78, count: 999))
    if mode & 1 == 0 {
      if record[0] > RecordFormat.version { record[0] = UInt8(RecordFormat.version) }
      seal(&record, key: keyBytes(tag: target.tag, key))
    }
    let source = FuzzSource()
    (source.shapes, source.tags) = (shapes, tags)
    if mode & 4 != 0 { source.everywhere = record }
    if mode & 8 != 0 { source.unknownShape = Array(record.suffix(40)) }
    let session = GraphDecodingSession(source: source, types: types)
    try? target.decode(session, target.tag, key, record)
    // The session goes on after an error.
    try? target.decode(session, target.tag, key, record)
    readHeader(target.tag, key, record)
  }

  private func readHeader(_ tag: UInt64, _ key: [UInt8], _ record: [UInt8]) {
    _ = try? RecordSummary(tag: tag, keyIdentifier: key.span.bytes, record: record.span.bytes, typeName: "T")
    try? RecordSummary.forEachReference(
      tag: tag, keyIdentifier: key.span.bytes, record: record.span.bytes, typeName: "T"
    ) { _, identity in
      _ = identity.identifier.description
    }
    if let identifier = Identifier(bytes: Array(record.prefix(300))) {
      _ = identifier.description
      _ = identifier.keyBytes
    }
    _ = Identifier.description(ofKeyBytes: Array(record.prefix(240)))
  }

  func mutate(_ input: [UInt8], _ random: InputRandom) -> [UInt8] {
    var mutator = Mutator(random: random)
    guard input.count > 2 else { return seeds[mutator.random.below(seeds.count)] }
    var head = Array(input[..<2])
    if mutator.random.once(in: 6) { head[0] = mutator.random.byte() }
    if mutator.random.once(in: 6) { head[1] = mutator.random.byte() & mutator.random.byte() }
    let others = (0..<3).map { _ in Array(seeds[mutator.random.below(seeds.count)].dropFirst(2)) }
    return head + mutator.mutate(Array(input[2...]), from: others)
  }
}

extension Identifier {
  /// The key form of any bytes, as far as they are an identifier.
  static func fuzzKey(of bytes: [UInt8]) -> [UInt8] { Identifier(bytes: bytes)?.keyBytes ?? bytes }
}

/// The root of a graph.
struct FuzzRoot<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "root" }
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

class FuzzAnimal: Codable, Identifiable {
  var id: String
  init(_ id: String) { self.id = id }
}

final class FuzzDog: FuzzAnimal {
  var friend: FuzzAnimal?
  enum CodingKeys: CodingKey { case friend }
  override init(_ id: String) {
    friend = FuzzAnimal("friend")
    super.init(id)
  }
  required init(from decoder: any Decoder) throws {
    friend = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(FuzzAnimal.self, forKey: .friend)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(friend, forKey: .friend)
  }
}

final class FuzzCat: FuzzAnimal {
  var lives = [9]
  enum CodingKeys: CodingKey { case lives }
  override init(_ id: String) { super.init(id) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    lives = try container.decode([Int].self, forKey: .lives)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try super.encode(to: container.superEncoder())
    try container.encode(lives, forKey: .lives)
  }
}

/// Whatever is there, asked in every way a decoder can be asked.
indirect enum AnyTree: Codable {
  case null
  case number(Double)
  case text(String)
  case list([AnyTree])
  case map([String: AnyTree])

  struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { Int(stringValue) }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { stringValue = "\(intValue)" }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      var map: [String: AnyTree] = [:]
      for key in container.allKeys {
        _ = try? container.decodeNil(forKey: key)
        _ = try? container.decodeIfPresent(Int.self, forKey: key)
        _ = try? container.superDecoder(forKey: key).container(keyedBy: Key.self).allKeys.count
        map[key.stringValue] = try container.decode(AnyTree.self, forKey: key)
      }
      self = .map(map)
    } else if var container = try? decoder.unkeyedContainer() {
      var list: [AnyTree] = []
      while !container.isAtEnd {
        let before = container.currentIndex
        if (try? container.decodeNil()) == true { continue }
        list.append(try container.decode(AnyTree.self))
        guard container.currentIndex > before else { fail("an array does not go on") }
      }
      self = .list(list)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else {
        _ = try? container.decode(Date.self)
        _ = try? container.decode(Data.self)
        _ = try? container.decode([String].self)
        _ = try? container.decode(UUID.self)
        self = .text("\(try container.decode(Bool.self))")
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .map(let map): try container.encode(map)
    }
  }
}

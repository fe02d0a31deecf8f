import Foundation
import Testing

@testable import GarageCoding

/// Something of everything that a record can hold.
private class Rich: Codable, Identifiable {
  var id = String(repeating: "long identifier ", count: 20)
  var numbers: [Int] = [1, -1, 1000], texts = ["a", "é", ""], dates = [Date.distantPast],
    data = Data([1, 2, 3]), uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
  var table = ["k": [1, 2], "l": []], decimal = Decimal(string: "1.5")!, double = 1.5, float = Float(2),
    wide = Int128(1) << 100, huge = UInt64.max
  var none: Int?, some: Int? = -70_000, flag = true, payload = Payload.named(a: "n", b: nil),
    tree = Tree(1, [Tree(2, [])])
  var mixed: [Int?] = [nil, 300], pairs = [Point(x: 1, y: 2): "p"], set = Set(["x", "y"]),
    text = String(repeating: "t", count: 70)
  var node: Node?, nodes: [Node], address: ReferenceTests.Address, lazy: Reference<Node>
  @Linked var link: Node?
  @Linked var links: [String: Node]
  init() {
    let node = Node("node")
    (self.node, nodes, address, lazy) = (
      node, [node, Node("other")], .init(street: "s", zip: 1), Reference(Node.self, identifier: "lazy")
    )
    (link, links) = (node, ["n": node])
  }
}
private final class Richer: Rich {
  var extra = 5
  enum Keys: CodingKey { case extra }
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    extra = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .extra)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(extra, forKey: .extra)
  }
}

/// Every changed bit and every missing byte of a record is noticed.
@Suite struct RecordDamageTests {
  /// A stored graph whose first record is damaged in many ways.
  private struct Store {
    let source = DictionarySource()
    let root: RecordIdentity
    let key: [UInt8]
    let record: [UInt8]
    init() throws {
      let graph = try GraphEncoder().encode([Richer()])
      source.add(graph)
      root = graph.roots[0]
      (key, record) = graph.recordsByKey[0]
    }
    func read() throws -> Rich? { try decode(Rich.self, root, from: source, types: [Richer.self]) }
  }

  private func isNamed(_ error: any Error) -> Bool {
    switch error {
    case GraphCodingError.corrupt(let type, let identifier, _),
      GraphCodingError.newerFormat(let type, let identifier, _):
      type == "Rich" && identifier.hasPrefix("long identifier")
    default: false
    }
  }

  @Test func everyBit() throws {
    let store = try Store()
    #expect(try store.read() is Richer)
    for byte in store.record.indices {
      for bit in 0..<8 {
        var damaged = store.record
        damaged[byte] ^= 1 << bit
        store.source.records[store.key] = damaged
        do {
          _ = try store.read()
          Issue.record("byte \(byte), bit \(bit): nothing was thrown")
        } catch {
          #expect(isNamed(error), "byte \(byte), bit \(bit): \(error)")
        }
      }
    }
  }

  @Test func everyLength() throws {
    let store = try Store()
    for count in 0..<store.record.count {
      store.source.records[store.key] = Array(store.record.prefix(count))
      do { _ = try store.read(); Issue.record("\(count) bytes: nothing was thrown") } catch {
        #expect(isNamed(error), "\(count) bytes: \(error)")
      }
    }
    for count in [1, 2, 100, 5000] {
      store.source.records[store.key] = store.record + Array(repeating: 0, count: count)
      #expect(throws: GraphCodingError.self) { try store.read() }
    }
  }

  /// Every bit and every length again, in a record whose checksum fits: the parser itself is on its own.
  @Test func everyBitBehindTheChecksum() throws {
    let store = try Store()
    for byte in store.record.indices {
      for bit in 0..<8 {
        var damaged = store.record
        damaged[byte] ^= 1 << bit
        store.source.records[store.key] = sealed(damaged, key: store.key)
        _ = try? store.read()
      }
    }
    for count in store.record.indices {
      store.source.records[store.key] = sealed(Array(store.record.prefix(count)), key: store.key)
      #expect(throws: (any Error).self, "\(count) bytes") { try store.read() }
    }
  }

  /// Damage of many bytes, again with a fitting checksum: it throws or decodes to something.
  @Test(arguments: 0..<24 as Range<UInt64>) func randomDamage(_ seed: UInt64) throws {
    let store = try Store()
    var random = SeededGenerator(seed)
    for _ in 0..<250 {
      store.source.records[store.key] = sealed(damaged(store.record, &random), key: store.key)
      _ = try? store.read()
      // Tables are read without any type, too.
      let record = store.source.records[store.key]!, identifier = Array(store.key.dropFirst(8))
      try? RecordSummary.forEachReference(
        tag: store.root.tag, keyIdentifier: identifier.span.bytes, record: record.span.bytes, typeName: "Rich"
      ) { _, identity in
        _ = "\(identity.identifier)"
      }
    }
    store.source.records[store.key] = store.record
    #expect(try store.read() != nil)
  }

  @Test func wrongKey() throws {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Node("one"), Node("two")])
    source.add(graph)
    let keys = source.records.keys.sorted { $0.lexicographicallyPrecedes($1) }
    (source.records[keys[0]], source.records[keys[1]]) = (source.records[keys[1]]!, source.records[keys[0]]!)
    for root in graph.roots {
      #expect(throws: GraphCodingError.self) { try decode(Node.self, root, from: source) }
    }
  }

  @Test func emptyRecord() throws {
    let store = try Store()
    store.source.records[store.key] = []
    #expect(throws: GraphCodingError.self) { try store.read() }
  }

  @Test func newerFormats() throws {
    let store = try Store()
    for version in [0, UInt8(RecordFormat.version) + 1, 100, 255] {
      var record = store.record
      record[0] = version
      store.source.records[store.key] = record
      do { _ = try store.read(); Issue.record("nothing was thrown") } catch let error as GraphCodingError {
        if case .newerFormat(_, _, let found) = error {
          #expect(found == Int(version) && found > RecordFormat.version)
        } else {
          #expect(version == 0)
        }
      }
    }
  }

  /// Shapes that the store lacks or holds damaged. Each of these types is met here for the first time, since a
  /// process keeps the shapes it has met.
  @Test func damagedShapes() throws {
    let good = DictionarySource(), identifier = try Identifier("shape test", canonical: canonicalBytes)
    let shape = ShapeText.write(["id", "never met before \(UInt64.random(in: 0 ... .max))"])
    let digest = shape.withUnsafeBytes { ContentDigest.digest8(of: $0) }
    let tag = try TypeTag.of(Node.self).digest
    let key = RecordKey.bytes(of: RecordIdentity(tag: tag, identifier: identifier))
    var content: [UInt8] = [1]
    withUnsafeBytes(of: digest.bigEndian) { content.append(contentsOf: $0) }
    content += [BodyTag.mapSmall, 12, 1, 0x8A] + Array("shape test".utf8) + [BodyTag.null]
    good.records[key] = record(.shapes, content, key: key)
    func error() -> String {
      do { _ = try decode(Node.self, RecordIdentity(tag: tag, identifier: identifier), from: good) } catch {
        return "\(error)"
      }
      return "none"
    }
    #expect(error().contains("Node \"shape test\" is damaged: the shape it names is not in the store"))
    for damage in 0..<shape.count {
      var text = shape
      text[damage] ^= 1
      good.shapes[digest] = text
      #expect(error().contains("the shape it names is damaged"))
    }
    good.shapes[digest] = []
    #expect(error().contains("the shape it names is damaged"))
    good.shapes[digest] = shape
    #expect(error().contains("name"))
  }

  /// Every record of the round-trip table, at random: with its own checksum always an error, with one that fits
  /// an error or some value.
  @Test(arguments: LongTests.areWanted ? [1, 2, 3] : [.random(in: 0 ... .max)] as [UInt64]) func manyRecords(
    _ seed: UInt64
  ) throws {
    let store = DamagingStore(seed)
    for (id, testCase) in RoundTripTests.cases.enumerated() { try testCase.keep(id, store) }
    #expect(store.count > 140)
  }
}

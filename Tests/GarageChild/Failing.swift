import Foundation
import GarageMemory
import GarageStorage

/// Parks and retrieves what fails, again and again, and tells how much more memory is in use after that.
enum Failing {
  /// Each way to fail, on a garage of its own.
  enum Kind: String, CaseIterable {
    // Encoding.
    case plain, nested, nestedUnkeyed, superEncoder, superEncoderForKey, nestedInNested, entries, element,
      keyOfMap
    case valueOfMap, member, linked, interned, reference, identifier, digest, identity, mapped, typedKey,
      swallowed
    case secondContainer, stale, tooDeep, insideAnother, several, equalMembers
    // Decoding.
    case decodingNested, decodingUnkeyed, decodingSuper, decodingMembers, decodingEntries, decodingLinked
    case decodingMapped, decodingSwallowed, decodingMismatch, decodingReference, decodingCycle,
      decodingTypedKey
    case decodingMissing, decodingStale
  }

  static func run(_ kind: Kind, _ garage: Garage, count: Int) throws {
    let attempt = try attempt(kind, garage)
    func fail(_ count: Int) throws {
      for _ in 0..<count {
        do { try attempt() } catch { continue }
        throw Failure("\(kind) did not fail")
      }
    }
    // What is kept for good is made by then, also by whoever looks.
    try fail(count / 10)
    _ = try memory()
    let before = try memory()
    try fail(count)
    Command.report(["growth": try memory() - before])
  }

  /// The bytes of this process that are in memory.
  private static func memory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first, let count = Int(number)
    else {
      throw Failure("the system does not say how much memory is in use")
    }
    return count << 10
  }

  private static func attempt(_ kind: Kind, _ garage: Garage) throws -> () throws -> Void {
    switch kind {
    case .typedKey:
      let key = Key<GlobalNamespace, [Broken]>(id: "broken", defaultValue: [])
      return { try garage.set(key, value: [Broken(.nested)]) }
    case .identity: return { _ = try garage.identifier(for: Digested(broken: Broken(.nested))) }
    case .digest: return { try garage.park(Digested(broken: Broken(.nested))) }
    case .several: return { try garage.parkAll([BrokenRoot(id: 1, .plain), BrokenRoot(id: 2, .nested)]) }
    case .equalMembers:
      return { try garage.park(SetOwner(members: [Named(id: 1, text: "a"), Named(id: 1, text: "b")])) }
    case .decodingTypedKey:
      try garage.set(Key<GlobalNamespace, String>(id: "number", defaultValue: ""), value: "text")
      let key = Key<GlobalNamespace, [Int]>(id: "number", defaultValue: [])
      return { _ = try garage.get(key) }
    case .decodingMissing:
      try garage.park(Pair(one: Named(id: 7, text: ""), others: []))
      try garage.delete(Named.self, identifier: 7)
      return { _ = try garage.retrieve(Pair.self, identifier: 1) }
    case .decodingCycle:
      let ring = Ring()
      ring.next = ring
      try garage.park(ring)
      ring.next = nil
      return { _ = try garage.retrieve(Ring.self, identifier: 1) }
    case .decodingMapped:
      try garage.park(MappedText())
      return { _ = try garage.retrieve(MappedNumber.self, identifier: "one") }
    case .decodingNested, .decodingUnkeyed, .decodingSuper, .decodingMembers, .decodingEntries,
      .decodingLinked,
      .decodingSwallowed, .decodingMismatch, .decodingReference, .decodingStale:
      try garage.park(Readable())
      Unreadable.kind.value = kind
      return { _ = try garage.retrieve(Unreadable.self, identifier: 1) }
    case .mapped: return { try garage.park(MappedBroken()) }
    default: return { try garage.park(BrokenRoot(id: 1, kind)) }
    }
  }
}

// MARK: - What cannot be encoded

private struct Named: Codable, Hashable, Identifiable {
  var id: Int
  var text: String
}

private struct SetOwner: Codable, Identifiable {
  var id = 1
  var members: Set<Named>
}

/// Throws when it is encoded, after it has begun.
private struct Broken: Codable, Hashable {
  var kind: Failing.Kind
  init(_ kind: Failing.Kind) { self.kind = kind }
  init(from decoder: any Decoder) throws { kind = .plain }

  private enum Keys: String, CodingKey { case a, b, c }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
    try nested.encode("text", forKey: .a)
    var unkeyed = container.nestedUnkeyedContainer(forKey: .b)
    try unkeyed.encode("text")
    throw Failure("as wanted")
  }
}

private struct BrokenKey: Codable, Hashable {
  var broken = Broken(.nested)
}

private struct BrokenInterned: Interned { var broken = Broken(.nested) }

private struct Digested: Codable, Hashable { var broken: Broken }

private final class BrokenObject: Codable, Hashable, Identifiable {
  var id = 7
  var broken = Broken(.nested)
  init() {}
  static func == (a: BrokenObject, b: BrokenObject) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

private struct BrokenIdentifier: Codable, Identifiable {
  var id = BrokenKey()
}

private final class Kept: @unchecked Sendable { var container: (any UnkeyedEncodingContainer)? }

private final class BrokenRoot: Codable, Identifiable {
  let id: Int
  let kind: Failing.Kind
  init(id: Int, _ kind: Failing.Kind) { (self.id, self.kind) = (id, kind) }

  private enum Keys: String, CodingKey { case id, a, b, c }
  private struct TextKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  // Long because it is a table: each way to fail in a line or a few.
  func encode(to encoder: any Encoder) throws {
    switch kind {
    case .entries:
      var container = encoder.container(keyedBy: TextKey.self)
      for number in 0..<30 { try container.encode(number, forKey: TextKey(stringValue: "key \(number)")) }
      throw Failure("as wanted")
    case .secondContainer:
      _ = encoder.unkeyedContainer()
      var container = encoder.container(keyedBy: Keys.self)
      return try container.encode(id, forKey: .id)
    case .nestedUnkeyed:
      var container = encoder.unkeyedContainer()
      var nested = container.nestedUnkeyedContainer()
      try nested.encode(1)
      var single = container.superEncoder().singleValueContainer()
      try single.encode(2)
      throw Failure("as wanted")
    case .superEncoder:
      try Broken(.nested).encode(to: encoder)
    default: break
    }
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(id, forKey: .id)
    switch kind {
    case .nested:
      var nested = container.nestedContainer(keyedBy: TextKey.self, forKey: .a)
      try nested.encode(String(repeating: "text ", count: 500), forKey: TextKey(stringValue: "key"))
      try nested.encode(Broken(.nested), forKey: TextKey(stringValue: "other"))
    case .superEncoderForKey:
      let encoder = container.superEncoder(forKey: .b)
      try Broken(.nested).encode(to: encoder)
    case .nestedInNested:
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      var inner = nested.nestedUnkeyedContainer(forKey: .a)
      var innermost = inner.nestedContainer(keyedBy: TextKey.self)
      try innermost.encode("text", forKey: TextKey(stringValue: "key"))
      try innermost.encode(Broken(.nested), forKey: TextKey(stringValue: "other"))
    case .element: try container.encode([Broken(.nested)], forKey: .a)
    case .keyOfMap: try container.encode([BrokenKey(): 1], forKey: .a)
    case .valueOfMap: try container.encode([0.5: ["x": Broken(.nested)]], forKey: .a)
    case .member: try container.encode(Set([Broken(.nested)]), forKey: .a)
    case .linked: try container.encode(Linked(wrappedValue: Set([BrokenObject()])), forKey: .a)
    case .interned: try container.encode(BrokenInterned(), forKey: .a)
    case .reference: try container.encode(BrokenObject(), forKey: .a)
    case .identifier: try container.encode(BrokenIdentifier(), forKey: .a)
    case .swallowed:
      for _ in 0..<3 {
        try? container.encode(Broken(.nested), forKey: .a)
        try? container.encode([BrokenKey(): Broken(.nested)], forKey: .b)
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .c)
        try? nested.encode(Broken(.nested), forKey: .c)
      }
      throw Failure("as wanted")
    case .stale:
      let kept = Kept()
      struct Keeping: Encodable {
        let kept: Kept
        func encode(to encoder: any Encoder) throws { kept.container = encoder.unkeyedContainer() }
      }
      try container.encode(Keeping(kept: kept), forKey: .a)
      try kept.container?.encode(1)
    case .tooDeep:
      struct Deep: Encodable {
        var level = 0
        func encode(to encoder: any Encoder) throws {
          var container = encoder.container(keyedBy: Keys.self)
          if level < 3 { _ = container.nestedUnkeyedContainer(forKey: .b) }
          try container.encode(Deep(level: level + 1), forKey: .a)
        }
      }
      try container.encode(Deep(), forKey: .a)
    case .insideAnother:
      let inner = try Garage(MemoryStorage())
      defer { try? inner.close() }
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try inner.park(BrokenRoot(id: 2, .nested))
    default: break
    }
    throw Failure("as wanted")
  }

  init(from decoder: any Decoder) throws { (id, kind) = (1, .plain) }
}

private final class MappedBroken: MappableObject {
  var name = "one"
  var broken = Broken(.nested)
  var table = ["x": Broken(.nested)]
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedBroken.self)
    mapping.add("name", \MappedBroken.name)
    mapping.add("table", \MappedBroken.table)
    mapping.add("broken", \MappedBroken.broken)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

// MARK: - What cannot be decoded

private struct Pair: Codable, Identifiable {
  var id = 1
  var one: Named
  var others: Set<Named>
}

private final class Ring: Codable, Identifiable {
  var id = 1
  var next: Ring?
}

private final class MappedText: MappableObject, TypeTagged {
  static var typeTag: String { "mapped" }
  var name = "one"
  var values = ["a", "b"]
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedText.self)
    mapping.add("name", \MappedText.name)
    mapping.add("values", \MappedText.values)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class MappedNumber: MappableObject, TypeTagged {
  static var typeTag: String { "mapped" }
  var name = "one"
  var values = [1: Set<Int>()]
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedNumber.self)
    mapping.add("name", \MappedNumber.name)
    mapping.add("values", \MappedNumber.values)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private struct Readable: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "readable" }
  var id = 1
  var a = ["x": ["y": "z"]]
  var b = [["x"], ["y"]]
  var c = Named(id: 3, text: "text")
  var texts = [0.5: "x", 1.5: "y"]
  var members: Set = ["x", "y"]
}

private struct Refusing: Codable, Hashable {
  init(from decoder: any Decoder) throws {
    _ = try? decoder.container(keyedBy: Unreadable.Keys.self)
    throw Failure("as wanted")
  }
}

private final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

private struct Unreadable: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "readable" }
  static let kind = Box(Failing.Kind.decodingNested)
  static let kept = Box((any Decoder)?.none)
  var id = 1

  enum Keys: String, CodingKey { case id, a, b, c, x, texts, members }

  func encode(to encoder: any Encoder) throws {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    id = try container.decode(Int.self, forKey: .id)
    switch Unreadable.kind.value {
    case .decodingNested:
      let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      let inner = try nested.nestedContainer(keyedBy: Keys.self, forKey: .x)
      _ = try inner.decode(Refusing.self, forKey: .x)
    case .decodingUnkeyed:
      var nested = try container.nestedUnkeyedContainer(forKey: .b)
      _ = try nested.nestedUnkeyedContainer()
      var inner = try nested.nestedUnkeyedContainer()
      _ = try inner.decode(Refusing.self)
    case .decodingSuper:
      _ = try Refusing(from: container.superDecoder(forKey: .a))
    case .decodingMembers: _ = try container.decode(Set<Refusing>.self, forKey: .members)
    case .decodingEntries: _ = try container.decode([Double: Refusing].self, forKey: .texts)
    case .decodingLinked: _ = try container.decode(Linked<[Ring]>.self, forKey: .members)
    case .decodingReference: _ = try container.decode(Ring.self, forKey: .c)
    case .decodingMismatch: _ = try container.decode([Int: [Int]].self, forKey: .a)
    case .decodingStale:
      if Unreadable.kept.value == nil {
        Unreadable.kept.value = try container.superDecoder(forKey: .a)
      } else {
        _ = try Unreadable.kept.value?.container(keyedBy: Keys.self)
      }
    case .decodingSwallowed:
      for _ in 0..<3 {
        _ = try? container.decode([Double: Refusing].self, forKey: .texts)
        _ = try? container.nestedContainer(keyedBy: Keys.self, forKey: .a).decode(Refusing.self, forKey: .x)
        _ = try? container.decode(Ring.self, forKey: .c)
      }
    default: break
    }
    throw Failure("as wanted")
  }
}

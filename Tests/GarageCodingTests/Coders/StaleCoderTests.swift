import Foundation
import Synchronization
import Testing

@testable import GarageCoding

// Coders and containers that are used where they were not given: an error, also under `try?`, never damage.

private enum K: String, CodingKey { case a, b, c, d }

/// Where values leave their coders for others to misuse.
private final class Shelf: @unchecked Sendable {
  @TaskLocal static var current = Shelf()
  var encoder: (any Encoder)?
  var keyed: KeyedEncodingContainer<K>?
  var unkeyed: (any UnkeyedEncodingContainer)?
  var single: (any SingleValueEncodingContainer)?
  var decoder: (any Decoder)?
  var keyedReader: KeyedDecodingContainer<K>?
  var unkeyedReader: (any UnkeyedDecodingContainer)?
  var singleReader: (any SingleValueDecodingContainer)?

  /// Uses what was left, in every way, hiding all errors. Whether anything worked.
  func misuseEncoders() -> Int {
    var worked = 0
    func attempt(_ body: () throws -> Void) { if (try? body()) != nil { worked += 1 } }
    if let encoder {
      attempt {
        var container = encoder.container(keyedBy: K.self)
        try container.encode("stale", forKey: .d)
      }
      attempt {
        var container = encoder.unkeyedContainer(); try container.encode("stale")
      }
      attempt {
        var container = encoder.singleValueContainer(); try container.encode("stale")
      }
      attempt {
        var container = encoder.singleValueContainer(); try container.encode(Point(x: 1, y: 1))
      }
    }
    if var keyed {
      attempt { try keyed.encode("stale", forKey: .d) }
      attempt { try keyed.encode(Point(x: 1, y: 1), forKey: .d) }
      attempt { try keyed.encodeNil(forKey: .c) }
      attempt { try keyed.encodeIfPresent(Int?.none, forKey: .a) }
      attempt {
        var nested = keyed.nestedContainer(keyedBy: K.self, forKey: .d); try nested.encode(1, forKey: .a)
      }
      attempt {
        var nested = keyed.nestedUnkeyedContainer(forKey: .d); try nested.encode(1)
      }
      attempt { try [1].encode(to: keyed.superEncoder()) }
      attempt { try [1].encode(to: keyed.superEncoder(forKey: .a)) }
    }
    if var unkeyed {
      attempt { try unkeyed.encode("stale") }
      attempt { try unkeyed.encode(Point(x: 1, y: 1)) }
      attempt { try unkeyed.encodeNil() }
      attempt {
        var nested = unkeyed.nestedContainer(keyedBy: K.self); try nested.encode(1, forKey: .a)
      }
      attempt {
        var nested = unkeyed.nestedUnkeyedContainer(); try nested.encode(1)
      }
      attempt { try [1].encode(to: unkeyed.superEncoder()) }
    }
    if var single { attempt { try single.encode("stale") } }
    return worked
  }

  func misuseDecoders() -> Int {
    var worked = 0
    func attempt(_ body: () throws -> Void) { if (try? body()) != nil { worked += 1 } }
    if let decoder {
      attempt { _ = try decoder.container(keyedBy: K.self) }
      attempt { _ = try decoder.unkeyedContainer() }
      attempt { _ = try decoder.singleValueContainer().decode(String.self) }
      attempt { _ = try decoder.singleValueContainer().decode(Point.self) }
    }
    if let keyedReader {
      attempt { _ = try keyedReader.decode(Int.self, forKey: .a) }
      attempt { _ = try keyedReader.decodeIfPresent(Int.self, forKey: .b) }
      attempt { _ = try keyedReader.decodeNil(forKey: .c) }
      attempt { _ = try keyedReader.nestedContainer(keyedBy: K.self, forKey: .d) }
      attempt { _ = try keyedReader.superDecoder() }
      if keyedReader.contains(.a) || !keyedReader.allKeys.isEmpty { worked += 1 }
    }
    if var unkeyedReader {
      attempt { _ = try unkeyedReader.decode(Int.self) }
      attempt { _ = try unkeyedReader.nestedUnkeyedContainer() }
    }
    if let singleReader { attempt { _ = try singleReader.decode(Int.self) } }
    return worked
  }
}

/// Leaves one of its coders on the shelf.
private struct Leaver: Codable {
  var what: Int
  static let encoderCount = 9, decoderCount = 8
  init(_ what: Int) { self.what = what }

  func encode(to encoder: any Encoder) throws {
    let shelf = Shelf.current
    switch what {
    case 0: shelf.encoder = encoder
    case 1: shelf.keyed = encoder.container(keyedBy: K.self)
    case 2: shelf.unkeyed = encoder.unkeyedContainer()
    case 3: shelf.single = encoder.singleValueContainer()
    case 4:
      var container = encoder.container(keyedBy: K.self)
      shelf.keyed = container.nestedContainer(keyedBy: K.self, forKey: .a)
    case 5:
      var container = encoder.container(keyedBy: K.self)
      var nested = container.nestedContainer(keyedBy: K.self, forKey: .a)
      shelf.unkeyed = nested.nestedUnkeyedContainer(forKey: .b)
    case 6:
      var container = encoder.unkeyedContainer()
      shelf.encoder = container.superEncoder()
    case 7:
      var container = encoder.unkeyedContainer()
      var nested = container.nestedUnkeyedContainer()
      shelf.keyed = nested.superEncoder().container(keyedBy: K.self)
      throw CancellationError()
    default:
      shelf.keyed = encoder.container(keyedBy: K.self)
      throw CancellationError()
    }
  }

  init(from decoder: any Decoder) throws {
    let shelf = Shelf.current
    what = 0
    switch decoder.userInfo[CodingUserInfoKey(rawValue: "what")!] as? Int ?? 0 {
    case 0: shelf.decoder = decoder
    case 1: shelf.keyedReader = try decoder.container(keyedBy: K.self)
    case 2: shelf.unkeyedReader = try decoder.container(keyedBy: K.self).nestedUnkeyedContainer(forKey: .d)
    case 3: shelf.singleReader = try decoder.singleValueContainer()
    case 4:
      shelf.keyedReader = try decoder.container(keyedBy: K.self).nestedContainer(keyedBy: K.self, forKey: .c)
    case 5: shelf.decoder = try decoder.container(keyedBy: K.self).superDecoder(forKey: .c)
    case 6: shelf.decoder = try decoder.container(keyedBy: K.self).superDecoder()
    default:
      shelf.keyedReader = try decoder.container(keyedBy: K.self)
      throw CancellationError()
    }
  }
}

/// What a ``Leaver`` decodes.
private struct Readable: Codable, Equatable { var a = 1, b = 2, c = ["a": 3], d = [4, 5] }

/// Misuses what is on the shelf while it is encoded or decoded itself.
private struct Misuser: Codable, Equatable {
  var x = 1
  init() {}
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try container.encode(x, forKey: .a)
    #expect(Shelf.current.misuseEncoders() == 0)
    try container.encode(x, forKey: .b)
  }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: K.self)
    #expect(Shelf.current.misuseDecoders() == 0)
    x = try container.decode(Int.self, forKey: .b)
  }
}

private struct Siblings: Encodable, Identifiable {
  var id = 1
  var leaver: Leaver
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try? container.encode(leaver, forKey: .a)
    try container.encode(Misuser(), forKey: .b)
  }
}

/// A coder that is used after its time throws, and disturbs no other.
@Suite struct StaleCoderTests {
  @Test(arguments: 0..<Leaver.encoderCount) func encodersOfASibling(what: Int) throws {
    try Shelf.$current.withValue(Shelf()) { () throws -> Void in
      #expect(throws: EncodingError.self) { try GraphEncoder().encode([Siblings(leaver: Leaver(what))]) }
    }
    #expect(try copy(Point(x: 1, y: 2)) == Point(x: 1, y: 2))
  }

  @Test(arguments: 0..<Leaver.encoderCount) func encodersAfterTheEnd(what: Int) throws {
    try Shelf.$current.withValue(Shelf()) { () throws -> Void in
      _ = try? GraphEncoder().encode([Owner(Leaver(what))])
      #expect(Shelf.current.misuseEncoders() == 0)
      #expect(try copy(Readable()) == Readable())
      // The coder that was misused is used again, and has forgotten.
      for _ in 0..<3 { #expect(try copy([Readable(), Readable()]) == [Readable(), Readable()]) }
      #expect(Shelf.current.misuseEncoders() == 0)
    }
  }

  private struct ReadSiblings: Decodable, Identifiable {
    var id: Int
    init(from decoder: any Decoder) throws {
      id = 1
      var list = try decoder.container(keyedBy: ListKey.self).nestedUnkeyedContainer(forKey: .value)
      do { _ = try list.decode(Leaver.self) } catch is CancellationError {
        _ = try list.decode(Readable.self)
      }
      _ = try list.decode(Misuser.self)
      _ = try list.decode(Readable.self)
    }
    enum ListKey: CodingKey { case value }
  }

  private func read<T: Decodable>(_ type: T.Type, what: Int) throws {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Owner([Readable(), Readable(), Readable()])])
    source.add(graph)
    let session = GraphDecodingSession(
      source: source, types: try RegisteredTypes(), userInfo: [CodingUserInfoKey(rawValue: "what")!: what])
    _ = try session.object(type, graph.roots[0])
  }

  @Test(arguments: 0..<Leaver.decoderCount) func decodersOfASibling(what: Int) throws {
    Shelf.$current.withValue(Shelf()) {
      // A nested container may be read while its record is: that one works, and finds what is there.
      if [2, 4, 5, 6].contains(what) { return }
      #expect(throws: DecodingError.self) { try read(ReadSiblings.self, what: what) }
    }
  }

  @Test(arguments: 0..<Leaver.decoderCount) func decodersAfterTheEnd(what: Int) throws {
    try Shelf.$current.withValue(Shelf()) { () throws -> Void in
      struct ReadOne: Decodable, Identifiable {
        var id: Int
        init(from decoder: any Decoder) throws {
          id = 1
          var list = try decoder.container(keyedBy: ReadSiblings.ListKey.self).nestedUnkeyedContainer(
            forKey: .value)
          _ = try list.decode(Leaver.self)
        }
      }
      try? read(ReadOne.self, what: what)
      #expect(Shelf.current.misuseDecoders() == 0)
      #expect(try copy([Readable()]) == [Readable()])
    }
  }

  /// The coder of a graph that is done serves another thread by now: who misuses what was left harms nobody there.
  @Test(arguments: 0..<Leaver.encoderCount) func encodersWhileOthersEncode(what: Int) throws {
    try Shelf.$current.withValue(Shelf()) { () throws -> Void in
      _ = try? GraphEncoder().encode([Owner(Leaver(what))])
      let shelf = Shelf.current
      let isDone = Mutex(false)
      let ended = DispatchSemaphore(value: 0)
      Thread {
        while !isDone.withLock({ $0 }) { _ = shelf.misuseEncoders() }
        ended.signal()
      }.start()
      defer {
        isDone.withLock { $0 = true }
        ended.wait()
      }
      let points = (0..<20).map { Point(x: $0, y: 2) }
      for _ in 0..<200 { #expect(try copy(points) == points) }
    }
  }

  // MARK: - Parents and children

  /// A child that writes to its parent's container, which waits.
  @Test func parentsContainerInTheChild() throws {
    struct Parent: Encodable, Identifiable {
      var id = 1
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: K.self)
        Shelf.current.keyed = container
        Shelf.current.encoder = encoder
        try container.encode(Misuser(), forKey: .a)
        try container.encode(1, forKey: .b)
      }
    }
    Shelf.$current.withValue(Shelf()) {
      #expect(throws: EncodingError.self) { try GraphEncoder().encode([Parent()]) }
    }
  }

  /// Containers of one key type, open at once: without asking whether a cached one is in use they would be one.
  @Test func recursiveTypesHaveContainersOfTheirOwn() throws {
    struct Recursive: Codable, Equatable {
      var before: Int, child: [Recursive], after: Int
      init(_ depth: Int) {
        (before, after) = (depth, -depth)
        child = depth == 0 ? [] : [Recursive(depth - 1), Recursive(0)]
      }
    }
    for depth in [1, 2, 6, 20] {
      #expect(try copy(Recursive(depth)) == Recursive(depth))
      #expect(try roundTrip(Holder(Recursive(depth))).all.allSatisfy { $0 == Recursive(depth) })
    }
  }

  @Test func twoContainersOfOneFrame() throws {
    struct Two: Codable, Equatable {
      var x: Int, inner: [Int], y: Int
      init() { (x, inner, y) = (1, [2], 3) }
      func encode(to encoder: any Encoder) throws {
        var first = encoder.container(keyedBy: K.self), second = encoder.container(keyedBy: K.self)
        try first.encode(x, forKey: .a)
        try second.encode(inner, forKey: .b)
        try first.encode(y, forKey: .c)
      }
      init(from decoder: any Decoder) throws {
        let first = try decoder.container(keyedBy: K.self), second = try decoder.container(keyedBy: K.self)
        y = try second.decode(Int.self, forKey: .c)
        inner = try first.decode([Int].self, forKey: .b)
        x = try second.decode(Int.self, forKey: .a)
      }
    }
    #expect(try copy([Two(), Two()]) == [Two(), Two()])
  }

  @Test func containersThatAreKeptDoNotServeOthers() throws {
    struct Keeper: Codable, Equatable {
      nonisolated(unsafe) static var kept: [KeyedEncodingContainer<K>] = []
      nonisolated(unsafe) static var keptReaders: [KeyedDecodingContainer<K>] = []
      var value: Int
      init(_ value: Int) { self.value = value }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: K.self)
        Keeper.kept.append(container)
        try container.encode(value, forKey: .a)
      }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: K.self)
        Keeper.keptReaders.append(container)
        value = try container.decode(Int.self, forKey: .a)
      }
    }
    let values = (0..<20).map(Keeper.init)
    #expect(try copy(values) == values)
    for var container in Keeper.kept {
      #expect(throws: EncodingError.self) { try container.encode(9, forKey: .a) }
    }
    for container in Keeper.keptReaders {
      #expect(throws: DecodingError.self) { try container.decode(Int.self, forKey: .a) }
    }
    #expect(try copy(values) == values)
    (Keeper.kept, Keeper.keptReaders) = ([], [])
  }

  /// A nested container that a child fills, and the child then throws: what it wrote cannot be taken back.
  @Test func childWritesToItsParentsNestedContainer() throws {
    struct Inner: Encodable {
      var fails: Bool
      func encode(to encoder: any Encoder) throws {
        try Shelf.current.unkeyed?.encode(Owner(5))
        var container = encoder.singleValueContainer()
        try container.encode("child")
        if fails { throw CancellationError() }
      }
    }
    struct Outer: Encodable, Identifiable {
      var id = 1
      var fails: Bool
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: K.self)
        Shelf.current.unkeyed = container.nestedUnkeyedContainer(forKey: .a)
        try? container.encode(Inner(fails: fails), forKey: .b)
        try container.encode(Owner("other"), forKey: .c)
      }
    }
    try Shelf.$current.withValue(Shelf()) {
      let graph = try GraphEncoder().encode([Outer(fails: false)])
      #expect(graph.records.count == 3)
      #expect(throws: (any Error).self) { try GraphEncoder().encode([Outer(fails: true)]) }
    }
  }
}

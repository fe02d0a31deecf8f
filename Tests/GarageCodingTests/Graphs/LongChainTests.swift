import Foundation
import Testing

@testable import GarageCoding

// Chains of many objects, encoded and decoded on a thread with a stack of 512 KiB. Releasing one recurses in Swift
// itself, so the tests take theirs apart. Set GARAGE_CHAIN_LENGTHS to others, e.g. "10000,100000,1000000".

private let lengths: [Int] = {
  let texts = ProcessInfo.processInfo.environment["GARAGE_CHAIN_LENGTHS"]?.split(separator: ",") ?? []
  return texts.isEmpty ? [8_000] : texts.compactMap { Int($0) }
}()
/// For chains that differ in detail from those, deep enough to end a small stack.
private let short = lengths == [8_000] ? [5_000] : lengths

/// A chain's element, taken apart from the front.
private protocol Link: AnyObject {
  var nextLink: (any Link)? { get }
  func unlink()
}

private func takeApart(_ first: any Link) -> Int {
  var count = 0
  var current: (any Link)? = first
  while let link = current {
    current = link.nextLink
    link.unlink()
    count += 1
  }
  return count
}

private final class Plain: Codable, Identifiable, Link {
  var id: Int, next: Plain?
  init(_ id: Int, _ next: Plain?) { (self.id, self.next) = (id, next) }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private final class Linking: Codable, Identifiable, Link {
  var id: Int
  @Linked var next: Linking?
  init(_ id: Int, _ next: Linking?) { self.id = id; self.next = next }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private final class LinkingMany: Codable, Identifiable, Link {
  var id: Int
  @Linked var next: [LinkingMany]
  @Linked var named: [String: LinkingMany]
  init(_ id: Int, _ next: LinkingMany?) {
    self.id = id; self.next = next.map { [$0] } ?? []; named = next.map { ["n": $0] } ?? [:]
  }
  var nextLink: (any Link)? { next.first }
  func unlink() { (next, named) = ([], [:]) }
}
private final class Optionals: Codable, Identifiable, Link {
  var id: Int, next: [Optionals?]
  init(_ id: Int, _ next: Optionals?) { (self.id, self.next) = (id, [nil, next]) }
  var nextLink: (any Link)? { next[1] }
  func unlink() { next = [nil, nil] }
}
/// The compiler releases a chain of one optional property link by link; one of two it does not.
private final class Branching: Codable, Identifiable, Link {
  var id: Int, next: Branching?, other: Branching?
  init(_ id: Int, _ next: Branching?) { (self.id, self.next) = (id, next) }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private final class A: Codable, Identifiable, Link {
  var id: Int, next: B?
  init(_ id: Int, _ next: B?) { (self.id, self.next) = (id, next) }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private final class B: Codable, Identifiable, Link {
  var id: Int, next: C?
  init(_ id: Int, _ next: C?) { (self.id, self.next) = (id, next) }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private final class C: Codable, Identifiable, Link {
  var id: Int, next: A?
  init(_ id: Int, _ next: A?) { (self.id, self.next) = (id, next) }
  var nextLink: (any Link)? { next }
  func unlink() { next = nil }
}
private struct Value: Codable, Identifiable { var id: Int, next: [Value] }

/// The last and the first of one chain: its type is learned from the last, the whole chain hangs on the first.
private final class Ends: Codable, Identifiable, Link {
  var id = 0, list: [Plain]
  init(_ list: [Plain]) { self.list = list }
  var nextLink: (any Link)? { list.last }
  func unlink() { list = [] }
}

/// A chain that alternates with a type that is met only at its end: learned late.
private final class Late: Codable, Identifiable, Link {
  var id: Int, next: Late?, other: Plain?
  init(_ id: Int, _ next: Late?, _ other: Plain?) { (self.id, self.next, self.other) = (id, next, other) }
  var nextLink: (any Link)? { next ?? other }
  func unlink() { (next, other) = (nil, nil) }
}

/// No chain of objects is too long for a small stack.
@Suite(.serialized) struct LongChainTests {
  /// Encodes a root, drops it, and decodes it from the records alone; says how long that took.
  private func measure<T: Codable & Link & Identifiable>(
    _ name: String, _ length: Int, count: Int? = nil, _ make: @escaping () -> T
  ) throws {
    try onSmallStack {
      let source = DictionarySource()
      let clock = ContinuousClock()
      var root: T? = make()
      var graph: EncodedGraph?
      let encoding = try clock.measure { graph = try GraphEncoder().encode([root!]) }
      _ = takeApart(root!)
      root = nil
      let encoded = try found(graph)
      source.add(encoded)
      var copy: T?
      let decoding = try clock.measure { copy = try decode(T.self, encoded.roots[0], from: source) }
      #expect(takeApart(try found(copy)) == count ?? length)
      if ProcessInfo.processInfo.environment["GARAGE_CHAIN_LENGTHS"] != nil {
        FileHandle.standardError.write(
          Data("chain \(name) \(length): encode \(encoding), decode \(decoding)\n".utf8))
      }
    }
  }

  private func chain<T>(_ length: Int, _ make: (Int, T?) -> T) -> T {
    var last = make(length - 1, nil)
    for index in (0..<(length - 1)).reversed() { last = make(index, last) }
    return last
  }

  @Test(arguments: lengths) func plainProperty(_ length: Int) throws {
    try measure("plain", length) { chain(length, Plain.init) }
  }
  @Test(arguments: lengths) func linked(_ length: Int) throws {
    try measure("linked", length) { chain(length, Linking.init) }
  }
  @Test(arguments: short) func linkedCollections(_ length: Int) throws {
    try measure("linked array and dictionary", length) { chain(length, LinkingMany.init) }
  }
  @Test(arguments: short) func arraysOfOptionals(_ length: Int) throws {
    try measure("[T?]", length) { chain(length, Optionals.init) }
  }

  @Test(arguments: lengths) func threeTypesInTurn(_ length: Int) throws {
    let rounds = length / 3
    try measure("three types", length, count: rounds * 3) {
      var first: A?
      for index in (0..<rounds).reversed() { first = A(index, B(index, C(index, first))) }
      return first!
    }
  }

  @Test(arguments: short) func lastAndFirst(_ length: Int) throws {
    try measure("last and first", length, count: length + 1) {
      let last = Plain(length - 1, nil)
      var first = last
      for index in (0..<(length - 1)).reversed() { first = Plain(index, first) }
      return Ends([last, first])
    }
  }

  @Test(arguments: short) func typesLearnedLate(_ length: Int) throws {
    try measure("type learned late", length, count: length / 2 * 2) {
      let plain = chain(length / 2, Plain.init)
      return chain(length / 2) { index, next in Late(index, next, next == nil ? plain : nil) }
    }
  }

  @Test(arguments: lengths) func structs(_ length: Int) throws {
    try onSmallStack {
      func take(_ value: inout Value) -> Int {
        var count = 1
        while let next = value.next.first {
          value.next = []
          value = next
          count += 1
        }
        return count
      }
      let clock = ContinuousClock(), source = DictionarySource()
      var value = Value(id: length - 1, next: [])
      for index in (0..<(length - 1)).reversed() { value = Value(id: index, next: [value]) }
      var graph: EncodedGraph?
      let encoding = try clock.measure { graph = try GraphEncoder().encode([value]) }
      #expect(take(&value) == length)
      let encoded = try found(graph)
      source.add(encoded)
      var copy: Value?
      let decoding = try clock.measure { copy = try decode(Value.self, encoded.roots[0], from: source) }
      value = try found(copy)
      copy = nil
      #expect(take(&value) == length)
      if ProcessInfo.processInfo.environment["GARAGE_CHAIN_LENGTHS"] != nil {
        FileHandle.standardError.write(
          Data("chain structs \(length): encode \(encoding), decode \(decoding)\n".utf8))
      }
    }
  }

  // MARK: - Failures

  private struct Refusal: Error, Equatable {}

  /// Glibc serves with a stack that a thread left behind, of up to four times the size that is asked for.
  @Test func theStackIsSmall() throws { #expect(try onSmallStack { StackLimit.remaining } <= 2 << 20) }
  private final class Failing: Codable, Identifiable, Link {
    var id: Int, next: Failing?, other: Failing?
    init(_ id: Int, _ next: Failing?) { (self.id, self.next) = (id, next) }
    var nextLink: (any Link)? { next }
    func unlink() { next = nil }
    enum Keys: CodingKey { case id, next }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      id = try container.decode(Int.self, forKey: .id)
      next = try container.decodeIfPresent(Failing.self, forKey: .next)
      if next == nil { throw Refusal() }
    }
  }

  /// The error that the last one throws comes out, and what was decoded is released.
  @Test(arguments: short) func failureAtTheEnd(_ length: Int) throws {
    try onSmallStack {
      let chain = chain(length, Failing.init), source = DictionarySource()
      let graph = try GraphEncoder().encode([chain])
      _ = takeApart(chain)
      source.add(graph)
      #expect(throws: Refusal.self) { try decode(Failing.self, graph.roots[0], from: source) }
    }
  }

  /// Everything is decoded before the root fails: releasing it must not recurse, whichever way it hangs together.
  @Test func failureOfTheRoot() throws {
    struct FailingRoot<T: Codable & Identifiable>: Decodable, Identifiable, TypeTagged {
      static var typeTag: String { "failing root" }
      var id = 1
      init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: Keys.self).decode([T].self, forKey: .list)
        throw Refusal()
      }
      enum Keys: CodingKey { case list }
    }
    struct Root<T: Codable & Identifiable>: Encodable, Identifiable, TypeTagged {
      static var typeTag: String { "failing root" }
      var id = 1, list: [T]
    }
    func check<T: Codable & Identifiable & Link>(_ list: [T]) throws {
      let source = DictionarySource()
      let graph = try GraphEncoder().encode([Root(list: list)])
      source.add(graph)
      for link in list { link.unlink() }
      #expect(throws: Refusal.self) { try decode(FailingRoot<T>.self, graph.roots[0], from: source) }
    }
    let length = 30_000
    func all<T>(_ make: (Int, T?) -> T) -> [T] {
      var list: [T] = []
      for index in (0..<length).reversed() { list.append(make(index, list.last)) }
      return list
    }
    try onSmallStack {
      // The array holds the last first, or the first first, or one of them.
      func checkAll<T: Codable & Identifiable & Link>(_ make: (Int, T?) -> T) throws {
        for pick in [{ $0 }, { $0.reversed() }, { Array($0.suffix(1)) }] as [([T]) -> [T]] {
          let list = all(make)
          try check(pick(list))
          for link in list { link.unlink() }
        }
      }
      try checkAll(Branching.init)
      try checkAll(Optionals.init)
    }
  }

  /// Objects that nobody takes are released by the session, however they hang together.
  @Test func sessionsReleaseWhatNobodyHolds() throws {
    try onSmallStack {
      let length = 30_000
      for isReversed in [false, true] {
        let source = DictionarySource()
        func check<T: Codable & Identifiable & Link>(_ make: (Int, T?) -> T) throws {
          var list: [T] = []
          for index in (0..<length).reversed() { list.append(make(index, list.last)) }
          let graph = try GraphEncoder().encode(isReversed ? list.reversed() : list)
          source.add(graph)
          for link in list { link.unlink() }
          let session = GraphDecodingSession(source: source, types: try RegisteredTypes())
          for root in graph.roots { _ = try session.object(T.self, root) }
          session.reset()
          #expect(session.objectCount == 0)
        }
        try check(Branching.init)
        try check(Linking.init)
        try check(LinkingMany.init)
      }
    }
  }
}

import Foundation
import Testing

@testable import GarageCoding

// Objects that refer to each other in a circle, and objects that are gone.

final class Ring: Codable, Identifiable {
  var id: Int
  var next: Ring?
  init(_ id: Int, _ next: Ring? = nil) { (self.id, self.next) = (id, next) }
  /// A ring of `count`, from 0; take it apart by setting one `next` to nil and releasing the rest in order.
  static func make(_ count: Int) -> [Ring] {
    let ring = (0..<count).map { Ring($0) }
    for index in ring.indices { ring[index].next = ring[(index + 1) % count] }
    return ring
  }
  static func takeApart(_ ring: [Ring]) { for element in ring { element.next = nil } }
}

private final class Tail: Codable, Identifiable {
  var id: String, next: Tail?, ring: Ring?
  init(_ id: String, _ next: Tail?, _ ring: Ring?) { (self.id, self.next, self.ring) = (id, next, ring) }
}

private struct Target: Codable, Identifiable, Hashable { var id: String }

/// Circles are named and refused, or closed by links; what is gone is nil or an error.
@Suite struct CycleTests {
  private func error(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "nothing was thrown"
  }

  private func cycle(of roots: [any Encodable], _ type: (some Decodable).Type) throws -> String {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode(roots)
    source.add(graph)
    return error { _ = try decode(type, graph.roots[0], from: source) }
  }

  @Test func pathsAreNamed() throws {
    for count in [1, 2, 3, 15, 16, 17, 18] {
      let ring = Ring.make(count)
      defer { Ring.takeApart(ring) }
      let text = try cycle(of: [ring[0]], Ring.self)
      let path = (Array(0..<count) + [0]).map { "Ring \"\($0)\"" }.joined(separator: " → ")
      #expect(text.contains(path), "\(count): \(text)")
      #expect(text.contains("@Linked") && text.contains("Reference"))
    }
  }

  @Test func pathOfACircleInside() throws {
    let ring = Ring.make(2)
    defer { Ring.takeApart(ring) }
    let text = try cycle(of: [Tail("a", Tail("b", nil, ring[1]), nil)], Tail.self)
    #expect(text.contains("Ring \"1\" → Ring \"0\" → Ring \"1\"") && !text.contains("Tail \"a\""))
  }

  @Test func longRingsAndTails() throws {
    let count = LongTests.areWanted ? 100_000 : 20_000
    try onSmallStack {
      let ring = Ring.make(count)
      defer { Ring.takeApart(ring) }
      let text = try cycle(of: [ring[0]], Ring.self)
      #expect(
        text.contains("in a circle: Ring \"0\" → Ring \"1\"") && text.contains("more")
          && text.contains("Ring \"\(count - 1)\" → Ring \"0\""))
    }
    try onSmallStack {
      let ring = Ring.make(3)
      var tail: Tail? = Tail("end", nil, ring[2])
      for index in 0..<20_000 { tail = Tail("\(index)", tail, nil) }
      let text = try cycle(of: [tail!], Tail.self)
      // A circle is one from wherever it is entered.
      let paths = (0..<3).map { start in
        (0...3).map { "Ring \"\((start + $0) % 3)\"" }.joined(separator: " → ")
      }
      #expect(paths.contains { text.contains("in a circle: \($0).") }, "\(text)")
      Ring.takeApart(ring)
      while let next = tail?.next { tail?.next = nil; tail = next }
    }
  }

  /// Hidden from the error, never silently nil.
  @Test func hiddenErrorsAreThrownAllTheSame() throws {
    final class Hiding: Codable, Identifiable {
      var id: Int, next: Hiding?
      init(_ id: Int) { self.id = id }
      enum Keys: CodingKey { case id, next }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        id = try container.decode(Int.self, forKey: .id)
        next = try? container.decode(Hiding.self, forKey: .next)
      }
    }
    let one = Hiding(1), two = Hiding(2)
    (one.next, two.next) = (two, one)
    #expect(try cycle(of: [one], Hiding.self).contains("in a circle"))
    one.next = nil
    #expect(try roundTrip(two).next?.id == 1)
  }

  /// A session that failed goes on with other objects.
  @Test func theNextObjectIsFine() throws {
    let ring = Ring.make(2)
    defer { Ring.takeApart(ring) }
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([ring[0], Ring(7)])
    source.add(graph)
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes())
    #expect(throws: GraphCodingError.self) { try session.object(Ring.self, graph.roots[0]) }
    #expect(try session.object(Ring.self, graph.roots[1])?.id == 7)
    #expect(throws: GraphCodingError.self) { try session.object(Ring.self, graph.roots[0]) }
  }

  @Test func circlesThroughLinksAndWrappers() throws {
    final class Person: Codable, Identifiable, Hashable {
      var id: String
      @Linked var friend: Person?
      @Linked var friends: Set<Person>
      @Linked var byName: [String: Person]
      var lazy: Reference<Person>?
      init(_ id: String) { self.id = id }
      static func == (left: Person, right: Person) -> Bool { left.id == right.id }
      func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
    let a = Person("a"), b = Person("b")
    (a.friend, b.friend, a.friends, b.byName) = (b, a, [a, b], ["a": a])
    a.lazy = Reference(to: a)
    let copy = try roundTrip(a)
    #expect(copy.friend?.friend === copy && copy.friends.count == 2 && copy.friends.contains(copy))
    #expect(copy.friend?.byName["a"] === copy && copy.lazy == a.lazy)
    for person in [a, b, copy, copy.friend!] {
      (person.friend, person.friends, person.byName) = (nil, [], [:])
    }

    final class Optionals: Codable, Identifiable {
      var id: Int, list: [Optionals?] = []
      init(_ id: Int) { self.id = id }
    }
    let one = Optionals(1), two = Optionals(2)
    (one.list, two.list) = ([two], [nil, one])
    #expect(
      try cycle(of: [one], Optionals.self).contains("Optionals \"1\" → Optionals \"2\" → Optionals \"1\""))
    one.list = []
  }

  // MARK: - Missing targets

  private struct Holds: Codable, Identifiable {
    var id = 1
    var optional: Target?, optionals: [Target?] = [], table: [String: Target?] = [:]
    @Linked var linked: Target?
  }
  private func without<T: Codable>(_ id: String, _ value: T) throws -> Result<T, any Error> {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Owner(value)])
    source.add(graph)
    let gone = try TypeDescription.identity(of: Target.self, id: id)
    source.records[withUnsafeBytes(of: gone.tag.bigEndian) { Array($0) } + gone.identifier.keyBytes] = nil
    return Result { try #require(try decode(Owner<T>.self, graph.roots[0], from: source)).value }
  }

  @Test func missingWhereItMayBe() throws {
    let gone = Target(id: "gone"), here = Target(id: "here")
    var holds = Holds(optional: gone, optionals: [here, gone, nil], table: ["g": gone, "h": here])
    holds.linked = gone
    // Holds has a record of its own; what is missing is missing there.
    let copy = try without("gone", holds).get()
    #expect(
      copy.optional == nil && copy.optionals == [here, nil, nil] && copy.table == ["g": nil, "h": here]
        && copy.linked == nil)
    #expect(
      try without("gone", DoubleOptionalTarget(value: .some(.some(gone)))).get().value == .some(.none)
        || without("gone", DoubleOptionalTarget(value: .some(.some(gone)))).get().value == .none)
  }
  private struct DoubleOptionalTarget: Codable { var value: Target?? }

  @Test func missingWhereItMustBe() throws {
    let gone = Target(id: "gone"), here = Target(id: "here")
    func check<T: Codable>(_ value: T, _ path: String, line: Int = #line) throws {
      do {
        _ = try without("gone", value).get()
        Issue.record("line \(line): nothing was thrown")
      } catch DecodingError.dataCorrupted(let context) {
        #expect(
          context.debugDescription == "Missing Identifiable reference of type: Target with id: gone",
          "line \(line)")
        #expect(context.codingPath.map(\.stringValue).joined(separator: ".") == path, "line \(line)")
      }
    }
    struct Required: Codable { var inner: Inner; struct Inner: Codable { var target: Target } }
    struct InLinks: Codable {
      @Linked var list: [Target]; @Linked var set: Set<Target>; @Linked var table: [String: Target]
    }
    try check(gone, "value")
    try check([here, gone], "value.Index 1")
    try check(["k": [here, here, gone]], "value.k.Index 2")
    try check(Required(inner: .init(target: gone)), "value.inner.target")
    try check([5: gone], "value.5")
    try check([Point(x: 1, y: 1): gone], "value.Index 1")
    try check([gone: 5], "value.Index 0")
    try check(Set([gone]), "value.Index 0")
    try check(Twin(a: here, b: [gone]), "value.b.Index 0")
    try check(
      InLinks(list: Linked(wrappedValue: [here, gone]), set: Linked(), table: Linked()), "value.list.Index 1")
    try check(
      InLinks(list: Linked(), set: Linked(wrappedValue: [gone]), table: Linked()), "value.set.Index 0")
    try check(
      InLinks(list: Linked(), set: Linked(), table: Linked(wrappedValue: ["k": gone])), "value.table.k")
    // Nobody may take it for something else.
    enum Either: Codable { case one(Target), none }
    try check(Either.one(gone), "value.one._0")
  }
}

import Foundation
import GarageStorage

/// What links and references cost beside the same objects without them, in memory.
///
/// Here a ratio is, as everywhere, the peer's figure over ours: the goals speak of it the other way round.
struct LinkComparison {
  let isWanted: (String) -> Bool
  /// How many objects refer to others, and how many form a chain, or a tree.
  let count: Int
  let chainCount: Int

  static let string = "a String in its place"
  static let unlinked = "the same without links"
  private static let single = "reference"
  private static let several = "five references"
  private static let chain = "chain"
  private static let tree = "tree"
  private static let kinds = [single, several, chain, tree]
  static func inName(_ kind: String) -> String { "in: \(kind)" }
  static func outName(_ kind: String) -> String { "out: \(kind)" }
  static let names = kinds.flatMap { [inName($0), outName($0)] }
  /// Whose figures are shown, each with its peer.
  private static let pairs = [(single, string), (several, string), (chain, unlinked), (tree, unlinked)]
  /// Those of them that the goals are about.
  static let goals = [(single, string, 1.5), (several, string, 1.5), (chain, unlinked, 3.0)]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    try rounds.run("links") { round in
      samples.beginRound()
      var pairs = [
        (Self.single, Pair(Naming.make(count), Texting.make(count))),
        (Self.several, Pair(FiveNaming.make(count), FiveTexting.make(count))),
      ].filter { isWanted(Self.inName($0.0)) || isWanted(Self.outName($0.0)) }
      if round % 2 == 1 { pairs.reverse() }
      for (kind, pair) in pairs { try pair.measure(kind, Self.string, round, &samples) }
      if isWanted(Self.inName(Self.chain)) || isWanted(Self.outName(Self.chain)) {
        try measure(Self.chain, ChainLink.make(chainCount), round, &samples)
      }
      if isWanted(Self.inName(Self.tree)) || isWanted(Self.outName(Self.tree)) {
        try measure(Self.tree, TreeNode.make(chainCount), round, &samples)
      }
    }
    return Self.pairs.flatMap { kind, peer in
      [Self.inName(kind), Self.outName(kind)].filter(isWanted).compactMap {
        ResultRow($0, "memory", peer, samples)
      }
    }
  }

  /// The graph is parked and retrieved by its first object; the others by `parkAll` and `retrieveAll`.
  private func measure<Node: LinkedNode>(
    _ kind: String, _ nodes: [Node], _ round: Int, _ samples: inout Samples
  ) throws {
    func measureLinked() throws {
      let garage = try Garage(GarageStore.memoryDriver())
      try samples.measure(
        Operation(
          name: Self.inName(kind), who: "memory", count: chainCount,
          run: { try garage.park(nodes[0]) }, verify: {}))
      for node in nodes { _ = node.letGo() }
      var first: Node?
      try samples.measure(
        Operation(
          name: Self.outName(kind), who: "memory", count: chainCount,
          run: { first = try garage.retrieve(Node.self, identifier: 0) },
          verify: {
            var (next, number) = (first.map { [$0] } ?? [], 0)
            first = nil
            while let node = next.popLast() {
              try WrongResult.unless(node.isAsMade, "object \(node.id) is another one")
              next += node.letGo()
              number += 1
            }
            try WrongResult.unless(number == chainCount, "there are \(number) objects")
          }))
      try garage.close()
    }
    func measureUnlinked() throws {
      let garage = try Garage(GarageStore.memoryDriver())
      let objects = LooseLink.make(chainCount)
      try samples.measure(
        Operation(
          name: Self.inName(kind), who: Self.unlinked, count: chainCount,
          run: { try garage.parkAll(objects) }, verify: {}))
      var found: [LooseLink] = []
      try samples.measure(
        Operation(
          name: Self.outName(kind), who: Self.unlinked, count: chainCount,
          run: { found = try garage.retrieveAll(LooseLink.self) },
          verify: {
            try WrongResult.unless(found.count == chainCount, "there are \(found.count) objects")
            for (number, object) in found.enumerated() {
              try WrongResult.unless(
                object.id == number && object.isAsMade, "object \(number) is another one")
            }
          }))
      try garage.close()
    }
    if round % 2 == 0 {
      try measureLinked()
      try measureUnlinked()
    } else {
      try measureUnlinked()
      try measureLinked()
    }
  }

  /// Objects with references, and their peers with texts.
  private struct Pair {
    let measure: (String, String, Int, inout Samples) throws -> Void

    init<Ours: Codable & Identifiable & Equatable, Peer: Codable & Identifiable & Equatable>(_ ours: [Ours], _ peers: [Peer]) {
      measure = { kind, peer, round, samples in
        // In turn, and often: each run is short.
        for pass in 0..<9 {
          if (round + pass) % 2 == 0 {
            try Self.measure(ours, kind, "memory", pass, &samples)
            try Self.measure(peers, kind, peer, pass, &samples)
          } else {
            try Self.measure(peers, kind, peer, pass, &samples)
            try Self.measure(ours, kind, "memory", pass, &samples)
          }
        }
      }
    }

    private static func measure<T: Codable & Identifiable & Equatable>(
      _ objects: [T], _ kind: String, _ who: String, _ pass: Int, _ samples: inout Samples
    ) throws {
      let garage = try Garage(GarageStore.memoryDriver())
      try samples.measure(
        Operation(
          name: LinkComparison.inName(kind), who: who, count: objects.count,
          run: { try garage.parkAll(objects) }, verify: {}))
      var found: [T] = []
      try samples.measure(
        Operation(
          name: LinkComparison.outName(kind), who: who, count: objects.count,
          run: { found = try garage.retrieveAll(T.self) },
          verify: { try WrongResult.unless(found == objects, "other objects came back") }), verifies: pass == 0)
      try garage.close()
    }
  }
}

// MARK: - The objects

/// Nobody parks one: references name them.
private struct Passenger: Codable, Identifiable { var id: String }

private func passengerID(_ number: Int) -> String { String(format: "passenger-%06d", number * 7919 % 1_000_003) }

/// With one reference.
private struct Naming: Codable, Equatable, Identifiable {
  var id: Int
  var seat: String
  var price: Double
  var owner: Reference<Passenger>

  static func make(_ count: Int) -> [Naming] {
    (0..<count).map {
      Naming(
        id: $0, seat: "seat \($0 % 100)", price: Double($0),
        owner: Reference(Passenger.self, identifier: passengerID($0)))
    }
  }
}

private struct Texting: Codable, Equatable, Identifiable {
  var id: Int
  var seat: String
  var price: Double
  var owner: String

  static func make(_ count: Int) -> [Texting] {
    (0..<count).map { Texting(id: $0, seat: "seat \($0 % 100)", price: Double($0), owner: passengerID($0)) }
  }
}

/// With five, each a property.
private struct FiveNaming: Codable, Equatable, Identifiable {
  var id: Int
  var seat: String
  var a: Reference<Passenger>
  var b: Reference<Passenger>
  var c: Reference<Passenger>
  var d: Reference<Passenger>
  var e: Reference<Passenger>

  static func make(_ count: Int) -> [FiveNaming] {
    (0..<count).map { number in
      func reference(_ offset: Int) -> Reference<Passenger> {
        Reference(Passenger.self, identifier: passengerID(number * 5 + offset))
      }
      return FiveNaming(
        id: number, seat: "seat \(number % 100)", a: reference(0), b: reference(1), c: reference(2), d: reference(3),
        e: reference(4))
    }
  }
}

private struct FiveTexting: Codable, Equatable, Identifiable {
  var id: Int
  var seat: String
  var a: String
  var b: String
  var c: String
  var d: String
  var e: String

  static func make(_ count: Int) -> [FiveTexting] {
    (0..<count).map { number in
      func text(_ offset: Int) -> String { passengerID(number * 5 + offset) }
      return FiveTexting(
        id: number, seat: "seat \(number % 100)", a: text(0), b: text(1), c: text(2), d: text(3), e: text(4))
    }
  }
}

/// An object of a graph that refers to others of its kind.
private protocol LinkedNode: Codable, Identifiable<Int> {
  /// Whether it has what it was made with.
  var isAsMade: Bool { get }
  /// Lets those go that it refers to, and returns them: many would not be freed one in the other.
  func letGo() -> [Self]
}

private final class LooseLink: Codable, Identifiable {
  let id: Int
  let name: String
  let weight: Double

  init(_ id: Int) { (self.id, name, weight) = (id, "link \(id)", Double(id)) }

  static func make(_ count: Int) -> [LooseLink] { (0..<count).map(LooseLink.init) }

  var isAsMade: Bool { name == "link \(id)" && weight == Double(id) }
}

/// A link of a chain.
private final class ChainLink: LinkedNode {
  let id: Int
  let name: String
  let weight: Double
  @Linked var next: ChainLink?

  init(_ id: Int) { (self.id, name, weight) = (id, "link \(id)", Double(id)) }

  static func make(_ count: Int) -> [ChainLink] {
    let links = (0..<count).map(ChainLink.init)
    for index in 1..<count { links[index - 1].next = links[index] }
    return links
  }

  var isAsMade: Bool { name == "link \(id)" && weight == Double(id) }

  func letGo() -> [ChainLink] {
    defer { next = nil }
    return next.map { [$0] } ?? []
  }
}

/// A node of a binary tree, with plain references to the next ones: deeper down than a chain of calls is left to go, and in many
/// places.
private final class TreeNode: LinkedNode {
  let id: Int
  let name: String
  let weight: Double
  var left: TreeNode?
  var right: TreeNode?

  init(_ id: Int) { (self.id, name, weight) = (id, "link \(id)", Double(id)) }

  static func make(_ count: Int) -> [TreeNode] {
    let nodes = (0..<count).map(TreeNode.init)
    for index in 1..<count {
      let parent = nodes[(index - 1) / 2]
      if index % 2 == 1 { parent.left = nodes[index] } else { parent.right = nodes[index] }
    }
    return nodes
  }

  var isAsMade: Bool { name == "link \(id)" && weight == Double(id) }

  func letGo() -> [TreeNode] {
    defer { (left, right) = (nil, nil) }
    return [left, right].compactMap { $0 }
  }
}

import Foundation
import GarageDriver
import GarageMemory
import GarageStorage

/// What it costs to retrieve one object with all that it reaches while the store grows, beside the bare engine, which
/// gets the same records one by one.
///
/// The objects are people in communities of a hundred: each is linked to three others of its own community, so that whoever
/// is asked for, the whole community comes. However many communities there are, that is the same work.
struct CommunityGrowthComparison {
  let largest: Int
  let folder: URL
  let rounds: Int
  let isWanted: (String) -> Bool

  private static let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
  static let names = sizes.map(name)
  private static func name(_ size: Int) -> String {
    "retrieve a community at \(size < 1_000_000 ? "\(size / 1000) k" : "\(size / 1_000_000) M")"
  }

  static let communitySize = 100
  /// How many people are parked in one transaction, of how many of their communities the records are remembered, and how
  /// many communities are asked for.
  private static let batch = 100_000
  private static let remembered = 40
  private static let wanted = 200

  /// A community, by its place among all, with its records as they were put: each bears the time at which it was encoded.
  private struct Community {
    var place: Int
    var entries: Entries
  }

  func rows() throws -> [ResultRow] {
    let sizes = Self.sizes.filter { $0 <= largest && isWanted(Self.name($0)) }
    if sizes.isEmpty { return [] }
    let root = folder.appending(path: "garage-compare-communities-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let stores = try Pair.both(below: root)
    var samples = Samples()
    var count = 0
    var known: [Community] = []
    var random = SplitMix(state: 8)
    for size in sizes {
      say("communities: to \(size) objects")
      while count < size {
        let last = min(size, count + Self.batch)
        try add(count..<last, to: stores, &known, &random)
        count = last
      }
      let wanted = Array(known.shuffled(using: &random).prefix(Self.wanted))
      try measure(Self.name(size), wanted, stores, &samples)
    }
    for store in stores {
      try store.garage.close()
      store.engine.close()
    }
    return sizes.flatMap { size in
      stores.compactMap { ResultRow(Self.name(size), $0.subject, RawStore.who, who: $0.engine.who, samples) }
    }
  }

  private func add(
    _ numbers: Range<Int>, to stores: [Pair], _ known: inout [Community], _ random: inout SplitMix
  ) throws {
    let people = Neighbour.make(numbers)
    let entries = try Neighbour.entries(people)
    for store in stores {
      try store.garage.parkAll(people)
      let code = entries.withRaw { store.engine.putAll($0, nil) }
      try WrongResult.unless(code == 0, "\(store.engine.who) returned \(code)")
    }
    Neighbour.takeApart(people)
    let places = (0..<numbers.count / Self.communitySize).shuffled(using: &random).prefix(Self.remembered)
    for place in places {
      let start = place * Self.communitySize
      known.append(
        Community(
          place: numbers.lowerBound / Self.communitySize + place,
          entries: entries.subset(Array(start..<start + Self.communitySize))))
    }
  }

  /// Communities are asked for in random order, by another one of their members each round.
  private func measure(_ name: String, _ wanted: [Community], _ stores: [Pair], _ samples: inout Samples) throws {
    let communities = wanted.map(\.place)
    let entries = Entries()
    for community in wanted { entries.append(community.entries) }
    let order = Array(0..<UInt32(entries.count))
    for round in 0..<rounds {
      samples.beginRound()
      var operations: [Operation] = []
      for store in stores {
        var found: [(number: Int, root: Neighbour)] = []
        let retrieve: (Range<Int>) throws -> Void = { range in
          // A range of people, and so of communities.
          for index in stride(from: range.lowerBound, to: range.upperBound, by: Self.communitySize) {
            let number = communities[index / Self.communitySize] * Self.communitySize + round
            if let root = try store.garage.retrieve(Neighbour.self, identifier: number) {
              found.append((number, root))
            }
          }
        }
        operations.append(
          Operation(
            name: name, who: store.subject, count: order.count, prepare: { found = [] },
            run: { try retrieve(order.indices) }, runPart: retrieve,
            verify: {
              try WrongResult.unless(found.count == communities.count, "\(found.count) communities came back")
              for (number, root) in found { try Neighbour.verify(root, number) }
            }))
        var equal = 0
        let get: (Range<Int>) -> Void = { range in
          equal += order.withUnsafeBufferPointer { order in
            guard let start = order.baseAddress else { return 0 }
            return entries.withRaw { store.engine.get($0, start + range.lowerBound, range.count, 1) }
          }
        }
        operations.append(
          Operation(
            name: name, who: store.engine.who, count: order.count, prepare: { equal = 0 },
            run: { get(order.indices) }, runPart: get,
            verify: { try WrongResult.unless(equal == order.count, "\(equal) values are as expected") }))
      }
      try samples.measureInParts(operations.rotated(by: round), of: Self.communitySize)
    }
  }

  private struct Pair {
    var subject: String
    var garage: Garage
    var engine: RawEngine

    static func both(below root: URL) throws -> [Pair] {
      func folder(_ name: String) throws -> URL {
        let folder = root.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
      }
      return [
        Pair(
          subject: "sqlite", garage: try Garage(GarageStore.sqliteDriver(at: folder("sqlite"))),
          engine: try .sqlite(at: folder("raw C SQLite"))),
        Pair(
          subject: "lmdb", garage: try Garage(GarageStore.lmdbDriver(at: folder("lmdb"))),
          engine: try .lmdb(at: folder("raw C LMDB"))),
      ]
    }
  }
}

/// One of a community.
private final class Neighbour: Codable, Identifiable {
  let id: Int
  let name: String
  let birthdate: Date
  @Linked var friends: [Neighbour]

  private init(_ id: Int) {
    self.id = id
    name = "neighbour \(id)"
    birthdate = Date(timeIntervalSinceReferenceDate: Double(id))
  }

  /// Whole communities: each member is linked to the next one, and to two farther ones.
  static func make(_ numbers: Range<Int>) -> [Neighbour] {
    let size = CommunityGrowthComparison.communitySize
    let people = numbers.map(Neighbour.init)
    for index in people.indices {
      let start = index / size * size
      people[index].friends = [1, 7, 31].map { people[start + (index - start + $0) % size] }
    }
    return people
  }

  /// They are linked in circles, which nobody would let go.
  static func takeApart(_ people: [Neighbour]) { for person in people { person.friends = [] } }

  /// Their records, as a garage keeps them, in the order of their identifiers.
  static func entries(_ people: [Neighbour]) throws -> Entries {
    let storage = MemoryStorage()
    try Garage(storage).parkAll(people)
    // Space and type of a record's key: those that stand in the store as often as there are people.
    var groups: [[UInt8]: Entries] = [:]
    try storage.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        let key = [UInt8](copying: key)
        let prefix = Array(key.prefix(9))
        let group = groups[prefix] ?? Entries()
        group.append(key: key, value: [UInt8](copying: value))
        groups[prefix] = group
        return .continue
      }
    }
    guard let entries = groups.values.first(where: { $0.count == people.count }) else {
      throw WrongResult("no group of keys has \(people.count) records")
    }
    return entries
  }

  static func verify(_ root: Neighbour, _ number: Int) throws {
    var seen = [ObjectIdentifier(root): root]
    var waiting = [root]
    while let next = waiting.popLast() {
      for friend in next.friends where seen.updateValue(friend, forKey: ObjectIdentifier(friend)) == nil {
        waiting.append(friend)
      }
    }
    let size = CommunityGrowthComparison.communitySize
    let ids = seen.values.map(\.id).sorted()
    let start = number / size * size
    let isRight = root.id == number && ids == Array(start..<start + size)
    takeApart(Array(seen.values))
    try WrongResult.unless(isRight, "\(number) came back with \(ids.count) people, not with its community")
  }
}

import Foundation
import GarageMemory
import GarageStorage
import Testing

@testable import GarageChild

private final class TramStop: Codable, Identifiable {
  var id: Int
  var name = "stop"
  @Linked var next: TramStop?
  @Linked var lines: [TramLine]
  @Linked var exits: [String: TramStop]
  init(_ id: Int) { self.id = id }
  func cut() { (next, lines, exits) = (nil, [], [:]) }
}

private final class TramLine: Codable, Identifiable {
  var id: String
  @Linked var stops: [TramStop]
  @Linked var depot: TramRail?
  init(_ id: String) { self.id = id }
  func cut() { (stops, depot) = ([], nil) }
}

/// Part of a chain; cannot be read where it is broken.
private final class TramRail: Codable, Identifiable {
  struct Broken: Error {}
  var id: Int
  var isBroken: Bool
  @Linked var next: TramRail?
  init(_ id: Int, isBroken: Bool = false) { (self.id, self.isBroken) = (id, isBroken) }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    isBroken = try container.decode(Bool.self, forKey: .isBroken)
    _next = try container.decode(Linked<TramRail?>.self, forKey: .next)
    if isBroken { throw Broken() }
  }

  static func chain(_ count: Int, isAscending: Bool = true) -> [TramRail] {
    let rails = (0..<count).map { TramRail($0) }
    for index in 1..<count {
      if isAscending { rails[index - 1].next = rails[index] } else { rails[index].next = rails[index - 1] }
    }
    return rails
  }
}

/// A value with links.
private struct TramMap: Codable, Identifiable {
  var id: Int
  @Linked var all: [TramStop]
  @Linked var lines: Set<Key>
  struct Key: Codable, Identifiable, Hashable {
    var id: Int
    var isOpen = true
  }
}

/// Hashes what its own set holds.
private final class TramKnot: Codable, Identifiable, Hashable {
  var id: Int
  @Linked var below: Set<TramKnot>
  init(_ id: Int) { self.id = id }
  static func == (a: TramKnot, b: TramKnot) -> Bool { a.id == b.id }
  func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(below.count)
  }
}

/// The links of objects that are retrieved by one call are filled in together: the objects are those that
/// `retrieve` gives, and errors as well.
@Suite struct LinksOfAllTests {
  private func network(_ count: Int) -> [TramStop] {
    let stops = (0..<count).map(TramStop.init)
    let lines = ["a", "b", "c"].map(TramLine.init)
    for (index, stop) in stops.enumerated() {
      stop.next = stops[(index * 7 + 3) % count]
      stop.lines = [lines[index % 3], lines[(index + 1) % 3]]
      stop.exits = ["left": stops[(index + 1) % count], "right": stop]
    }
    for (index, line) in lines.enumerated() {
      line.stops = stride(from: index, to: count, by: 3).map { stops[$0] }
    }
    return stops
  }

  @Test(arguments: Backend.allCases)
  func cyclesCloseAndObjectsAreShared(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let count = 100
    let parked = network(count)
    defer { for stop in parked { stop.cut() } }
    try garage.parkAll(parked)
    garage = try place.reopened(garage)
    let stops = try garage.retrieveAll(TramStop.self)
    let lines = Set(stops.flatMap(\.lines).map(ObjectIdentifier.init))
    defer {
      for stop in stops {
        for line in stop.lines { line.cut() }
        stop.cut()
      }
    }
    #expect(stops.map(\.id) == Array(0..<count) && lines.count == 3)
    for (index, stop) in stops.enumerated() {
      #expect(stop.next === stops[(index * 7 + 3) % count])
      #expect(stop.lines.map(\.id) == parked[index].lines.map(\.id))
      #expect(stop.exits["left"] === stops[(index + 1) % count] && stop.exits["right"] === stop)
      for line in stop.lines { #expect(line.stops.allSatisfy { $0 === stops[$0.id] }) }
    }
    // In a transaction with changes that are not written, too.
    try garage.write { garage in
      let more = TramStop(count)
      more.next = parked[0]
      try garage.park(more)
      more.cut()
      let all = try garage.retrieveAll(TramStop.self)
      #expect(all.count == count + 1 && all[count].next === all[0])
      for stop in all {
        for line in stop.lines { line.cut() }
        stop.cut()
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func valuesHoldTheirLinks(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let parked = network(10)
    defer { for stop in parked { stop.cut() } }
    for id in 0..<20 {
      var map = TramMap(id: id)
      map.all = [parked[id % 10], parked[(id + 1) % 10]]
      map.lines = [TramMap.Key(id: id), TramMap.Key(id: 0)]
      try garage.park(map)
    }
    garage = try place.reopened(garage)
    let maps = try garage.retrieveAll(TramMap.self)
    defer {
      for map in maps {
        for stop in map.all {
          for line in stop.lines { line.cut() }
          stop.cut()
        }
      }
    }
    #expect(maps.count == 20)
    for (id, map) in maps.enumerated() {
      #expect(map.all.map(\.id) == [id % 10, (id + 1) % 10] && map.lines.count == (id == 0 ? 1 : 2))
      #expect(map.all[0] === maps[(id + 10) % 20].all[0])
    }
  }

  /// Sets whose members' hash depends on sets, in either order of the records.
  @Test(arguments: [true, false])
  func setsAreBuiltBehindTheirMembers(_ isAscending: Bool) throws {
    let garage = try Place(.memory).garage()
    let knots = (0..<2_000).map(TramKnot.init)
    for index in 1..<knots.count {
      let (owner, member) = isAscending ? (index - 1, index) : (index, index - 1)
      knots[owner].below = [knots[member]]
    }
    defer { for knot in isAscending ? knots : knots.reversed() { knot.below = [] } }
    try garage.parkAll(knots)
    let found = try garage.retrieveAll(TramKnot.self)
    for index in 1..<found.count {
      let (owner, member) = isAscending ? (index - 1, index) : (index, index - 1)
      #expect(found[owner].below.contains(found[member]))
    }
    for knot in isAscending ? found : found.reversed() { knot.below = [] }
  }

  @Test(arguments: Backend.allCases)
  func aMissingObjectIsNamed(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let parked = network(9)
    defer { for stop in parked { stop.cut() } }
    try garage.parkAll(parked)
    try garage.delete(TramLine.self, identifier: "b")
    garage = try place.reopened(garage)
    for _ in 0..<2 {
      #expect {
        _ = try garage.retrieveAll(TramStop.self)
      } throws: { error in
        guard case DecodingError.dataCorrupted(let context) = error else { return false }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return context.debugDescription == "Missing Identifiable reference of type: TramLine with id: b"
          && path == ["lines", "1"]
          // Of several that refer to it the first; where many are fetched at once, one of them.
          && "\(context.underlyingError!)".contains(backend.isPostgres ? "TramStop \"" : "TramStop \"0\"")
      }
    }
    // What may be missing is nil.
    try garage.park(TramLine("b"))
    try garage.delete(TramStop.self, identifier: 3)
    #expect(throws: DecodingError.self) { try garage.retrieveAll(TramStop.self) }
  }

  /// A chain that many objects hold, which breaks off at its end: what was decoded is let go link by link.
  @Test func longChainsThatBreakOffAreReleased() throws {
    let count = runsLongTests ? 100_000 : 20_000
    try onSmallStack {
      let garage = try Garage(MemoryStorage())
      let rails = TramRail.chain(count)
      let lines = (0..<10).map { TramLine("\($0)") }
      for line in lines { line.depot = rails[0] }
      try garage.parkAll(lines)
      let found = try garage.retrieveAll(TramLine.self)
      var rail = found[0].depot
      for line in found {
        if line.depot !== rail { throw Failure("the chain is not shared") }
        line.cut()
      }
      var number = 0
      while let current = rail {
        (rail, number) = (current.next, number + 1)
        current.next = nil
      }
      if number != count { throw Failure("the chain has \(number) links") }
      rails[count - 1].isBroken = true
      try garage.parkAll(lines)
      for line in lines { line.cut() }
      for rail in rails { rail.next = nil }
      do {
        _ = try garage.retrieveAll(TramLine.self)
        throw Failure("nothing was thrown")
      } catch is TramRail.Broken {}
      // All of them at once, each in the order of its record.
      do {
        _ = try garage.retrieveAll(TramRail.self)
        throw Failure("nothing was thrown")
      } catch is TramRail.Broken {}
    }
  }

  /// A chain whose links are all retrieved, from its first one and from its last one on.
  @Test(arguments: [true, false])
  func longChainsOfAllObjects(_ isAscending: Bool) throws {
    let count = runsLongTests ? 100_000 : 40_000
    try onSmallStack {
      let garage = try Garage(MemoryStorage())
      let rails = TramRail.chain(count, isAscending: isAscending)
      try garage.parkAll(rails)
      for rail in rails { rail.next = nil }
      let found = try garage.retrieveAll(TramRail.self)
      if found.count != count { throw Failure("\(found.count) links came back") }
      for index in 1..<count {
        let (owner, next) = isAscending ? (index - 1, index) : (index, index - 1)
        if found[owner].next !== found[next] { throw Failure("link \(owner) has another one") }
      }
      for rail in found { rail.next = nil }
    }
  }
}

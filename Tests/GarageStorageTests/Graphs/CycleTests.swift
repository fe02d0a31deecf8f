import Foundation
import GarageStorage
import Synchronization
import Testing

@testable import GarageChild

/// Plain properties, which cannot close a cycle.
private final class Friend: Codable, Identifiable {
  var id: String
  var best: Friend?
  var others: [Friend] = []
  init(_ id: String) { self.id = id }
}

/// A cycle through two types.
private final class Room: Codable, Identifiable {
  var id: Int
  var door: Door?
  init(_ id: Int) { self.id = id }
}
private final class Door: Codable, Identifiable {
  var id: Int
  var room: Room?
  init(_ id: Int) { self.id = id }
}

private final class City: Codable, Identifiable, Hashable {
  var id: String
  @Linked var twin: City?
  @Linked var neighbours: [City]
  @Linked var byRoad: [String: City]
  @Linked var visited: Set<City>
  init(_ id: String) { self.id = id }
  static func == (a: City, b: City) -> Bool { a.id == b.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
  func cut() { (twin, neighbours, byRoad, visited) = (nil, [], [:], []) }
}

private final class Job: Codable, Identifiable {
  var id: Int
  var blocks: Reference<Job>?
  init(_ id: Int) { self.id = id }
}

/// Hashes what it refers to.
private final class Tangle: Codable, Identifiable, Hashable {
  var id: Int
  @Linked var members: Set<Tangle>
  init(_ id: Int) { self.id = id }
  static func == (a: Tangle, b: Tangle) -> Bool { a.id == b.id && a.members.count == b.members.count }
  func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(members.count)
  }
}

/// Its hash does not depend on what it links to.
private final class Peer: Codable, Identifiable, Hashable {
  var id: Int
  @Linked var friends: Set<Peer>
  init(_ id: Int) { self.id = id }
  static func == (a: Peer, b: Peer) -> Bool { a.id == b.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Cycles of plain properties are refused and named; linked properties and references close them.
@Suite struct CycleTests {
  private func path(_ verb: () throws -> Void) -> String? {
    do { try verb() } catch GarageError.cycle(let path) {
      return "\(GarageError.cycle(path: path))".contains("@Linked")
        && "\(GarageError.cycle(path: path))".contains("Reference")
        ? path : nil
    } catch {
      return "\(error)"
    }
    return "no error"
  }

  @Test(arguments: Backend.allCases)
  func aCycleOfPlainPropertiesIsNamed(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (sam, nick, own) = (Friend("Sam"), Friend("Nick"), Friend("Own"))
    sam.best = nick
    nick.others = [Friend("Ann"), sam]
    own.best = own
    let (room, door) = (Room(1), Door(2))
    (room.door, door.room) = (door, room)
    // Parking serves any cycle.
    try garage.parkAll([sam, own])
    try garage.park(room)
    garage = try place.reopened(garage)
    #expect(
      path { _ = try garage.retrieve(Friend.self, identifier: "Sam") }
        == #"Friend "Sam" → Friend "Nick" → Friend "Sam""#)
    #expect(
      path { _ = try garage.retrieve(Friend.self, identifier: "Own") } == #"Friend "Own" → Friend "Own""#)
    #expect(path { _ = try garage.retrieve(Room.self, identifier: 1) } == #"Room "1" → Door "2" → Room "1""#)
    #expect(path { _ = try garage.retrieve(Door.self, identifier: 2) } == #"Door "2" → Room "1" → Door "2""#)
    #expect(path { _ = try garage.retrieveAll(Room.self) } == #"Room "1" → Door "2" → Room "1""#)
    #expect(path { try garage.forEach(Room.self) { _ in } } == #"Room "1" → Door "2" → Room "1""#)
    // What is not on the cycle is served.
    #expect(try garage.retrieve(Friend.self, identifier: "Ann")?.id == "Ann")
    #expect(try garage.count(Friend.self) == 4)
    for friend in [sam, nick, own] { (friend.best, friend.others) = (nil, []) }
    room.door = nil
  }

  /// A cycle far down is named as one at the top; a very long one in part.
  @Test(arguments: Backend.allCases)
  func aLongCycleIsNamedWithoutTheStackEnding(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let friends = (0..<2000).map { Friend("f\($0)") }
    for (one, next) in zip(friends, friends.dropFirst()) { one.best = next }
    friends[1999].best = friends[1500]
    try garage.park(friends[0])
    friends[1509].best = friends[1500]
    try garage.park(any: friends[1500])
    friends[1509].best = friends[1510]
    garage = try place.reopened(garage)
    let reopened = garage
    let paths = Mutex<[String]>([])
    func retrieve() throws {
      try onSmallStack {
        let path = path { _ = try reopened.retrieve(Friend.self, identifier: "f0") } ?? ""
        paths.withLock { $0.append(path) }
      }
    }
    try retrieve()
    try garage.park(friends[0])
    try retrieve()
    for friend in friends { friend.best = nil }

    let names = paths.withLock { $0 }.map { $0.components(separatedBy: " → ") }
    #expect(Set(names[0]) == Set((1500...1509).map { "Friend \"f\($0)\"" }))
    #expect(names[0].count == 11 && names[0].first == names[0].last)
    #expect(names[1].count == 21 && names[1].first == names[1].last)
    #expect(names[1].contains("… 481 more …"))
  }

  @Test(arguments: Backend.allCases)
  func linkedPropertiesCloseCycles(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (a, b, c, leaf) = (City("a"), City("b"), City("c"), City("leaf"))
    (a.twin, a.neighbours, a.byRoad, a.visited) = (a, [b, c, a], ["north": b, "home": a], [leaf])
    (b.twin, b.neighbours) = (a, [a])
    (c.byRoad, c.visited) = (["x": c, "y": b], [leaf])
    try garage.park(a)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(City.self, identifier: "a"))
    #expect(
      found.twin === found && found.neighbours.map(\.id) == ["b", "c", "a"] && found.neighbours[2] === found)
    #expect(found.byRoad["home"] === found && found.byRoad["north"] === found.neighbours[0])
    #expect(found.visited.map(\.id) == ["leaf"] && found.visited.contains(leaf))
    #expect(found.neighbours[0].twin === found && found.neighbours[0].neighbours[0] === found)
    let third = found.neighbours[1]
    #expect(third.byRoad["x"] === third && third.byRoad["y"] === found.neighbours[0] && third.twin == nil)
    #expect(third.visited.first === found.visited.first)
    // A second call makes its own objects.
    let again = try #require(try garage.retrieve(City.self, identifier: "a"))
    #expect(again !== found && again.twin === again)
    var cities = try garage.retrieveAll(City.self)
    #expect(cities.map(\.id) == ["a", "b", "c", "leaf"])
    #expect(cities[0].neighbours[0] === cities[1] && cities[2].byRoad["x"] === cities[2])
    cities += [a, b, c, found, found.neighbours[0], third, again] + again.neighbours
    for city in cities { city.cut() }
  }

  @Test(arguments: Backend.allCases)
  func referencesCloseCycles(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (one, two) = (Job(1), Job(2))
    (one.blocks, two.blocks) = (Reference(to: two), Reference(to: one))
    try garage.parkAll([one, two])
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Job.self, identifier: 1))
    let there = try #require(found.blocks)
    let other = try #require(try garage.retrieve(there))
    #expect(other.id == 2)
    let back = try #require(other.blocks)
    #expect(try garage.retrieve(back)?.id == 1)
    #expect(try garage.retrieveAll(Job.self).map(\.id) == [1, 2])
  }

  @Test(arguments: Backend.allCases)
  func setsCloseCyclesWhereNoHashDependsOnThem(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (1...5).map { Peer($0) }
    for friend in all { friend.friends = Set(all) }
    try garage.park(all[0])
    let found = try #require(try garage.retrieve(Peer.self, identifier: 1))
    #expect(found.friends == Set(all) && found.friends.contains(found))
    for friend in found.friends { #expect(friend.friends.contains { $0 === found }) }
    for friend in all + Array(found.friends) { friend.friends = [] }
  }

  /// A set of objects whose hash depends on what is still being filled cannot be built.
  @Test(arguments: Backend.allCases)
  func aCycleThroughAHashIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (one, two) = (Tangle(1), Tangle(2))
    one.members = [two]
    two.members = [one]
    try garage.park(one)
    #expect { try garage.retrieve(Tangle.self, identifier: 1)?.members = [] } throws: { error in
      "\(error)".contains(" → a set whose members' hash depends on it → Tangle \"")
    }
    one.members = []
  }
}

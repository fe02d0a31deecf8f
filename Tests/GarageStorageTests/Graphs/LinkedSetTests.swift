import Foundation
import GarageStorage
import Testing

@testable import GarageChild

/// Known by its `id` alone.
private final class Sailor: Codable, Identifiable, Hashable {
  var id: Int
  @Linked var crew: Set<Sailor>
  @Linked var mates: [Sailor]
  @Linked var posts: [Post: Sailor]
  @Linked var watches: [Int: Sailor]
  init(_ id: Int) { self.id = id }
  static func == (a: Sailor, b: Sailor) -> Bool { a.id == b.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
  func cut() { (crew, mates, posts, watches) = ([], [], [:], [:]) }
}

private enum Post: String, Codable, CodingKeyRepresentable { case helm, deck }

private final class DeckHand: Codable, Identifiable, Hashable {
  var id: Int
  @Linked var below: Set<DeckHand>
  @Linked var beside: Set<DeckHand>
  init(_ id: Int) { self.id = id }
  static func == (a: DeckHand, b: DeckHand) -> Bool { a.id == b.id }
  /// Reads the second set only where the first one has something.
  func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(below.count)
    if !below.isEmpty { hasher.combine(beside.map(\.id).max()) }
  }
  func cut() { (below, beside) = ([], []) }
}

/// Sets and dictionaries of links that are filled in together: with the objects that are retrieved as well.
@Suite struct LinkedSetTests {
  @Test(arguments: Backend.allCases)
  func collectionsOfAllShareTheirObjects(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let count = 60
    let parked = (0..<count).map(Sailor.init)
    defer { for sailor in parked { sailor.cut() } }
    for (index, sailor) in parked.enumerated() {
      func other(_ step: Int) -> Sailor { parked[(index * 7 + step) % count] }
      sailor.crew = Set((0...(index % 5)).map { other($0 * 11) })
      sailor.mates = [other(3), sailor]
      sailor.posts = [.helm: other(5), .deck: sailor]
      sailor.watches = [-3: other(1), 0: sailor, 12: other(2)]
    }
    try garage.parkAll(parked)
    garage = try place.reopened(garage)
    let found = try garage.retrieveAll(Sailor.self)
    defer { for sailor in found { sailor.cut() } }
    #expect(found.map(\.id) == Array(0..<count))
    for (sailor, expected) in zip(found, parked) {
      #expect(sailor.crew == expected.crew && sailor.crew.allSatisfy { $0 === found[$0.id] })
      #expect(sailor.mates.map(\.id) == expected.mates.map(\.id) && sailor.mates[1] === sailor)
      #expect(sailor.posts == expected.posts && sailor.posts.values.allSatisfy { $0 === found[$0.id] })
      #expect(sailor.watches == expected.watches && sailor.watches[0] === sailor)
    }
  }

  /// Members are built before their owners, in whatever order the records stand.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func setsBehindSetsAreBuilt(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let garage = try Place(.memory).garage()
    let count = 300
    let ids = Array(0..<count).shuffled(using: &generator)
    let mates = ids.map(DeckHand.init)
    for index in 1..<count {
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        mates[index].below.insert(mates[Int.random(in: 0..<index, using: &generator)])
        mates[index].beside.insert(mates[Int.random(in: 0..<index, using: &generator)])
      }
    }
    // Their hash changed with what was put in.
    for mate in mates { (mate.below, mate.beside) = (Set(Array(mate.below)), Set(Array(mate.beside))) }
    defer { for mate in mates.reversed() { mate.cut() } }
    try garage.parkAll(mates)
    for all in [
      try garage.retrieveAll(DeckHand.self),
      [try #require(try garage.retrieve(DeckHand.self, identifier: ids.last!))],
    ] {
      for mate in all {
        let parked = try #require(mates.first { $0.id == mate.id })
        #expect(Set(mate.below.map(\.id)) == Set(parked.below.map(\.id)))
        #expect(Set(mate.beside.map(\.id)) == Set(parked.beside.map(\.id)))
        // They are found by the hash that they have by now.
        #expect(mate.below.allSatisfy { mate.below.contains($0) })
        #expect(mate.beside.allSatisfy { mate.beside.contains($0) })
      }
      for mate in all { mate.cut() }
    }
  }

  @Test(arguments: Backend.allCases)
  func whatWaitsForItselfIsNamed(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let mates = (0..<20).map(DeckHand.init)
    defer { for mate in mates { mate.cut() } }
    for index in 1..<10 { mates[index].below = [mates[index - 1]] }
    (mates[15].below, mates[16].below) = ([mates[16]], [mates[15]])
    try garage.parkAll(mates)
    for _ in 0..<2 {
      #expect { try garage.retrieveAll(DeckHand.self) } throws: { error in
        let text = "\(error)"
        return text.contains(" → a set whose members' hash depends on it → DeckHand \"")
          && (text.contains("DeckHand \"15\"") || text.contains("DeckHand \"16\""))
      }
    }
    #expect(try garage.retrieve(DeckHand.self, identifier: 9)?.below.first?.id == 8)
  }

  @Test(arguments: Backend.allCases)
  func aMissingMemberIsNamed(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let sailors = (0..<9).map(Sailor.init)
    defer { for sailor in sailors { sailor.cut() } }
    func expectMissing(_ path: [String]) {
      #expect {
        _ = try garage.retrieveAll(Sailor.self)
      } throws: { error in
        guard case DecodingError.dataCorrupted(let context) = error else { return false }
        let found = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return context.debugDescription == "Missing Identifiable reference of type: Sailor with id: 8"
          && found == path && "\(context.underlyingError!)".contains("Sailor \"4\"")
      }
    }
    sailors[4].crew = [sailors[8]]
    try garage.parkAll(sailors)
    try garage.delete(Sailor.self, identifier: 8)
    expectMissing(["crew", "0"])
    (sailors[4].crew, sailors[4].posts) = ([], [.deck: sailors[4], .helm: sailors[8]])
    try garage.parkAll(sailors)
    try garage.delete(Sailor.self, identifier: 8)
    expectMissing(["posts", "helm"])
    (sailors[4].posts, sailors[4].watches) = ([:], [1: sailors[4], -8: sailors[8]])
    try garage.parkAll(sailors)
    try garage.delete(Sailor.self, identifier: 8)
    expectMissing(["watches", "-8"])
  }
}

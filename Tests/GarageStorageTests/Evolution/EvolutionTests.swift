import Foundation
import GarageStorage
import Testing

// A card as programs of different days declare it.

private enum CardBefore {
  struct Card: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "evolution.card" }
    var id: Int
    var name = "name"
    var gone = [1, 2, 3]
    var number = 4
  }
}
private enum CardNow {
  /// One property removed, the others in another order, an optional and linked properties added.
  final class Card: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "evolution.card" }
    var number: Int
    var note: String?
    var name: String
    @Linked var next: Card?
    @Linked var all: [Card]
    var id: Int
  }
}
private enum CardMapped {
  final class Card: MappableObject, TypeTagged {
    static var typeTag: String { "evolution.card" }
    var id = 0
    var name = ""
    var color = "red"
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Card.self)
      mapping.add("id", \Card.id)
      mapping.add("name", \Card.name)
      mapping.add("color", \Card.color)
      mapping.identifyingAttribute = "id"
      return mapping
    }
  }
}
/// A property added that no default can stand for.
private struct CardLacking: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolution.card" }
  var id: Int
  var color = "red"
}
private struct CardWithPrototype: Evolving, Identifiable, TypeTagged {
  static var typeTag: String { "evolution.card" }
  var id: Int
  var color: String
  static var prototype: CardWithPrototype? { CardWithPrototype(id: 0, color: "blue") }
}

@Suite struct EvolutionTests {
  private func place(_ backend: Backend) throws -> (Place, Garage) {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((1...3).map { CardBefore.Card(id: $0) })
    return (place, try place.reopened(garage))
  }

  @Test(arguments: Backend.allCases)
  func someChangesNeedNothing(_ backend: Backend) throws {
    let (place, garage) = try place(backend)
    let cards = try garage.retrieveAll(CardNow.Card.self)
    #expect(cards.map(\.id) == [1, 2, 3])
    for card in cards {
      #expect(
        card.name == "name" && card.number == 4 && card.note == nil && card.next == nil && card.all.isEmpty)
    }
    // A mapped class takes what there is.
    let mapped = try #require(try garage.retrieve(CardMapped.Card.self, identifier: 2))
    #expect(mapped.id == 2 && mapped.name == "name" && mapped.color == "red")
    // What the present program adds comes back beside what the older one left.
    cards[0].next = cards[1]
    cards[0].note = "added"
    try garage.park(cards[0])
    let found = try #require(try place.reopened(garage).retrieve(CardNow.Card.self, identifier: 1))
    #expect(found.note == "added" && found.next?.id == 2)
  }

  @Test(arguments: Backend.allCases)
  func anAddedPropertyNamesItsRemedies(_ backend: Backend) throws {
    let (place, garage) = try place(backend)
    let before = try Driver.contents(place.open(), .prefix([0x10]))
    let verbs: [() throws -> Void] = [
      { _ = try garage.retrieve(CardLacking.self, identifier: 1) },
      { _ = try garage.retrieveAll(CardLacking.self) },
    ]
    for verb in verbs {
      let error = #expect(throws: DecodingError.self) { try verb() }
      guard case .keyNotFound(let key, let context)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(key.stringValue == "color")
      for remedy in ["\"color\"", "optional", "prototype", "init(from:)", "propertyAliases"] {
        #expect(context.debugDescription.contains(remedy), "\(context.debugDescription)")
      }
    }
    // Nothing was dropped; with a remedy all are read.
    let report = try garage.migrateAll(CardLacking.self)
    #expect(report.failedCount == 3 && report.rewritten == 0)
    #expect(try Driver.contents(place.open(), .prefix([0x10])) == before)
    #expect(try garage.retrieveAll(CardWithPrototype.self).map(\.color) == ["blue", "blue", "blue"])
  }
}

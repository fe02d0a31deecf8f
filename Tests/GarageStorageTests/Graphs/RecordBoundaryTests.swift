import Foundation
import GarageStorage
import Synchronization
import Testing

@testable import GarageChild

/// An identified value, and places where it can stand.
private struct Part: Codable, Identifiable, Hashable {
  var id: Int
  var text = ""
}

private enum Payload: Codable {
  case none
  case one(Part)
  case named(part: Part, others: [Part])
}

private struct Places: Codable, Identifiable {
  var id = "places"
  var property: Part
  var optional: Part?
  var array: [Part]
  var dictionary: [String: Part]
  var set: Set<Part>
  var nested: [[Part]]
  var enums: [Payload]
  var content: Nest
  struct Nest: Codable { var deeper: Deeper; struct Deeper: Codable { var part: Part } }
}

private enum Mood: String, Codable, Identifiable { case good, bad; var id: Self { self } }
private struct Paint: Codable, Identifiable, Inlined, Equatable { var id: Int, name: String }
private struct Currency: Interned { var code: String, digits: Int }
private struct Price: Codable, Identifiable {
  var id: Int
  var currency: Currency
  var others: [Currency]
  var mood = Mood.good
  var paint: Paint
  var address: Address
}

/// Encodes a part on its own encoder, under its own identity.
private struct Wrapper: Codable, Identifiable {
  var id: Int { part.id }
  var part: Part
  init(_ part: Part) { self.part = part }
  init(from decoder: any Decoder) throws { part = try Part(from: decoder) }
  func encode(to encoder: any Encoder) throws { try part.encode(to: encoder) }
}

/// What has an identity is a record of its own wherever it stands; what has none stands inside its owner.
@Suite struct RecordBoundaryTests {
  @Test(arguments: Backend.allCases)
  func whatIsIdentifiedIsARecordWhereverItStands(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    func part(_ id: Int) -> Part { Part(id: id, text: "part \(id)") }
    let places = Places(
      property: part(1), optional: part(2), array: [part(3), part(4), part(1)],
      dictionary: ["a": part(5), "b": part(2)],
      set: [part(6), part(7)], nested: [[part(8)], [], [part(9), part(8)]],
      enums: [.none, .one(part(10)), .named(part: part(11), others: [part(12), part(1)])],
      content: .init(deeper: .init(part: part(13))))
    try garage.park(places)
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll(Part.self) == (1...13).map { part($0) })

    // What changes in the parts is seen through their owner.
    try garage.parkAll((1...13).map { Part(id: $0, text: "new \($0)") })
    let found = try #require(try garage.retrieve(Places.self, identifier: "places"))
    func new(_ ids: Int...) -> [Part] { ids.map { Part(id: $0, text: "new \($0)") } }
    #expect(found.property == new(1)[0] && found.optional == new(2)[0])
    #expect(found.array == new(3, 4, 1))
    #expect(found.dictionary == ["a": new(5)[0], "b": new(2)[0]])
    #expect(found.set == Set(new(6, 7)))
    #expect(found.nested == [new(8), [], new(9, 8)])
    #expect(found.content.deeper.part == new(13)[0])
    guard case .one(let one) = found.enums[1], case .named(let named, let others) = found.enums[2] else {
      Issue.record("payloads changed their cases")
      return
    }
    #expect([one, named] + others == new(10, 11, 12, 1))
  }

  @Test(arguments: Backend.allCases)
  func otherValuesStandInside(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (euro, yen) = (Currency(code: "EUR", digits: 2), Currency(code: "JPY", digits: 0))
    try garage.parkAll(
      (0..<20).map { id in
        Price(
          id: id, currency: euro, others: [yen, euro], paint: Paint(id: 1, name: "red \(id)"),
          address: Address(street: "Main", city: "x"))
      })
    garage = try place.reopened(garage)
    // Interned values are stored once; the others not by themselves.
    #expect(try garage.count(Currency.self) == 2)
    #expect(try garage.count(Paint.self) == 0)
    #expect(try garage.count(Address.self) == 0)
    #expect(try garage.count(Mood.self) == 0)
    let prices = try garage.retrieveAll(Price.self)
    #expect(prices.map(\.paint.name) == (0..<20).map { "red \($0)" })
    #expect(prices.allSatisfy { $0.currency == euro && $0.others == [yen, euro] && $0.mood == .good })
    #expect(try garage.retrieve(Currency.self, identifier: garage.identifier(for: yen)) == yen)
    // Parked by itself, an inlined object has a record of its own.
    try garage.park(Paint(id: 1, name: "alone"))
    #expect(try garage.retrieve(Paint.self, identifier: 1)?.name == "alone")
    #expect(try garage.retrieve(Price.self, identifier: 4)?.paint.name == "red 4")
  }

  // MARK: Several values of one identity

  private struct Branch: Codable, Identifiable {
    var id: String
    var parts: [Part]
    var branches: [Branch] = []
  }

  @Test(arguments: Backend.allCases)
  func theNearestValueWinsAndOfEquallyNearOnesTheLater(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    func text() throws -> String? { try garage.retrieve(Part.self, identifier: 1)?.text }
    func part(_ text: String) -> Part { Part(id: 1, text: text) }
    try garage.park(Branch(id: "a", parts: [part("first"), part("second")]))
    #expect(try text() == "second")
    try garage.park(Branch(id: "a", parts: [part("near")], branches: [Branch(id: "b", parts: [part("far")])]))
    #expect(try text() == "near")
    let deep = Branch(id: "c", parts: [], branches: [Branch(id: "d", parts: [part("deep")])])
    try garage.parkAll([deep, Branch(id: "e", parts: [part("shallow")])])
    #expect(try text() == "shallow")
    try garage.parkAll([part("root 1"), part("root 2")])
    #expect(try text() == "root 2")
    try garage.parkAll(any: [part("a root"), Branch(id: "f", parts: [part("inside")])] as [Any])
    #expect(try text() == "a root")
    garage = try place.reopened(garage)
    #expect(try text() == "a root")
    #expect(try garage.count(Part.self) == 1)
    #expect(try garage.retrieve(Branch.self, identifier: "a")?.parts == [part("a root")])
  }

  /// The root itself is nearer than its copies inside.
  @Test(arguments: Backend.allCases)
  func aRootWinsOverCopiesOfItself(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let copy = Branch(id: "same", parts: [Part(id: 1)])
    try garage.park(
      Branch(id: "same", parts: [Part(id: 2)], branches: [Branch(id: "other", parts: [], branches: [copy])]))
    let tree = try garage.read { reader in try reader.count(Branch.self) }
    #expect(tree == 2)
    #expect(try garage.count(Part.self) == 1)
  }

  @Test(arguments: Backend.allCases)
  func aWrapperInlinesWhatItEncodesItself(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(Wrapper(Part(id: 5, text: "inside")))
    garage = try place.reopened(garage)
    #expect(try garage.count(Part.self) == 0)
    #expect(try garage.retrieve(Wrapper.self, identifier: 5)?.part == Part(id: 5, text: "inside"))
  }

  @Test(arguments: Backend.allCases)
  func aReferenceParksAndLoadsNothingBehindIt(_ backend: Backend) throws {
    struct Ticket: Codable, Identifiable {
      var id: Int, item: Reference<Item>, all: [Reference<Item>], none: Reference<Item>?
    }
    let place = try Place(backend)
    var garage = try place.garage()
    let item = Item(id: UUID(), name: "seat")
    try garage.park(
      Ticket(id: 1, item: Reference(to: item), all: [Reference(Item.self, identifier: item.id)], none: nil))
    #expect(try garage.count(Item.self) == 0)
    garage = try place.reopened(garage)
    let ticket = try #require(try garage.retrieve(Ticket.self, identifier: 1))
    #expect(ticket.item == Reference(to: item) && ticket.all == [ticket.item] && ticket.none == nil)
    #expect(try garage.retrieve(ticket.item) == nil)
    try garage.park(item)
    #expect(try garage.retrieve(ticket.item) == item)
  }

  // MARK: Depth

  private struct Box: Codable {
    var inside: [Box]
    init(depth: Int) { inside = depth == 0 ? [] : [Box(depth: depth - 1)] }
  }
  private struct Boxes: Codable, Identifiable {
    var id = 1
    var box: Box
  }

  @Test(arguments: Backend.allCases)
  func nestingTooDeepIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Boxes(box: Box(depth: 20)))
    #expect(throws: (any Error).self) { try garage.park(Boxes(id: 2, box: Box(depth: 5000))) }
    #expect(try garage.count(Boxes.self) == 1)
    #expect(try garage.retrieve(Boxes.self, identifier: 1) != nil)
  }

  /// Nor does a thread whose stack is too small for what was parked on another one.
  @Test(arguments: Backend.allCases)
  func nestingTooDeepForTheStackIsRefusedOnDecoding(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Boxes(box: Box(depth: 200)))
    let outcome = Mutex<Result<Int, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let result = Result { try garage.retrieve(Boxes.self, identifier: 1)?.box.inside.count ?? 0 }
      outcome.withLock { $0 = result }
      done.signal()
    }
    thread.stackSize = 96 << 10
    thread.start()
    done.wait()
    switch try #require(outcome.withLock { $0 }) {
    case .success(let count): #expect(count == 1)
    case .failure(let error):
      guard case .nestingTooDeep? = error as? GarageError else { throw error }
    }
    #expect(try garage.retrieve(Boxes.self, identifier: 1) != nil)
  }

  // MARK: Length

  @Test(arguments: Backend.allCases)
  func longChainsNeedNoStack(_ backend: Backend) throws {
    let place = try Place(backend)
    let count = runsLongTests ? 10_000 : 3_000
    for kind in ChainKind.allCases {
      try onSmallStack {
        let garage = try place.garage()
        let chain = kind.make(count)
        try garage.park(any: chain)
        try Chain.takeApart(chain, count: count)
        let reopened = try place.reopened(garage)
        try Chain.takeApart(try #require(try kind.retrieve(from: reopened)), count: count)
        try reopened.close()
      }
    }
  }
}

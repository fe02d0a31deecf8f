import Foundation
import GarageStorage
import Testing

private struct Isle: Codable, Identifiable, Sendable {
  var id: String
  var size = 0
  @Linked var bridge: Ferry?
  @Linked var harbours: [Ferry]
  @Linked var named: [String: Ferry]
}
/// Compared by more than its identifier.
private struct Ferry: Codable, Identifiable, Hashable, Sendable {
  var id: Int
  var seats = 0
}
/// With what the compiler makes of linked properties.
private struct Archipelago: Codable, Hashable, Identifiable, Sendable {
  var id = 1
  @Linked var main: Ferry?
  @Linked var all: [Ferry]
  @Linked var set: Set<Ferry>
  @Linked var table: [String: Ferry]
}

/// `Linked` and `Reference` as values, beside what a garage does with them.
@Suite struct LinkedTests {
  private func isles(_ seats: Int) -> Archipelago {
    let ferries = (1...3).map { Ferry(id: $0, seats: seats) }
    var isles = Archipelago()
    (isles.main, isles.all, isles.set) = (ferries[0], ferries, Set(ferries.prefix(2)))
    isles.table = ["a": ferries[2]]
    return isles
  }

  /// Equal, and hashed alike, when they hold objects of the same identifiers, whatever these are like.
  @Test func identifiersAreCompared() {
    #expect(isles(1) == isles(2) && isles(1).hashValue == isles(2).hashValue)
    #expect(Set([isles(1), isles(2)]).count == 1)
    let changes: [(inout Archipelago) -> Void] = [
      { $0.main = nil }, { $0.main = Ferry(id: 9) }, { $0.all.swapAt(0, 1) }, { $0.all.removeLast() },
      { $0.set.insert(Ferry(id: 9)) }, { $0.table["b"] = Ferry(id: 1) }, { $0.table["a"] = Ferry(id: 1) },
    ]
    for (number, change) in changes.enumerated() {
      var other = isles(1)
      change(&other)
      #expect(other != isles(1), "change \(number)")
    }
  }

  @Test func copiesAreTheirOwn() {
    let one = isles(1)
    var two = one
    two.all.append(Ferry(id: 4))
    two.main?.seats = 7
    two.set = []
    two.table["a"] = nil
    #expect(one.all.count == 3 && one.main?.seats == 1 && one.set.count == 2 && one.table.count == 1)
    #expect(two.all.count == 4 && two.main?.seats == 7 && two.set.isEmpty && two.table.isEmpty)
  }

  @Test func theyCanBeSent() async {
    func isSendable(_: some Sendable) {}
    let isle = Isle(id: "a", harbours: Linked(wrappedValue: [Ferry(id: 1)]))
    isSendable(isle)
    isSendable(Reference(to: isle))
    #expect(await Task { isle.harbours.count }.value == 1)
  }

  /// Another coder sees the value.
  @Test func otherCodersSeeTheValue() throws {
    struct Plain: Codable {
      var id = 1, main: Ferry?, all: [Ferry], set: [Ferry], table: [String: Ferry]
    }
    let data = try JSONEncoder().encode(isles(5))
    let plain = try JSONDecoder().decode(Plain.self, from: data)
    #expect(plain.main == Ferry(id: 1, seats: 5) && plain.all.map(\.id) == [1, 2, 3])
    #expect(Set(plain.set) == isles(5).set && plain.table == isles(5).table)
    let back = try JSONDecoder().decode(Archipelago.self, from: data)
    #expect(back == isles(5) && back.all.map(\.seats) == [5, 5, 5])
  }

  @Test(arguments: Backend.allCases)
  func theyComeBackAsTheyWere(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(isles(3))
    try garage.park(Isle(id: "empty"))
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Archipelago.self, identifier: 1))
    #expect(found == isles(3) && found.all.map(\.seats) == [3, 3, 3] && found.set == isles(3).set)
    // A copy of what a garage handed out is a value as well.
    var copy = found
    copy.all = []
    #expect(found.all.count == 3)
    let empty = try #require(try garage.retrieve(Isle.self, identifier: "empty"))
    #expect(empty.bridge == nil && empty.harbours.isEmpty && empty.named.isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func referencesAreNames(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let ferry = Ferry(id: 1, seats: 2)
    let reference = Reference(to: ferry)
    #expect(
      reference == Reference(Ferry.self, identifier: 1) && reference != Reference(Ferry.self, identifier: 2))
    #expect(Set([reference, Reference(to: Ferry(id: 1, seats: 9))]).count == 1)
    #expect(try garage.retrieve(reference) == nil)
    try garage.park(ferry)
    #expect(try garage.retrieve(reference) == ferry)
    // Parked by itself nothing of it is the target's.
    struct Ticket: Codable, Identifiable { var id = 1, ferry: Reference<Ferry> }
    try garage.deleteAll(Ferry.self)
    try garage.park(Ticket(ferry: reference))
    #expect(try garage.count(Ferry.self) == 0)
    #expect(try garage.retrieve(Ticket.self, identifier: 1)?.ferry == reference)
  }
}

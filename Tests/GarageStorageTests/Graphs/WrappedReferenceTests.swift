import Testing

@testable import GarageStorage

/// References in wrappers that leave reading to what they hold.
@Suite struct WrappedReferenceTests {
  /// A reference is there whether or not its object is: parked again it is not lost.
  @Test(arguments: Backend.engines)
  func stayWithoutTheirObjects(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let friend = Reference(Hub.self, identifier: "a")
    try garage.park(Pocket(id: 1, friend: friend, foe: nil))
    let found = try #require(try garage.retrieve(Pocket.self, identifier: 1))
    #expect(found.friend == friend && found.foe == nil)
    try garage.park(found)
    #expect(try garage.referrers(of: Hub.self, identifier: "a").count == 1)
    #expect(try garage.retrieve(Pocket.self, identifier: 1)?.friend == friend)
  }

  /// To read them is not to read their objects, which do not come back with who refers to them.
  @Test(arguments: Backend.engines)
  func followNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let friend = Reference(Hub.self, identifier: "a")
    try garage.park(Hub(id: "a"))
    try garage.park(Pocket(id: 1, friend: friend, foe: nil))
    let found = try #require(try garage.retrieve(Pocket.self, identifier: 1))
    #expect(found.friend == friend)
    try garage.delete(Hub.self, identifier: "a")
    try garage.park(found)
    #expect(try garage.count(Hub.self) == 0)
    // Of a chain one is read, however long it is.
    let count = 3_000
    try garage.parkAll((0..<count).map { Stone(id: $0, next: Reference(Stone.self, identifier: $0 + 1)) })
    let first = try #require(try garage.retrieve(Stone.self, identifier: 0))
    #expect(first.next == Reference(Stone.self, identifier: 1))
    #expect(try garage.retrieveAll(Stone.self).map(\.id) == Array(0..<count))
  }

  /// What was referred to may be a part of its owner by now, whose type has no identity any more.
  @Test(arguments: Backend.engines)
  func mayHaveBecomeParts(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Slip(id: 7, text: "seven"))
    let slip = Reference(Slip.self, identifier: 7)
    try garage.park(OldBinder(id: 1, slip: slip, other: slip))
    let found = try #require(try garage.retrieve(Binder.self, identifier: 1))
    #expect(found.slip.text == "seven" && found.other?.text == "seven")
  }
}

private struct Stone: Codable, Identifiable {
  var id: Int
  @Handed var next: Reference<Stone>?

  init(id: Int, next: Reference<Stone>?) {
    self.id = id
    self.next = next
  }
}

private struct Slip: Codable, Identifiable {
  var id: Int
  var text: String
}

private struct OldBinder: Codable, Identifiable, TypeTagged {
  var id: Int
  var slip: Reference<Slip>
  var other: Reference<Slip>?
  static var typeTag: String { "binder of references" }
}

private struct Binder: Codable, Identifiable, TypeTagged {
  struct Slip: Codable { var text: String }
  var id: Int
  var slip: Slip
  var other: Slip?
  static var typeTag: String { "binder of references" }
}

@propertyWrapper private struct Handed<Value: Codable>: Codable {
  var wrappedValue: Value

  init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }
  func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

private struct Pocket: Codable, Identifiable {
  var id: Int
  @Handed var friend: Reference<Hub>?
  @Handed var foe: Reference<Hub>?

  init(id: Int, friend: Reference<Hub>?, foe: Reference<Hub>?) {
    self.id = id
    self.friend = friend
    self.foe = foe
  }
}

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

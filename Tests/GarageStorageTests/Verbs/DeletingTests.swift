import Foundation
import GarageStorage
import Testing

/// Deleting takes the record that is named, and no other.
@Suite struct DeletingTests {
  @Test(arguments: Backend.allCases)
  func onlyTheRecordItselfGoes(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(Crowd(id: "a", members: [Counter(id: 1), Counter(id: 2)]))
    let crowd = try #require(try garage.retrieve(Crowd.self, identifier: "a"))
    try garage.delete(crowd)
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Crowd.self, identifier: "a") == nil)
    #expect(try garage.count(Counter.self) == 2)
    try garage.delete(Counter.self, identifier: 1)
    try garage.delete(any: Counter(id: 2, value: 77))
    #expect(try garage.count(Counter.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func valuesGoByTheirContent(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (here, there) = (Address(street: "a", city: "b"), Address(street: "c", city: "d"))
    try garage.parkAll([here, there])
    try garage.delete(here)
    #expect(try garage.retrieveAll(Address.self) == [there])
    try garage.delete(Address.self, identifier: garage.identifier(for: there))
    #expect(try garage.count(Address.self) == 0)
    let item = Item(id: UUID(), name: "lamp")
    try garage.park(item)
    try garage.delete(Item(id: item.id, name: "another name"))
    #expect(try garage.count(Item.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func whatIsNotThereCannotBeDeleted(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Person("Nick"))
    let sam = GarageError.failedToRetrieveObject("Person", "Sam")
    #expect(throws: sam) { try garage.delete(Person("Sam")) }
    #expect(throws: sam) { try garage.delete(Person.self, identifier: "Sam") }
    #expect(throws: GarageError.failedToRetrieveObject("Counter", "3")) { try garage.delete(Counter(id: 3)) }
    #expect(throws: GarageError.failedToRetrieveObject("Counter", "3")) {
      try garage.delete(Counter.self, identifier: "3")
    }
    let id = UUID()
    #expect(throws: GarageError.failedToRetrieveObject("Item", id.uuidString)) {
      try garage.delete(Item(id: id, name: ""))
    }
    try garage.delete(Person.self, identifier: "Nick")
    #expect(throws: GarageError.failedToRetrieveObject("Person", "Nick")) {
      try garage.delete(Person("Nick"))
    }
    // Nothing to delete is no failure where nobody named an object.
    try garage.deleteAll(Person.self)
    try garage.deleteAllObjects()
  }

  @Test(arguments: Backend.allCases)
  func allOfATypeGoAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((0..<3000).map { Counter(id: $0) })
    try garage.park(Person("Sam"))
    try garage.deleteAll(Counter.self)
    garage = try place.reopened(garage)
    #expect(try garage.count(Counter.self) == 0)
    #expect(try garage.count(Person.self) == 1)
    try garage.park(Counter(id: 1))
    try garage.deleteAllObjects()
    garage = try place.reopened(garage)
    #expect(try garage.count(Counter.self) + garage.count(Person.self) == 0)
    try garage.park(Counter(id: 1, value: 2))
    #expect(try place.reopened(garage).retrieve(Counter.self, identifier: 1)?.value == 2)
  }
}

import Foundation
import GarageDriver
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Two types of one declared name, as if one had been renamed.
private struct Invoice: Codable, Identifiable, TypeTagged {
  static let typeTag = "Bill"
  var id: Int
}
private struct RenamedInvoice: Codable, Identifiable, TypeTagged {
  static let typeTag = "Invoice"
  var id: Int
}

/// Which names there are in a store says where objects went whose type was renamed.
@Suite struct TypeNamesTests {
  @Test(arguments: Backend.allCases)
  func namesAreListedWithTheirCounts(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([Dog.self, Puppy.self])
    #expect(try garage.typeNames() == [:])
    try garage.parkAll((0..<3).map { Invoice(id: $0) })
    try garage.park(Dog("Rex"))
    try garage.park(Puppy("Bello"))
    try garage.parkAll([Address(street: "a", city: "b"), Address(street: "c", city: "d")])
    // Typed keys and statuses are no objects.
    try garage.set(.launchCount, value: 1)
    garage = try place.reopened(garage)
    let expected = [
      "Bill": 3, "GarageStorageTests.Animal": 2, "GarageStorageTests.Address": 2,
    ]
    #expect(try garage.typeNames() == expected)
    // After a renaming the new type has none, and the old name says where they are.
    #expect(try garage.count(RenamedInvoice.self) == 0)
    try garage.migrateAll(fromOldClassName: "Bill", to: RenamedInvoice.self)
    #expect(try garage.typeNames()["Bill"] == nil)
    #expect(try garage.typeNames()["Invoice"] == 3)
    #expect(try garage.count(RenamedInvoice.self) == 3)
  }

  @Test(arguments: Backend.allCases)
  func namesAreThoseOfTheTransaction(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Counter(id: 1))
    try garage.write { writer in
      try writer.park(Invoice(id: 1))
      try writer.delete(Counter.self, identifier: 1)
      #expect(try writer.typeNames() == ["Bill": 1])
      #expect(try garage.typeNames() == ["GarageStorageTests.Counter": 1])
    }
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 2)) }
    #expect(try garage.read { try $0.typeNames() } == ["Bill": 1, "GarageStorageTests.Counter": 1])
  }

  @Test func namesAreListedWhereIdentifiersAreHidden() throws {
    let storage = try SealedStorage(Place(.sqlite).open(), sealer: InsecureTestSealer(key: 7))
    let garage = try Garage(storage, hidesIdentifiers: true)
    try garage.parkAll((0..<30).map { Counter(id: $0) })
    try garage.park(Invoice(id: 1))
    #expect(try garage.typeNames() == ["Bill": 1, "GarageStorageTests.Counter": 30])
  }

  @Test func aNameWithoutTextIsGivenAsItsDigest() throws {
    let place = try Place(.sqlite)
    let driver = try place.open()
    try Garage(driver).park(Invoice(id: 1))
    try driver.write { transaction in
      try transaction.removeAll(in: .prefix([1]))
      return .commit(())
    }
    let names = try Garage(driver).typeNames()
    #expect(names.values.map(\.self) == [1])
    #expect(names.keys.allSatisfy { $0.count == 16 && $0.allSatisfy(\.isHexDigit) })
  }
}

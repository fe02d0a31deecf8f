import Foundation
import GarageDriver
import GarageStorage
import Testing

/// A store can be looked into without the Swift types of what is in it.
@Suite struct StoredObjectTests {
  private let node = String(reflecting: CareNode.self)

  @Test(arguments: Backend.allCases, [false, true])
  func pagesHaveEveryIdentifierOnce(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let garage = try CareStore(backend, hidesIdentifiers: hidesIdentifiers).garage
    for limit in [1, 3, 20, 50] {
      var found: [Identifier] = []
      while true {
        let page = try garage.identifiers(ofTypeNamed: node, after: found.last, limit: limit)
        if page.isEmpty { break }
        found += page
      }
      #expect(found == (hidesIdentifiers ? found : found.sorted()))
      #expect(Set(found.map(\.description)) == Set((0..<20).map(String.init)) && found.count == 20)
    }
    #expect(try garage.identifiers(ofTypeNamed: "nothing", limit: 5).isEmpty)
    #expect(try garage.identifiers(ofTypeNamed: node, limit: 0).isEmpty)
    let leaves = try garage.identifiers(ofTypeNamed: String(reflecting: CareLeaf.self), limit: 9)
    #expect(leaves.contains { $0.description.utf8.count == 500 }, "a long identifier is whole")
  }

  @Test(arguments: Backend.allCases, [false, true])
  func objectsHaveWhatWasParked(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let garage = try CareStore(backend, hidesIdentifiers: hidesIdentifiers).garage
    let id = try #require(try garage.identifier(describedAs: "4", ofTypeNamed: node))
    let object = try #require(try garage.storedObject(ofTypeNamed: node, identifier: id))
    #expect(object.type == node && object.value["name"] == .string("node 4") && object.byteCount > 50)
    #expect(abs(object.modificationDate.timeIntervalSinceNow) < 3600)
    let names = try object.value.references.map { try garage.typeName(of: $0).map { "\($0) " } ?? "" }
    #expect(names.count == 4 && names.count { $0.hasSuffix("CareNode ") } == 3)
    for identity in object.value.references { #expect(try garage.storedObject(identity) != nil) }
    let errand = try garage.storedObject(
      ofTypeNamed: String(reflecting: Errand.self), identifier: garage.identifier(for: Errand(id: 1)))
    #expect(errand?.syncStatus == SyncStatus.allCases[1])
    let animal = String(reflecting: Animal.self)
    let dog = try #require(try garage.identifier(describedAs: "d", ofTypeNamed: animal))
    #expect(
      try garage.storedObject(ofTypeNamed: animal, identifier: dog)?.type == String(reflecting: Dog.self))
    #expect(try garage.identifier(describedAs: "x", ofTypeNamed: animal) == nil)
    let item = Item(id: UUID(), name: "x")
    try garage.park(item)
    #expect(
      try garage.identifier(describedAs: item.id.uuidString, ofTypeNamed: String(reflecting: Item.self))
        != nil)
  }

  @Test(arguments: Backend.allCases)
  func typesAndKeysAreListed(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let types = try store.garage.storedTypes()
    #expect(types.map(\.name) == types.map(\.name).sorted())
    #expect(
      Dictionary(uniqueKeysWithValues: types.map { ($0.name, $0.objectCount) })
        == (try store.garage.typeNames()))
    let records = try Driver.contents(store.driver, .prefix([0x10]))
    #expect(
      types.reduce(0) { $0 + $1.byteCount } == records.reduce(0) { $0 + $1.key.bytes.count + $1.value.count })
    let keys = try store.garage.storedKeyValues()
    #expect(keys.map(\.name) == ["care:favourites", "care:number"] && keys[1].value == .integer(7))
    #expect(try store.garage.storedKeyCount() == 2)
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Testing

/// Objects can be changed and deleted without the Swift types of what is in them, and everything else stays as it is.
@Suite struct StoredChangeTests {
  private let node = String(reflecting: CareNode.self)
  private let errand = String(reflecting: Errand.self)
  private let fellow = String(reflecting: Fellow.self)

  private func identifier(_ text: String, _ type: String, _ garage: Garage) throws -> Identifier {
    try #require(try garage.identifier(describedAs: text, ofTypeNamed: type))
  }

  @Test(arguments: Backend.allCases, [false, true])
  func anObjectHoldsWhatItWasChangedTo(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && backend != .sealedSQLite { return }
    let store = try CareStore(backend, hidesIdentifiers: hidesIdentifiers)
    defer { for node in store.nodes { node.links = [] } }
    let garage = store.garage
    let before = try Driver.contents(store.driver)
    let id = try identifier("5", node, garage)
    let parked = try #require(try garage.storedObject(ofTypeNamed: node, identifier: id))
    try garage.changeStoredObject(ofTypeNamed: node, identifier: id) { $0["name"] = "changed" }
    let changed = try #require(try garage.storedObject(ofTypeNamed: node, identifier: id))
    #expect(changed.modificationDate >= parked.modificationDate && changed.type == parked.type)
    var expected = parked.value
    expected["name"] = "changed"
    #expect(changed.value == expected)
    // Nothing but that record.
    let after = try Driver.contents(store.driver)
    #expect(Set(before.keys) == Set(after.keys))
    #expect(before.keys.filter { before[$0] != after[$0] }.count == 1)
    let object = try #require(try garage.retrieve(CareNode.self, identifier: 5))
    #expect(object.name == "changed" && object.links.map(\.id) == [6, 15] && object.ballast.count == 3000)
    #expect(object.parent == CareLeaf(id: "leaf 2", text: "of some") && object.others.first?.id == 10)
    object.links = []
    #expect(try garage.verify().isSound)
  }

  /// Each object of the store, also those with long identifiers, of subclasses and with references of all kinds.
  @Test(arguments: Backend.engines) func whatIsChangedBackIsAsBefore(_ backend: Backend) throws {
    let store = try CareStore(backend)
    defer { for node in store.nodes { node.links = [] } }
    let garage = store.garage
    var count = 0
    for type in try garage.storedTypes() {
      for id in try garage.identifiers(ofTypeNamed: type.name, limit: 1000) where id.kind != .digest {
        let before = try #require(try garage.storedObject(ofTypeNamed: type.name, identifier: id))
        try garage.changeStoredObject(ofTypeNamed: type.name, identifier: id) { $0["added"] = [1, "two"] }
        let between = try garage.storedObject(ofTypeNamed: type.name, identifier: id)
        #expect(between?.value["added"] == [1, "two"])
        try garage.changeStoredObject(ofTypeNamed: type.name, identifier: id) { $0.remove("added") }
        var after = try #require(try garage.storedObject(ofTypeNamed: type.name, identifier: id))
        after.modificationDate = before.modificationDate
        // A shape takes less room than the keys that stand in its place.
        after.byteCount = before.byteCount
        #expect(after == before)
        count += 1
      }
    }
    #expect(count > 30)
    #expect(try garage.verify().isSound)
    #expect(try garage.retrieveAll(Animal.self).count == 3)
  }

  @Test(arguments: [Backend.memory, .sqlite, .lmdb]) func indexesAndStatusesFollow(_ backend: Backend) throws
  {
    let garage = try Place(backend).garage()
    try garage.parkAll((1...9).map { Fellow(id: $0, email: "\($0)@a", age: $0, shelf: $0, tags: ["t\($0)"]) })
    try garage.parkAll((0..<3).map { Errand(id: $0, syncStatus: .synced) })
    _ = try garage.query(Fellow.self).where(\.age == 3).first()
    let third = try identifier("3", fellow, garage)
    try garage.changeStoredObject(ofTypeNamed: fellow, identifier: third) {
      $0["age"] = 77
      $0["tags"] = ["new"]
    }
    #expect(try garage.query(Fellow.self).where(\.age == 77).values(\.id) == [3])
    #expect(try garage.query(Fellow.self).where(\.age == 3).isEmpty())
    #expect(throws: GarageError.self) {
      try garage.changeStoredObject(ofTypeNamed: fellow, identifier: third) { $0["email"] = "4@a" }
    }
    #expect(try garage.retrieve(Fellow.self, identifier: 3)?.email == "3@a")
    try garage.deleteStoredObject(ofTypeNamed: fellow, identifier: third)
    #expect(try garage.query(Fellow.self).where(\.age == 77).isEmpty())
    try garage.park(Fellow(id: 30, email: "3@a", shelf: 3))
    let first = try identifier("1", errand, garage)
    try garage.changeStoredObject(ofTypeNamed: errand, identifier: first) { $0["title"] = "milk" }
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.title) == ["", "milk", ""])
    try garage.deleteStoredObject(ofTypeNamed: errand, identifier: first)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == [0, 2])
    #expect(try garage.verify().findings.isEmpty)
  }

  @Test(arguments: Backend.engines) func whatCannotBeChangedStaysAsItIs(_ backend: Backend) throws {
    struct Refusal: Error {}
    let store = try CareStore(backend)
    defer { for node in store.nodes { node.links = [] } }
    let garage = store.garage
    let before = try Driver.contents(store.driver)
    let id = try identifier("4", node, garage)
    let address = String(reflecting: Address.self)
    let content = try #require(try garage.identifiers(ofTypeNamed: address, limit: 1).first)
    #expect(throws: Refusal.self) {
      try garage.changeStoredObject(ofTypeNamed: node, identifier: id) {
        $0["name"] = "x"
        throw Refusal()
      }
    }
    #expect(throws: GarageError.identifiedByContent(type: address, identifier: "\(content)")) {
      try garage.changeStoredObject(ofTypeNamed: address, identifier: content) { $0["city"] = "Hobbiton" }
    }
    #expect(throws: GarageError.failedToRetrieveObject("nothing", "4")) {
      try garage.changeStoredObject(ofTypeNamed: "nothing", identifier: id) { $0["name"] = "x" }
    }
    #expect(throws: GarageError.failedToRetrieveObject("nothing", "4")) {
      try garage.deleteStoredObject(ofTypeNamed: "nothing", identifier: id)
    }
    // What is equal is not written, not even with another time.
    try garage.changeStoredObject(ofTypeNamed: node, identifier: id) { $0["name"] = "node 4" }
    #expect(try Driver.contents(store.driver) == before)
    // In a transaction all of it is undone.
    #expect(throws: Refusal.self) {
      try garage.write { writer in
        try writer.changeStoredObject(ofTypeNamed: node, identifier: id) { $0["name"] = "x" }
        try writer.deleteStoredObject(ofTypeNamed: address, identifier: content)
        throw Refusal()
      }
    }
    #expect(try Driver.contents(store.driver) == before)
  }

  @Test(arguments: Backend.engines) func deletingLeavesTheOthers(_ backend: Backend) async throws {
    let store = try CareStore(backend)
    defer { for node in store.nodes { node.links = [] } }
    let garage = store.garage
    let id = try identifier("4", node, garage)
    let identity = RecordIdentity(typeNamed: node, id)
    let referrers = try await garage.referrers(of: identity)
    try await garage.deleteStoredObject(ofTypeNamed: node, identifier: id)
    #expect(try await garage.count(CareNode.self) == 19)
    #expect(try await garage.storedObject(identity) == nil)
    #expect(!referrers.isEmpty)
    #expect(try await garage.referrers(of: identity) == referrers)
    let other = try identifier("6", node, garage)
    try await garage.changeStoredObject(ofTypeNamed: node, identifier: other) { $0["name"] = "later" }
    #expect(try await garage.storedObject(ofTypeNamed: node, identifier: other)?.value["name"] == "later")
    await #expect(throws: GarageError.failedToRetrieveObject(node, "4")) {
      try await garage.deleteStoredObject(ofTypeNamed: node, identifier: id)
    }
  }
}

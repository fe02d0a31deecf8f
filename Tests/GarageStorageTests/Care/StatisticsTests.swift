import Foundation
import GarageDriver
import GarageStorage
import Testing

/// `statistics` counts what is in a store.
@Suite struct StatisticsTests {
  @Test(arguments: Backend.allCases, [false, true])
  func countsEverythingByType(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let store = try CareStore(backend, hidesIdentifiers: hidesIdentifiers)
    let statistics = try store.garage.statistics()
    func type(_ name: String) throws -> StoreStatistics.TypeStatistics {
      try #require(statistics.types.first { $0.name.hasSuffix(name) }, "\(statistics)")
    }
    let nodes = try type("CareNode")
    #expect(nodes.objectCount == 20)
    #expect(nodes.outgoingReferences[.eager] == 20 && nodes.outgoingReferences[.lazy] == 20)
    // Where both links are to one other node the table has it once.
    let links = Set(store.nodes.flatMap { node in node.links.map { "\(node.id) \($0.id)" } }).count
    #expect(nodes.outgoingReferences[.linked].map { links...40 ~= $0 } == true, "\(statistics)")
    #expect(nodes.largestByteCount > 3000)
    #expect(["0", "5", "10", "15"].contains(nodes.largestIdentifier), "\(nodes.largestIdentifier)")
    #expect(try type("CareLeaf").incomingReferenceCount == 20)
    #expect(try type("Errand").syncStatuses.values.reduce(0, +) == 6)
    for name in ["Animal", "Dog", "Puppy", "Address"] { #expect(try type(name).objectCount == 1) }
    #expect(statistics.keyCount == 2)
    let contents = try Driver.contents(store.driver)
    #expect(statistics.byteCount == contents.reduce(0) { $0 + $1.key.bytes.count + $1.value.count })
    #expect(statistics.objectCount == contents.keys.count { $0.bytes[0] == 0x10 })
    #expect(statistics.description.contains("CareNode"))
  }

  /// A type whose name is gone is told as such, with the digits that stand for it everywhere.
  @Test(arguments: Backend.engines) func tellsOfLostNames(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(CareLeaf(id: "a", text: "x"))
    let name = try #require(try garage.storedTypeNames().first)
    try garage.close()
    let driver = try place.open()
    for (key, value) in try Driver.contents(driver) where value == Array(name.utf8) {
      try driver.write { transaction in
        try transaction.remove(key)
        return .commit(())
      }
    }
    let again = try place.garage()
    let found = try again.statistics().types.map(\.name)
    let digits = try #require(try again.storedTypeNames().first)
    #expect(found == ["a type whose name the store has lost (listed as \(digits))"] && digits.count == 16)
    #expect(try again.identifiers(ofTypeNamed: digits, limit: 9).count == 1)
    try again.park(CareLeaf(id: "b", text: "x"))
    #expect(try again.statistics().types.map(\.name) == [name])
  }

  @Test(arguments: Backend.allCases) func tellsWhatIsFree(_ backend: Backend) throws {
    let store = try CareStore(backend)
    guard let before = try store.garage.statistics().freeByteCount else {
      return #expect(!store.driver.info.isDurable || Backend.isOnServer)
    }
    try store.garage.parkAll(
      (0..<500).map { CareLeaf(id: "leaf \($0)", text: String(repeating: "x", count: 2000)) })
    try store.garage.deleteAll(CareLeaf.self)
    let after = try store.garage.statistics()
    #expect(try #require(after.freeByteCount) >= before + 500_000)
    #expect(after.description.contains("bytes free"))
  }
}

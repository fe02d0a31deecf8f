import Foundation
import GarageLegacy
import GarageMemory
import GarageStorage
import Testing

/// Anonymous, and the class of a property that may hold objects of a subclass.
class LegacyVehicle: SyncableObject {
  var wheels = 0
  var trailer: LegacyVehicle?
  var syncStatus = SyncStatus.undetermined
  required init() {}

  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: LegacyVehicle.self)
    mapping.add("wheels", \LegacyVehicle.wheels)
    mapping.add("trailer", \LegacyVehicle.trailer)
    return mapping
  }
}

final class LegacyTruck: LegacyVehicle {
  var load = 0

  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: LegacyTruck.self)
    mapping.add("load", \LegacyTruck.load)
    return mapping
  }
}

final class LegacyDepot: MappableObject {
  var name = ""
  var best: LegacyVehicle?
  var all: [LegacyVehicle] = []
  var byPlace: [String: LegacyVehicle] = [:]
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: LegacyDepot.self)
    mapping.add("name", \LegacyDepot.name)
    mapping.add("best", \LegacyDepot.best)
    mapping.add("all", \LegacyDepot.all)
    mapping.add("byPlace", \LegacyDepot.byPlace)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Anonymous objects come over as objects of their own class.
@Suite struct LegacyClassTests {
  private func load(_ vehicle: LegacyVehicle?) -> Int? { (vehicle as? LegacyTruck)?.load }

  @Test(arguments: [false, true], [false, true])
  func aSubclassStays(_ isEncrypted: Bool, _ isRenamed: Bool) throws {
    func seal(_ text: String) -> String {
      isEncrypted ? Data(text.utf8.reversed()).base64EncodedString() : text
    }
    let truck = isRenamed ? "MCTruck" : "LegacyTruck"
    let vehicle = isRenamed ? "MCVehicle" : "LegacyVehicle"
    let trailer = OldJSON.anonymous(truck, seal("{\"wheels\":2,\"load\":7}"))
    let best = OldJSON.anonymous(
      truck, seal("{\"wheels\":6,\"load\":40,\"trailer\":\(trailer)}"), status: 2)
    let plain = OldJSON.anonymous(vehicle, seal("{\"wheels\":4,\"trailer\":\(trailer)}"))
    let store = try OldStore()
    try store.add(
      "LegacyDepot", "G",
      seal(
        "{\"name\":\"G\",\"best\":\(best),\"all\":[\(plain),\(trailer)],\"byPlace\":{\"a\":\(trailer),\"b\":\(plain)}}"
      ))
    var importer = GarageStorageImporter(
      storeAt: store.url,
      types: isRenamed ? [LegacyDepot.self] : [LegacyDepot.self, LegacyVehicle.self, LegacyTruck.self],
      names: isRenamed ? ["MCTruck": LegacyTruck.self, "MCVehicle": LegacyVehicle.self] : [:])
    if isEncrypted { importer.decrypt = { Data((Data(base64Encoded: $0) ?? Data()).reversed()) } }
    let garage = try Garage(MemoryStorage(), types: [LegacyTruck.self])
    let report = try importer.importObjects(into: garage)
    #expect(report.failures.isEmpty && report.notices.isEmpty, "\(report)")
    let depot = try #require(try garage.retrieve(LegacyDepot.self, identifier: "G"))
    #expect(depot.best?.wheels == 6 && load(depot.best) == 40 && depot.best?.syncStatus == .syncing)
    #expect(load(depot.best?.trailer) == 7 && depot.best?.trailer?.wheels == 2)
    #expect(depot.all.map(\.wheels) == [4, 2] && depot.all.map { load($0) } == [nil, 7])
    #expect(load(depot.all[0].trailer) == 7)
    #expect(load(depot.byPlace["a"]) == 7 && depot.byPlace["b"]?.wheels == 4)
  }

  /// One notice, however many there are.
  @Test func aClassThatIsNotGivenIsNoted() throws {
    let store = try OldStore()
    let truck = OldJSON.anonymous("LegacyTruck", "{\"wheels\":6,\"load\":40}")
    let vehicle = OldJSON.anonymous("LegacyVehicle", "{\"wheels\":4}")
    for name in ["F", "G", "H"] {
      let vehicles = name == "F" ? vehicle : "\(vehicle),\(truck),\(truck)"
      try store.add("LegacyDepot", name, "{\"name\":\"\(name)\",\"all\":[\(vehicles)]}")
    }
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(
      storeAt: store.url, types: [LegacyDepot.self, LegacyVehicle.self]
    ).importObjects(into: garage)
    #expect(report.importedCount == 3, "\(report)")
    #expect(report.notices.map(\.identifier) == ["G"])
    #expect(report.notices.allSatisfy { $0.reason.contains("LegacyTruck") && $0.reason.contains("types:") })
    #expect(try garage.retrieve(LegacyDepot.self, identifier: "H")?.all.map(\.wheels) == [4, 6, 6])
  }
}

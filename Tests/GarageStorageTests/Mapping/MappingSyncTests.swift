import Foundation
import GarageStorage
import Testing

/// Mapped, with a status that is not mapped.
private final class Waybill: MappableObject, Syncable {
  var name = ""
  var label: WaybillDocket?
  var next: Waybill?
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Waybill.self)
    mapping.add("name", \Waybill.name)
    mapping.add("label", \Waybill.label)
    mapping.add("next", \Waybill.next)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Anonymous, with a status that is mapped.
private final class WaybillDocket: MappableObject, Syncable {
  var text = ""
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: WaybillDocket.self)
    mapping.add("text", \WaybillDocket.text)
    mapping.add("syncStatus", \WaybillDocket.syncStatus)
    return mapping
  }
}

/// Mapped objects have a sync status like others.
@Suite struct MappingSyncTests {
  @Test(arguments: Backend.allCases)
  func mappedObjectsHaveAStatus(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([Waybill.self])
    let (one, two, label) = (Waybill(), Waybill(), WaybillDocket())
    (one.name, two.name, label.text) = ("1", "2", "fragile")
    (one.syncStatus, two.syncStatus, label.syncStatus) = (.syncing, .synced, .notSynced)
    (one.next, two.next, one.label) = (two, one, label)
    try garage.park(one)
    garage = try place.reopened(garage, [Waybill.self])
    let found = try #require(try garage.retrieve(Waybill.self, identifier: "1"))
    #expect(found.syncStatus == .syncing && found.next?.syncStatus == .synced)
    #expect(found.label?.syncStatus == .notSynced && found.label?.text == "fragile")
    try garage.setSyncStatus(.synced, for: one)
    let synced = try garage.retrieveAll(Waybill.self, withStatus: .synced)
    #expect(synced.map(\.name) == ["1", "2"])
    #expect(try garage.syncStatus(for: two) == .synced)
    for waybill in [one, two, found] + synced { waybill.next = nil }
  }

  @Test(arguments: Backend.allCases)
  func aStatusIsNoPartOfTheIdentity(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let label = WaybillDocket()
    label.text = "fragile"
    try garage.park(label)
    let identifier = try garage.identifier(for: label)
    label.syncStatus = .synced
    #expect(try garage.identifier(for: label) == identifier)
    try garage.park(label)
    #expect(try garage.count(WaybillDocket.self) == 1)
    #expect(try garage.retrieve(WaybillDocket.self, identifier: identifier)?.syncStatus == .synced)
  }
}

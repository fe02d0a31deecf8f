import Foundation
import GarageDriver
import GarageStorage
import Testing

/// Indexes that cannot take what a salvage brings over, as it comes: at no time does a query go wrong by them.
@Suite struct SalvagedIndexTests {
  private struct Stop: Error {}

  /// A call that ends early leaves no index in use that lacks objects, and the next call completes it.
  @Test(arguments: Backend.engines, [false, true])
  func aCallThatEndsEarlyLeavesNoIndexWrong(_ backend: Backend, asksBetween: Bool) throws {
    let driver = try Place(backend).open()
    let saved = try Garage(Place(backend).open())
    try saved.parkAll([SwappedGuest(id: 1, name: "a"), SwappedGuest(id: 2, name: "b")])
    usleep(3000)
    let swapped = [SwappedGuest(id: 1, name: "b"), SwappedGuest(id: 2, name: "a")]
    try Garage(driver).parkAll(swapped + (3...4000).map { SwappedGuest(id: $0, name: "guest \($0)") })
    let salvage = try GarageSalvage(from: OrderedSource(driver), into: saved)
    var callCount = 0
    // By the third call a block of 2000 entries is written, but not the second one.
    #expect(throws: Stop.self) {
      try salvage.run { _ in
        callCount += 1
        if callCount == 3 { throw Stop() }
      }
    }
    let count = try saved.count(SwappedGuest.self)
    #expect(count > 1000 && count < 4000)
    #expect(try saved.indexes(of: SwappedGuest.self).map(\.state) == [.building])
    if asksBetween { try expectSwapped(saved) }
    let report = try salvage.run()
    #expect(report.notes.isEmpty && report.damagedCount == 0, "\(report)")
    #expect(try saved.count(SwappedGuest.self) == 4000)
    #expect(try saved.indexes(of: SwappedGuest.self).map(\.state) == [.ready])
    try expectSwapped(saved)
    #expect(try saved.verify().findings.isEmpty)
  }

  private func expectSwapped(_ garage: Garage) throws {
    #expect(try garage.query(SwappedGuest.self).where(\.name == "a").first()?.id == 2)
    #expect(try garage.query(SwappedGuest.self).where(\.name == "b").first()?.id == 1)
    #expect(throws: GarageError.self) { try garage.park(SwappedGuest(id: 9000, name: "b")) }
    #expect(try garage.verifyIndexes().isSound)
  }

  /// An index that is not complete yet keeps no entry of an object that came over without one.
  @Test(arguments: Backend.engines)
  func anUnfinishedIndexKeepsNoEntryThatNoObjectHas(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let saved = try Garage(Place(backend).open())
    // Two that share a name keep the index unfinished.
    try saved.parkAll([FormerVisitor(id: 3, name: "c"), FormerVisitor(id: 4, name: "c")])
    try saved.parkAll([SalvagedVisitor(id: 1, name: "x"), SalvagedVisitor(id: 2, name: "y")])
    #expect(try saved.indexes(of: SalvagedVisitor.self).map(\.state) == [.building])
    usleep(3000)
    try Garage(driver).park(SalvagedVisitor(id: 1, name: "y"))
    let report = try GarageSalvage(from: OrderedSource(driver), into: saved).run()
    #expect(report.notes.count == 1, "\(report)")
    #expect(try saved.query(SalvagedVisitor.self).where(\.name == "y").values(\.id) == [1, 2])
    try saved.park(SalvagedVisitor(id: 4, name: "d"))
    try saved.park(SalvagedVisitor(id: 2, name: "z"))
    try saved.buildIndexes()
    #expect(try saved.indexes(of: SalvagedVisitor.self).map(\.state) == [.ready])
    #expect(try saved.verifyIndexes().isSound)
    #expect(try saved.query(SalvagedVisitor.self).where(\.name == "x").isEmpty())
    #expect(try saved.query(SalvagedVisitor.self).where(\.name == "y").values(\.id) == [1])
  }
}

private struct SwappedGuest: Codable, Identifiable, Indexed {
  var id: Int
  var name: String
  static var indexes: [Index<SwappedGuest>] { [Index(\.name, .unique, .readable)] }
}

private struct FormerVisitor: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "salvaged visitor" }
  var id: Int
  var name: String
}

private struct SalvagedVisitor: Codable, Identifiable, TypeTagged, Indexed {
  static var typeTag: String { "salvaged visitor" }
  static var indexes: [Index<SalvagedVisitor>] { [Index(\.name, .unique, .readable)] }
  var id: Int
  var name: String
}

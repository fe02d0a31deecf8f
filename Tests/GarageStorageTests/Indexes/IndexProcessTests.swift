import Foundation
import Testing

@testable import GarageChild
@testable import GarageStorage

/// Indexes that several processes make, maintain and drop, some of which are killed.
@Suite(.serialized) struct IndexProcessTests {
  /// How many processes are killed for each engine: `GARAGE_KILLS=200` for a trial that takes minutes.
  private static let killCount =
    Int(ProcessInfo.processInfo.environment["GARAGE_KILLS"] ?? "") ?? (runsLongTests ? 200 : 18)

  /// Killed at any moment, while they fill, save or drop, processes leave indexes that are as the records say.
  @Test(arguments: Backend.sharedAndSealed)
  func indexesSurviveKills(_ backend: Backend) throws {
    let place = try Place(backend)
    let path = place.storePath.path
    try Garage(openStorage(backend.rawValue, at: path)).close()
    for round in 0..<IndexProcessTests.killCount / 3 {
      let children = try ["left", "right", "none"].map { try Child("stock", backend.rawValue, path, $0) }
      for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
      for child in children.shuffled() {
        Thread.sleep(forTimeInterval: .random(in: 0.05...0.4))
        child.kill()
      }
      let garage = try Garage(openStorage(backend.rawValue, at: path))
      if round % 2 == 0 { try garage.buildIndexes() }
      let report = try garage.verifyIndexes()
      #expect(report.isSound, "round \(round): \(report)")
      let all = try garage.retrieveAll(Ware.self)
      #expect(
        try garage.query(Ware.self).where(\.price < -3).values(\.id) == all.filter { $0.price < -3 }.map(\.id)
      )
      #expect(
        try garage.query(Ware.self).where(\.tags == .contains("t3")).values(\.id)
          == all.filter { $0.tags.contains("t3") }.map(\.id))
      #expect(
        try garage.query(Ware.self).where(\.name == "n7").values(\.id)
          == all.filter { $0.name == "n7" }.map(\.id))
      for id in 0..<10 {
        let found = try garage.referrers(of: Ware.self, identifier: id).map(\.identifier.description)
        let reference = Reference(Ware.self, identifier: id)
        #expect(found == all.filter { $0.partner == reference }.map { "\($0.id)" }, "round \(round)")
      }
      try garage.close()
    }
  }

  /// What a garage remembers of the way to one value holds while others build and drop the index that leads there.
  @Test(arguments: Backend.sharedAndSealed)
  func othersBuildAndDropBetweenTwoEqualQueries(_ backend: Backend) throws {
    let place = try Place(backend)
    let path = place.storePath.path
    try Garage(openStorage(backend.rawValue, at: path)).close()
    let children = try ["left", "right"].map { try Child("stock", backend.rawValue, path, $0) }
    defer { for child in children { child.kill() } }
    for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
    let garage = try Garage(openStorage(backend.rawValue, at: path))
    for round in 0..<(runsLongTests ? 2000 : 100) {
      try garage.read { reader in
        let all = try reader.retrieveAll(Ware.self)
        let (price, name) = (Double(round % 7 - 3), "n\(round % 9)")
        #expect(
          try reader.query(Ware.self).where(\.price == price).retrieveAll()
            == all.filter { $0.price == price })
        #expect(
          try reader.query(Ware.self).where(\.name == name).retrieveAll() == all.filter { $0.name == name })
      }
    }
    try garage.close()
  }

  /// Sixteen threads in each of four processes want the same values.
  @Test(arguments: Backend.sharedAndSealed)
  func aValueIsTakenOnceAmongThreadsOfProcesses(_ backend: Backend) throws {
    let place = try Place(backend)
    let path = place.storePath.path
    let children = try (0..<4).map {
      try Child("rush", backend.rawValue, path, "\($0)", "40", "16", "unique")
    }
    for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
    for child in children { try child.send("go") }
    let results = try children.map { try $0.wait() }
    #expect(results.map { Int($0["taken"] ?? "") ?? 0 }.reduce(0, +) == 40)
    #expect(results.allSatisfy { $0["failed"] == "0" }, "\(results)")
    let garage = try Garage(openStorage(backend.rawValue, at: path))
    #expect(try garage.query(Ware.self).sorted(by: \.code).values(\.code) == Array(0..<40))
    #expect(try garage.verifyIndexes().isSound)
    try garage.close()
  }

  /// Of several processes that want a value one gets it.
  @Test(arguments: Backend.sharedAndSealed)
  func aValueIsTakenOnceAmongProcesses(_ backend: Backend) throws {
    let place = try Place(backend)
    let path = place.storePath.path
    let children = try (1...3).map {
      try Child("claim", backend.rawValue, path, "\($0)", "60", "unique")
    }
    for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
    for child in children { try child.send("go") }
    let taken = try children.map { Int(try $0.wait()["taken"] ?? "") ?? 0 }
    #expect(taken.reduce(0, +) == 60)
    let garage = try Garage(openStorage(backend.rawValue, at: path))
    #expect(try garage.query(Ware.self).sorted(by: \.code).values(\.code) == Array(0..<60))
    #expect(try garage.verifyIndexes().isSound)
    try garage.close()
  }
}

import Foundation
import Testing

@testable import GarageChild
@testable import GarageStorage

/// Indexes that several processes make, maintain and drop, some of which are killed.
@Suite(.serialized) struct IndexProcessTests {
  private static let engines: [Backend] = [.sqlite, .lmdb]

  /// Killed at any moment, while they fill, save or drop, processes leave indexes that are as the records say.
  @Test(arguments: engines)
  func indexesSurviveKills(_ backend: Backend) throws {
    let place = try Place(backend)
    let path = place.storePath.path
    try Garage(openStorage(backend.rawValue, at: path)).close()
    for round in 0..<6 {
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
      try garage.close()
    }
  }

  /// Of several processes that want a value one gets it.
  @Test(arguments: engines)
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

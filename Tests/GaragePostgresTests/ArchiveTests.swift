import DebianPackages
import Foundation
import GaragePostgres
import GarageStorage
import Testing

/// What the packages of a whole archive cost on a server: where `GARAGE_ARCHIVE` names their database, as
/// `apt-cache dumpavail` prints it. `Docs/Scaling.md` counts with what this says.
@Suite(.serialized, .enabled(if: archive != nil)) struct ArchiveTests {
  @Test func allComesBackInFewTrips() throws {
    let bytes = try Data(contentsOf: URL(filePath: try #require(archive)))
    let packages = Package.graph(of: try StanzaReader.read([UInt8](bytes), from: "the archive"))
    defer { Package.takeApart(packages) }
    let name = Server.newName()
    let storage = try Server.open(name)
    let garage = try Garage(storage)
    func measured(_ what: String, _ body: () throws -> Void) throws -> Int {
      let (start, before) = (ContinuousClock.now, storage.roundTripCount)
      try body()
      let trips = storage.roundTripCount - before
      FileHandle.standardError.write(
        Data("archive: \(what): \(trips) trips, \(ContinuousClock.now - start)\n".utf8))
      return trips
    }
    let parking = try measured("park \(packages.count)") { try garage.parkAll(packages) }
    var found: [Package] = []
    defer { Package.takeApart(found) }
    let reading = try measured("retrieveAll") { found = try garage.retrieveAll(Package.self) }
    #expect(
      found.map(\.name) == packages.map(\.name).sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) })
    #expect(found.reduce(0) { $0 + $1.depends.count } == packages.reduce(0) { $0 + $1.depends.count })
    // Two thousand records or a megabyte at a time, eight of which are on their way at once; and pages, with what the first
    // of them refer to.
    #expect(parking <= packages.count / 2000 + 40)
    #expect(reading <= packages.count / 256)
    let sample = stride(from: 0, to: packages.count, by: max(1, packages.count / 100)).map { packages[$0] }
    var (reached, levels) = (0, 0)
    _ = try measured("retrieve \(sample.count) of them, each with what it needs") {
      for package in sample {
        let before = storage.roundTripCount
        let root = try #require(try garage.retrieve(Package.self, identifier: package.name))
        let all = Self.reach(of: root)
        reached += all.count
        levels = max(levels, storage.roundTripCount - before)
        Package.takeApart(all)
      }
    }
    FileHandle.standardError.write(
      Data("archive: \(reached) objects came with them, at most \(levels) trips for one\n".utf8))
    var count = 0
    let counting = try measured("count") { count = try garage.count(Package.self) }
    #expect(count == packages.count && counting < 40)
  }

  private static func reach(of root: Package) -> [Package] {
    var (seen, all) = ([ObjectIdentifier(root)] as Set, [root])
    var next = 0
    while next < all.count {
      for package in all[next].depends where seen.insert(ObjectIdentifier(package)).inserted {
        all.append(package)
      }
      next += 1
    }
    return all
  }
}

private let archive = ProcessInfo.processInfo.environment["GARAGE_ARCHIVE"]

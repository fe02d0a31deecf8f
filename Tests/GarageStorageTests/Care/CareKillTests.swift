import Foundation
import GarageDriver
import GarageSealing
import GarageStorage
import Testing

@testable import GarageChild

/// The verbs that go through whole stores, in a process that is killed: both stores are sound, and nothing is half there.
@Suite(.serialized) struct CareKillTests {
  private static let backends: [Backend] = [.sqlite, .lmdb, .sealedSQLite]

  /// How often each verb is killed; `GARAGE_CARE_KILLS=200` for all of it.
  private static let rounds =
    ProcessInfo.processInfo.environment["GARAGE_CARE_KILLS"].flatMap { Int($0) } ?? (runsLongTests ? 200 : 2)

  private func filled(_ backend: Backend) throws -> Place {
    let place = try Place(backend)
    let garage = try place.garage()
    try Caring.fill(garage)
    try garage.close()
    return place
  }

  /// Runs a verb until it is killed, as often as it is to be, and has the store looked at after each.
  private func kill(_ verb: String, _ place: Place, with other: URL, _ check: (Garage, Int) throws -> Void)
    throws
  {
    for round in 0..<Self.rounds {
      try runUntilKilled(verb, place, other, round)
      let garage = try place.garage()
      defer { try? garage.close() }
      let report = try garage.verify()
      #expect(report.isSound, "\(verb) \(round): \(report)")
      try check(garage, round)
    }
  }

  private func runUntilKilled(_ verb: String, _ place: Place, _ other: URL, _ round: Int) throws {
    let child = try Child("care", place.backend.rawValue, place.storePath.path, verb, other.path)
    #expect(try child.firstLine().hasPrefix("ready="), "\(verb) \(round)")
    Thread.sleep(forTimeInterval: .random(in: 0.005...0.4))
    child.kill()
  }

  /// All that was parked at first is there as it was; of one thing the text may be another.
  private func expectThings(_ garage: Garage, _ what: String, odd: Bool = true) throws {
    var count = 0
    try garage.forEach(Caring.Thing.self) { thing in
      guard thing.id < 600 else { return }
      count += 1
      #expect(thing.id == 1 || thing.text.hasPrefix("thing \(thing.id) "), "\(what)")
    }
    #expect(count == 600, "\(what): \(count)")
  }

  @Test(arguments: backends)
  func backup(_ backend: Backend) throws {
    let place = try filled(backend)
    let copies = place.folder.appending(path: "copies")
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    try kill("backup", place, with: copies) { garage, round in
      for name in try FileManager.default.contentsOfDirectory(atPath: copies.path)
      where !name.contains(".partial") {
        if name.contains("-wal") || name.contains("-shm") { continue }
        let copy = try Place(backend)
        try FileManager.default.moveItem(at: copies.appending(path: name), to: copy.storePath)
        let other = try copy.garage()
        #expect(try other.verify().isSound, "copy \(name) of round \(round)")
        try expectThings(other, "copy \(name) of round \(round)")
        try other.close()
      }
      // What was left of one is made anew.
      let left = try FileManager.default.contentsOfDirectory(atPath: copies.path).filter {
        $0.hasSuffix(".partial")
      }
      for name in left {
        let url = copies.appending(path: String(name.dropLast(8)))
        try garage.backup(to: url)
        #expect(!FileManager.default.fileExists(atPath: copies.appending(path: name).path))
      }
      try FileManager.default.removeItem(at: copies)
      try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    }
  }

  @Test(arguments: backends)
  func compact(_ backend: Backend) throws {
    let place = try filled(backend)
    try kill("compact", place, with: place.folder) { garage, round in
      try expectThings(garage, "round \(round)")
    }
  }

  /// Either all is as it was before an import, or as it is after one.
  @Test(arguments: backends)
  func `import`(_ backend: Backend) throws {
    let place = try filled(backend)
    let file = place.folder.appending(path: "export")
    let garage = try place.garage()
    try garage.export(to: file)
    try garage.close()
    try kill("import", place, with: file) { garage, round in
      let texts = try Set(garage.retrieveAll(Caring.Thing.self).map { $0.text == "other" })
      #expect(texts.count == 1, "round \(round)")
      if texts == [false] { try expectThings(garage, "round \(round)") }
    }
  }

  @Test(arguments: backends)
  func export(_ backend: Backend) throws {
    let place = try filled(backend)
    let files = place.folder.appending(path: "files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try kill("export", place, with: files) { garage, round in
      for name in try FileManager.default.contentsOfDirectory(atPath: files.path)
      where !name.contains(".partial") {
        // It is whole, or it would not be taken in.
        let result = try garage.import(from: files.appending(path: name))
        #expect(result.objectCount == 600, "\(name) of round \(round)")
      }
      try FileManager.default.removeItem(at: files)
      try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    }
  }

  @Test(arguments: backends)
  func salvage(_ backend: Backend) throws {
    let place = try Place(backend)
    try place.garage().close()
    let damaged = try filled(backend)
    try kill("salvage", place, with: damaged.storePath) { garage, round in
      // What is there is whole, and the same call goes on.
      try garage.forEach(Caring.Thing.self) {
        #expect($0.text.hasPrefix("thing \($0.id) "), "round \(round)")
      }
    }
    let source = try damaged.garage()
    try expectThings(source, "the source")
    #expect(try source.verify().isSound)
  }

  @Test(arguments: backends)
  func collectGarbage(_ backend: Backend) throws {
    let place = try filled(backend)
    try kill("gc", place, with: place.folder) { garage, round in
      let ids = try Set(garage.retrieveAll(Caring.Thing.self).map(\.id))
      #expect(ids.isSuperset(of: (0..<600).filter { $0 % 2 == 0 }), "round \(round)")
      // All of the garbage is there, or none of it.
      let odd = ids.count { $0 % 2 == 1 }
      #expect(odd == 0 || odd == 300, "round \(round): \(odd)")
    }
  }

  /// What was spoiled may be so when the process ends, and the next repair mends all of it.
  @Test(arguments: backends)
  func repair(_ backend: Backend) throws {
    let place = try filled(backend)
    let filling = try place.garage([Caring.Chore.self])
    try Caring.fillChores(filling)
    try filling.close()
    let before = try contents(place, of: [0x10, 0x20, 0x21])
    for round in 0..<Self.rounds {
      try runUntilKilled("repair", place, place.folder, round)
      #expect(try contents(place, of: [0x10]) == before.filter { $0.key.bytes[0] == 0x10 }, "round \(round)")
      let garage = try place.garage([Caring.Thing.self, Caring.Chore.self])
      try garage.repair()
      let report = try garage.verify()
      #expect(report.isSound && report.findings.isEmpty, "round \(round): \(report)")
      try garage.close()
      #expect(try contents(place, of: [0x10, 0x20, 0x21]) == before, "round \(round)")
    }
  }

  private func contents(_ place: Place, of spaces: [UInt8]) throws -> [StorageKey: [UInt8]] {
    let driver = try place.open()
    defer { try? driver.close() }
    return try Driver.contents(driver).filter { spaces.contains($0.key.bytes[0]) }
  }

  /// A copy is whole, or no garage, and then the same call goes on with it.
  @Test(arguments: backends)
  func copy(_ backend: Backend) throws {
    let place = try filled(backend)
    let copies = place.folder.appending(path: "copies")
    var resumed = 0
    for round in 0..<Self.rounds {
      try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
      try runUntilKilled("copy", place, copies, round)
      let garage = try place.garage()
      #expect(try garage.verify().isSound, "round \(round)")
      try expectThings(garage, "round \(round)")
      let numbers = try FileManager.default.contentsOfDirectory(atPath: copies.path)
        .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.compactMap { Int($0.dropFirst(5)) }
      for number in numbers.sorted().suffix(2) {
        let path = copies.appending(path: "copy-\(number)").path
        let destination = try openStorage(backend == .sqlite ? "lmdb" : "sqlite", at: path)
        let isWhole = try !Driver.contents(destination, .prefix([0x00])).filter {
          $0.key.bytes == [0x00] + Array("garage".utf8)
        }.isEmpty
        if !isWhole {
          // An empty one would become a garage.
          if try !Driver.contents(destination).isEmpty {
            #expect(throws: GarageError.self, "round \(round)") { try Garage(destination) }
          }
          try garage.copy(to: destination)
          resumed += 1
          let source = try place.open()
          #expect(try Driver.contents(destination) == Driver.contents(source), "round \(round)")
          try source.close()
        }
        let copy = try Garage(destination)
        #expect(try copy.verify().isSound, "copy \(number) of round \(round)")
        try expectThings(copy, "copy \(number) of round \(round)")
        try copy.close()
      }
      try garage.close()
      try FileManager.default.removeItem(at: copies)
    }
    #expect(resumed > 0 || Self.rounds < 20)
  }

  /// Ended anywhere, a store whose key is being changed opens with both keys, and the same call goes on.
  @Test(arguments: backends.filter(\.isSealed))
  func rekey(_ backend: Backend) throws {
    let place = try filled(backend)
    for round in 0..<Self.rounds {
      try runUntilKilled("rekey", place, place.storePath, round)
      let storage = try SealedStorage(
        place.openBase(), sealer: Caring.sealers[0], formerSealers: [Caring.sealers[1]])
      let garage = try Garage(storage)
      let report = try garage.verify()
      #expect(report.isSound, "round \(round): \(report)")
      try expectThings(garage, "round \(round)")
      #expect(try storage.rekey().isComplete, "round \(round)")
      try garage.close()
      // Now one is enough.
      let alone = try place.garage()
      try expectThings(alone, "round \(round)")
      try alone.close()
    }
  }
}

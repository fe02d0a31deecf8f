import Foundation
import GarageCoding
import Synchronization
import Testing

@testable import GarageStorage

/// Who refers to an object: with an index of references and without, the same.
@Suite struct ReferrerTests {
  private func expectSound(_ garage: Garage, _ hint: Comment = "") throws {
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report) \(hint)")
  }

  private func numbers(_ identities: [RecordIdentity]) -> [Int] {
    identities.compactMap { Int($0.identifier.description) }
  }

  private func ask(_ reader: some GarageReading, _ graph: SnarlGraph, _ hint: Comment) throws {
    for id in 0..<graph.count {
      let found = try reader.referrers(of: Snarl.self, identifier: id)
      #expect(numbers(found) == graph.referrers(of: id), hint)
    }
  }

  @Test(arguments: Backend.allCases, [true, false])
  func findsWhatAScanFinds(_ backend: Backend, isIndexed: Bool) throws {
    let seed = UInt64.random(in: 0 ... .max)
    let hint: Comment = "seed \(seed)"
    var graph = SnarlGraph(30, seed: seed)
    let place = try Place(backend)
    let garage = try backend.relations(place, isIndexed: isIndexed)
    try graph.change(garage, 40)
    try ask(garage, graph, hint)
    try expectSound(garage, hint)
    let before = graph.targets
    struct Done: Error {}
    #expect(throws: Done.self, hint) {
      try garage.write { writer in
        try graph.change(writer, 20)
        try ask(writer, graph, hint)
        throw Done()
      }
    }
    graph.targets = before
    try garage.write { try graph.change($0, 20) }
    try ask(garage, graph, hint)
    garage.isAutosaveEnabled = false
    try graph.change(garage, 20)
    try ask(garage, graph, hint)
    try garage.save()
    try ask(garage, graph, hint)
    try expectSound(garage, hint)
    #expect(try garage.explainReferrers().readsAllRecords == !isIndexed)
    #expect(try garage.explainReferrers().indexes == (isIndexed ? ["referrers"] : []))
    let count = graph.targets.values.map(\.count).reduce(0, +)
    #expect(try garage.referrerIndex()?.entries == (isIndexed ? count : nil))
  }

  /// 12: whoever opens the store keeps the index up, and can use it.
  @Test(arguments: Backend.allCases)
  func anIndexIsKeptByAll(_ backend: Backend) throws {
    var graph = SnarlGraph(20, seed: 1)
    let place = try Place(backend)
    var garage = try backend.relations(place, isIndexed: true)
    try graph.change(garage, 20)
    garage = try place.reopened(garage)
    try graph.change(garage, 20)
    #expect(try garage.explainReferrers().indexes == ["referrers"])
    try ask(garage, graph, "kept")
    try expectSound(garage)
    try garage.dropReferrerIndex()
    #expect(try garage.referrerIndex() == nil && garage.explainReferrers().readsAllRecords)
    try ask(garage, graph, "dropped")
    #expect(throws: GarageError.self) { try garage.dropReferrerIndex() }
    try garage.close()
    garage = try backend.relations(place, isIndexed: true)
    try graph.change(garage, 3)
    #expect(try garage.referrerIndex()?.state == .building)
    try ask(garage, graph, "made again")
    #expect(try garage.referrerIndex()?.state == .ready)
    try expectSound(garage)
  }

  /// 8: a filling that is interrupted goes on elsewhere; meanwhile all records are read.
  @Test(arguments: Backend.allCases)
  func aFillingIsInterruptedAndGoesOn(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<3000).map { Bead(id: $0, next: Reference(Bead.self, identifier: ($0 + 1) % 7)) })
    let other = try backend.relations(place, isIndexed: true)
    struct Enough: Error {}
    #expect(throws: Enough.self) { try other.buildIndexes { _ in throw Enough() } }
    try garage.parkAll((0..<3000).filter { $0 % 5 == 0 }.map { Bead(id: $0, next: nil) })
    try garage.park(Bead(id: 1, next: Reference(Bead.self, identifier: 6)))
    let expected = (0..<3000).filter { $0 == 1 || $0 != 0 && $0 % 5 != 0 && ($0 + 1) % 7 == 6 }
    #expect(try numbers(garage.referrers(of: Bead.self, identifier: 6)) == expected)
    #expect(try numbers(other.referrers(of: Bead.self, identifier: 6)) == expected)
    #expect(try other.referrers(of: Bead.self, identifier: 6).first?.description == "Bead \"\(expected[0])\"")
    #expect(try other.explainReferrers().indexes == ["referrers"])
    try expectSound(other)
  }

  /// 2: what was unsaved meets what another garage committed meanwhile, and an index that came up.
  @Test(arguments: Backend.allCases)
  func savingMakesEntriesAnew(_ backend: Backend) throws {
    func bead(_ id: Int, _ next: Int) -> Bead { Bead(id: id, next: Reference(Bead.self, identifier: next)) }
    let place = try Place(backend)
    let (a, b) = (try backend.relations(place, isIndexed: true), try place.garage())
    try a.parkAll((0..<5).map { bead($0, 10) })
    a.isAutosaveEnabled = false
    try a.parkAll([bead(1, 11), bead(2, 11)])
    try a.delete(Bead.self, identifier: 3, referrers: .leave)
    try b.parkAll((1...4).map { bead($0, 12) })
    #expect(try numbers(a.referrers(of: Bead.self, identifier: 11)) == [1, 2])
    #expect(try numbers(a.referrers(of: Bead.self, identifier: 10)) == [0])
    #expect(try numbers(a.referrers(of: Bead.self, identifier: 12)) == [4])
    try a.save()
    #expect(try numbers(b.referrers(of: Bead.self, identifier: 12)) == [4])
    try expectSound(b)
    a.isAutosaveEnabled = false
    try a.park(bead(7, 13))
    try b.dropReferrerIndex()
    try a.park(bead(8, 13))
    #expect(try numbers(a.referrers(of: Bead.self, identifier: 13)) == [7, 8])
    try a.save()
    let c = try backend.relations(place, isIndexed: true)
    #expect(try numbers(c.referrers(of: Bead.self, identifier: 13)) == [7, 8])
    try expectSound(c)
  }

  @Test(arguments: Backend.allCases, [true, false])
  func objectsOfATypeAndByAProperty(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let hub = Hub(id: "a")
    func spoke(_ id: Int, _ change: (inout Spoke) -> Void) -> Spoke {
      var spoke = Spoke(id)
      spoke.list = [Hub(id: "b")]
      change(&spoke)
      return spoke
    }
    let spokes = [
      spoke(0) { _ in }, spoke(1) { $0.hub = hub }, spoke(2) { $0.renamed = hub },
      spoke(3) { $0.linked = hub },
      spoke(4) { $0.reference = Reference(to: hub) }, spoke(5) { $0.list.append(hub) },
      spoke(6) { $0.set = [hub] }, spoke(7) { $0.byName["x"] = hub }, spoke(8) { $0.byNumber[3] = hub },
      spoke(9) { $0.byToken = [UUID(): hub] }, spoke(10) { $0.part.hub = hub },
      spoke(11) { $0.parts = [Spoke.Part(), Spoke.Part(hub: hub)] }, spoke(12) { $0.hub = Hub(id: "b") },
    ]
    try garage.parkAll(spokes)
    try garage.park(Wheel(id: 1, hub: hub))
    try garage.park(Claim(hub: hub))
    #expect(try garage.referrers(of: hub).count == 13)
    #expect(try garage.retrieveReferrers(Spoke.self, of: hub).map(\.id) == Array(1...11))
    #expect(try garage.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "a").map(\.id) == [1])
    #expect(try garage.retrieveReferrers(Claim.self, of: hub).count == 1)
    func by<V: Codable>(_ property: KeyPath<Spoke, V>) throws -> [Int] {
      try garage.retrieveReferrers(Spoke.self, of: hub, by: property).map(\.id)
    }
    #expect(try by(\.hub) == [1] && by(\.renamed) == [2] && by(\.linked) == [3] && by(\.reference) == [4])
    #expect(try by(\.list) == [5] && by(\.set) == [6] && by(\.byName) == [7] && by(\.byNumber) == [8])
    #expect(try by(\.byToken) == [9] && by(\.part.hub) == [10] && by(\.parts) == [11])
    #expect(try garage.retrieveReferrers(Spoke.self, of: Hub(id: "nobody")).isEmpty)
    try expectSound(garage)
  }

  /// References by a former name count, and objects under one.
  @Test(arguments: Backend.allCases, [true, false])
  func formerNamesCount(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.park(OldGuild(id: 1))
    try garage.parkAll([
      Journeyman(id: 1, old: Reference(OldGuild.self, identifier: 1)),
      Journeyman(id: 2, new: Reference(Guild.self, identifier: 1)),
      Journeyman(
        id: 3, old: Reference(OldGuild.self, identifier: 1), new: Reference(Guild.self, identifier: 1)),
    ])
    #expect(try numbers(garage.referrers(of: Guild.self, identifier: 1)) == [1, 2, 3])
    // An identity that somebody has names the same object, under whichever of the names.
    let identities = try [identity(of: Guild.self, 1), identity(of: OldGuild.self, 1)]
    for identity in identities {
      #expect(try numbers(garage.referrers(of: identity)) == [1, 2, 3])
      #expect(try numbers(garage.read { try $0.referrers(of: identity) }) == [1, 2, 3])
    }
    try garage.migrateAll(from: OldGuild.self, to: Guild.self)
    #expect(try numbers(garage.referrers(of: Guild(id: 1))) == [1, 2, 3])
    #expect(try garage.referrers(of: OldGuild.self, identifier: 1).isEmpty)
    for identity in identities { #expect(try numbers(garage.referrers(of: identity)) == [1, 2, 3]) }
    try expectSound(garage)
  }

  private func identity(of type: any Codable.Type, _ identifier: Int) throws -> RecordIdentity {
    guard case .reference(let identity, _) = try RecordValue.reference(to: type, identifier: identifier)
    else { throw CocoaError(.coderInvalidValue) }
    return identity
  }

  /// Whatever way records go, their entries go with them.
  @Test(arguments: Backend.allCases)
  func entriesGoWithTheirRecords(_ backend: Backend) throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    var graph = SnarlGraph(20, seed: 3)
    for round in 0..<6 {
      try graph.change(garage, 30)
      try garage.parkAll((0..<600).map { Wheel(id: $0, hub: Hub(id: "hub \($0 % 3)")) })
      switch round {
      case 0: try garage.deleteAll(Snarl.self)
      case 1: try garage.deleteAllObjects()
      case 2: try garage.query(Snarl.self).where(\.id < 10).deleteAll()
      case 3: try garage.collectGarbage(roots: [.all(Wheel.self)])
      case 4: try garage.withAutosaveDisabled { try garage.deleteAll(Wheel.self) }
      default: try garage.query(Wheel.self).updateAll { $0.hub = Hub(id: "another") }
      }
      try garage.save()
      try expectSound(garage, "round \(round)")
      let left = Set(try garage.query(Snarl.self).values(\.id))
      graph.targets = graph.targets.filter { left.contains($0.key) }
      try ask(garage, graph, "round \(round)")
    }
    #expect(try garage.referrers(of: Hub(id: "another")).count == 600)
  }

  /// 11: damage is found in both directions.
  @Test(arguments: Backend.allCases)
  func verifyingComparesBothWays(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try backend.relations(place, isIndexed: true)
    try garage.parkAll((0..<3).map { Wheel(id: $0, hub: Hub(id: "a")) })
    let driver = try place.open()
    let entries = try Driver.contents(driver, KeyLayout.allEntries).sorted { $0.key < $1.key }
    #expect(entries.count == 3)
    try driver.write { transaction in
      try transaction.remove(entries[0].key)
      return .commit(())
    }
    var report = try garage.verifyIndexes()
    #expect(report.faults.count == 1 && report.faults[0].contains("lacks the entry"))
    try Driver.put(entries[0].value, for: entries[0].key.bytes, driver)
    var stray = entries[1].key.bytes
    stray[stray.count - 1] ^= 0x40
    try Driver.put(entries[1].value, for: stray, driver)
    report = try garage.verifyIndexes()
    #expect(report.faults.count == 1 && report.faults[0].contains("no record has"))
    try garage.dropReferrerIndex()
    try garage.buildIndexes()
    try expectSound(garage)
  }

  /// A record is looked at once for all of its entries, and not for each of them anew.
  @Test func verifyingTakesNoLongerForOneWithMany() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage, referrers: .indexed)
    let snarl = Snarl(1)
    snarl.others = (2...301).map { Reference(Snarl.self, identifier: $0) }
    try garage.park(snarl)
    let entries = try Driver.contents(storage, KeyLayout.allEntries).sorted { $0.key < $1.key }
    #expect(entries.count == 300)
    var stray = entries[0].key.bytes
    stray[stray.count - 1] ^= 0x40
    try Driver.put(entries[0].value, for: stray, storage)
    let before = storage.gets.load(ordering: .relaxed)
    let report = try garage.verifyIndexes()
    let count = storage.gets.load(ordering: .relaxed) - before
    #expect(report.faults.count == 1 && report.faults[0].contains("no record has"))
    // Each entry that the record should have is asked for.
    #expect(count < 400)
  }

  /// 4: in a sealed store nothing says which object refers to which, unless it may.
  @Test func sealedStoresShowNoTargets() throws {
    let place = try Place(.sealedSQLite)
    #expect(throws: GarageError.self) { try Garage(place.open(), referrers: .indexed) }
    let garage = try Garage(place.open(), referrers: .hashed)
    try garage.park(Wheel(id: 1, hub: Hub(id: "secret")))
    func showsTarget() throws -> Bool {
      try Driver.contents(place.openBase(), KeyLayout.allEntries).keys.contains { key in
        String(decoding: key.bytes, as: UTF8.self).contains("secret")
      }
    }
    #expect(try !showsTarget())
    #expect(try garage.referrers(of: Hub(id: "secret")).count == 1)
    try garage.close()
    let readable = try Garage(place.open(), referrers: .readable)
    #expect(try readable.referrers(of: Hub(id: "secret")).count == 1)
    #expect(try showsTarget())
    try expectSound(readable)
  }

  /// Identifiers that are hidden, and such that are cut in keys.
  @Test(arguments: [true, false])
  func hiddenAndLongIdentifiers(hidesIdentifiers: Bool) throws {
    let backend: Backend = hidesIdentifiers ? .sealedSQLite : .lmdb
    for isIndexed in [true, false] {
      let garage = try backend.relations(
        Place(backend), isIndexed: isIndexed, hidesIdentifiers: hidesIdentifiers)
      let names = (0..<3).map { String(repeating: "long ", count: 100) + "\($0)" } + ["", "a", "ab"]
      var id = 0
      for (count, name) in names.enumerated() {
        for _ in 0...count {
          try garage.park(Wheel(id: id, hub: Hub(id: name)))
          id += 1
        }
      }
      for (count, name) in names.enumerated() {
        #expect(try garage.referrers(of: Hub(id: name)).count == count + 1)
        let wheels = try garage.retrieveReferrers(Wheel.self, of: Hub(id: name))
        #expect(wheels.count == count + 1 && wheels.allSatisfy { $0.hub.id == name })
      }
      try expectSound(garage)
    }
  }

  /// With index, in tasks.
  @Test(arguments: Backend.allCases)
  func tasksFindThem(_ backend: Backend) async throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let hub = Hub(id: "a")
    try await garage.parkAll((0..<3).map { Wheel(id: $0, hub: hub) })
    #expect(try await garage.referrers(of: hub).count == 3)
    #expect(try await garage.referrers(of: Hub.self, identifier: "a").count == 3)
    #expect(try await garage.referrers(of: Reference(to: hub)).count == 3)
    #expect(try await garage.retrieveReferrers(Wheel.self, of: hub).map(\.id) == [0, 1, 2])
    #expect(try await garage.retrieveReferrers(Wheel.self, of: hub, by: \.hub).map(\.id) == [0, 1, 2])
    #expect(try await garage.explainReferrers().indexes == ["referrers"])
    #expect(try await garage.referrerIndex()?.entries == 3)
    try await garage.delete(hub, referrers: .leave)
    await #expect(throws: GarageError.self) {
      try await garage.delete(Hub.self, identifier: "a", referrers: .deny)
    }
    try await garage.park(hub)
    await #expect(throws: GarageError.self) { try await garage.delete(hub, referrers: .deny) }
    #expect(try await garage.deleteGraph(Wheel.self, identifier: 0) == 1)
    try await garage.deleteAll(Wheel.self)
    try await garage.delete(hub, referrers: .deny)
    try await garage.dropReferrerIndex()
    #expect(try await garage.referrerIndex() == nil)
  }

  /// The same by identifier, and for code that takes any garage.
  @Test(arguments: Backend.engines)
  func tasksFindThemByAnyGarage(_ backend: Backend) async throws {
    func find(_ reader: some GarageReading, _ hub: Hub) async throws {
      #expect(try await reader.referrers(of: hub).count == 3)
      #expect(try await reader.referrers(of: Hub.self, identifier: "a").count == 3)
      #expect(try await reader.referrers(of: Reference(to: hub)).count == 3)
      let identity = try await reader.referrers(of: hub)[0]
      #expect(try await reader.referrers(of: identity).isEmpty)
      #expect(try await reader.retrieveReferrers(Wheel.self, of: hub).map(\.id) == [0, 1, 2])
      #expect(try await reader.retrieveReferrers(Wheel.self, of: hub, by: \.hub).map(\.id) == [0, 1, 2])
      #expect(
        try await reader.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "a").map(\.id) == [0, 1, 2])
      #expect(
        try await reader.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "a", by: \.hub).count == 3)
      #expect(try await reader.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "b").isEmpty)
      #expect(try await reader.explainReferrers().indexes == ["referrers"])
    }
    func delete(_ writer: some GarageWriting) async throws {
      await #expect(throws: GarageError.self) {
        try await writer.delete(Hub.self, identifier: "a", referrers: .deny)
      }
      let identifier = try writer.identifier(for: Hub(id: "a"))
      await #expect(throws: GarageError.self) {
        try await writer.delete(Hub.self, identifier: identifier, referrers: .deny)
      }
      #expect(try await writer.deleteGraph(Wheel.self, identifier: 0) == 1)
      try await writer.delete(Hub.self, identifier: "a", referrers: .leave)
    }
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let hub = Hub(id: "a")
    try await garage.parkAll((0..<3).map { Wheel(id: $0, hub: hub) })
    try await find(garage, hub)
    #expect(
      try await garage.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "a").map(\.id) == [0, 1, 2])
    #expect(
      try await garage.retrieveReferrers(Wheel.self, of: Hub.self, identifier: "a", by: \.hub).count == 3)
    try await delete(garage)
    #expect(try await garage.referrers(of: hub).count == 2)
    #expect(try await garage.count(Hub.self) == 0)
  }

  /// What is made of properties is stored under no key: to look under that of one of them would find half of the referrers.
  @Test(arguments: Backend.allCases)
  func byComputedProperties(_ backend: Backend) throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let (hub, other) = (Hub(id: "a"), Hub(id: "b"))
    try garage.parkAll([hub, other])
    let (a, b) = (Reference(to: hub), Reference(to: other))
    try garage.parkAll([
      Acquaintance(id: 1, friend: a), Acquaintance(id: 2, friend: b, foe: a),
      Acquaintance(id: 3, others: [b, a]),
      Acquaintance(id: 4, foe: a), Acquaintance(id: 5, foe: b),
    ])
    func find<Value: Codable>(_ property: KeyPath<Acquaintance, Value>) throws -> [Int] {
      try garage.retrieveReferrers(Acquaintance.self, of: hub, by: property).map(\.id)
    }
    #expect(try find(\.friend) == [1])
    #expect(try find(\.foe) == [2, 4])
    #expect(try find(\.others) == [3])
    #expect(try find(\.mate) == [1])
    #expect(try find(\.all) == [1, 2, 3, 4])
    #expect(try find(\.first) == [1, 4])
    #expect(try find(\.dearest) == [1, 4])
  }

  /// A reference stands for the object that it names, also where it is an optional one.
  @Test(arguments: Backend.allCases, [false, true])
  func ofReferences(_ backend: Backend, _ isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let guild = Guild(id: 1)
    try garage.park(guild)
    try garage.parkAll([
      Journeyman(id: 1, new: Reference(to: guild)),
      Journeyman(id: 2, new: Reference(Guild.self, identifier: 2)),
    ])
    let reference = Reference(to: guild)
    let optional: Reference<Guild>? = reference
    #expect(try garage.retrieveReferrers(Journeyman.self, of: reference).map(\.id) == [1])
    #expect(try garage.retrieveReferrers(Journeyman.self, of: optional).map(\.id) == [1])
    #expect(try garage.retrieveReferrers(Journeyman.self, of: reference, by: \.new).map(\.id) == [1])
    #expect(try garage.referrers(of: optional) == garage.referrers(of: guild))
    #expect(try garage.referrers(of: guild).count == 1)
    // It is no object itself.
    #expect(throws: GarageError.self) { try garage.park(any: reference) }
    #expect(throws: GarageError.self) { try garage.delete(any: reference) }
  }
}

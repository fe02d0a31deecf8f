import Foundation
import GarageCoding
import Synchronization
import Testing

@testable import GarageStorage

/// What becomes of others when an object is deleted.
@Suite struct DeleteRuleTests {
  private func expectSound(_ garage: Garage, _ hint: Comment = "") throws {
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report) \(hint)")
    #expect(try garage.verify().isSound, hint)
  }

  private func refusal(_ body: () throws -> Void) -> GarageError? {
    do {
      try body()
      return nil
    } catch { return error as? GarageError }
  }

  @Test(arguments: Backend.allCases, [true, false])
  func deniesWhileSomebodyRefersToIt(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let hub = Hub(id: "a")
    try garage.parkAll((0..<6).map { Wheel(id: $0, hub: hub) })
    let error = refusal { try garage.delete(hub, referrers: .deny) }
    guard case .stillReferredTo(let type, let identifier, let by)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(type.hasSuffix("Hub") && identifier == "\"a\"")
    #expect(by.contains("Wheel \"0\"") && by.hasSuffix("and others"))
    #expect(error?.description.contains("referrers:") == true)
    #expect(try garage.contains(Hub.self, identifier: "a") && garage.count(Wheel.self) == 6)
    // In a write the error may be caught, and the rest goes on.
    try garage.write { writer in
      #expect(throws: GarageError.self) { try writer.delete(hub, referrers: .deny) }
      for id in 0..<6 { try writer.delete(Wheel.self, identifier: id) }
      try writer.delete(hub, referrers: .deny)
    }
    #expect(try garage.count(Hub.self) == 0)
    #expect(throws: GarageError.failedToRetrieveObject("Hub", "a")) {
      try garage.delete(hub, referrers: .deny)
    }
    // Who refers to itself does not keep itself.
    let loop = Snarl(1)
    loop.tie = Reference(Snarl.self, identifier: 1)
    try garage.park(loop)
    try garage.delete(loop, referrers: .deny)
    try expectSound(garage)
  }

  /// Whoever another garage parks before a deletion is saved counts as well.
  @Test(arguments: Backend.allCases, [true, false])
  func unsavedDeletionsAreAskedForAgain(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let garage = try backend.relations(place, isIndexed: isIndexed)
    let other = try backend.relations(place, isIndexed: isIndexed)
    func friend(_ id: Int, of hub: String) -> Acquaintance {
      Acquaintance(id: id, friend: Reference(Hub.self, identifier: hub))
    }
    try garage.parkAll([Hub(id: "a"), Hub(id: "b")])
    garage.isAutosaveEnabled = false
    try garage.delete(Hub(id: "a"), referrers: .deny)
    // Behind the deletion, which does not forbid it.
    try garage.park(friend(1, of: "a"))
    try other.park(friend(2, of: "a"))
    guard case .stillReferredTo(let type, let identifier, let by)? = refusal({ try garage.save() }) else {
      Issue.record("saved")
      return
    }
    #expect(type.hasSuffix("Hub") && identifier == "\"a\"")
    #expect(by.hasSuffix("Acquaintance \"2\""))
    #expect(try garage.hasUnsavedChanges && other.contains(Hub.self, identifier: "a"))
    garage.isAutosaveEnabled = true
    #expect(throws: GarageError.self) { try garage.park(Hub(id: "c")) }
    garage.isAutosaveEnabled = false
    try other.delete(Acquaintance.self, identifier: 2)
    try garage.save()
    #expect(try !other.contains(Hub.self, identifier: "a") && other.count(Acquaintance.self) == 1)
    // One that was parked again is there.
    try garage.delete(Hub(id: "b"), referrers: .deny)
    try garage.park(Hub(id: "b"))
    try other.park(friend(3, of: "b"))
    try garage.save()
    #expect(try other.contains(Hub.self, identifier: "b"))
    try expectSound(other)
  }

  /// A deletion that was taken back forbids nothing any more: what is deleted after it follows the rule that was given then.
  @Test(arguments: Backend.engines, [true, false])
  func takenBackDeletionsForbidNothing(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let garage = try backend.relations(place, isIndexed: isIndexed)
    let other = try backend.relations(place, isIndexed: isIndexed)
    func befriend(_ id: Int, _ hub: String) throws {
      try other.park(Acquaintance(id: id, friend: Reference(Hub.self, identifier: hub)))
    }
    try garage.parkAll(["a", "b", "c"].map { Hub(id: $0) })
    try garage.park(Guild(id: 1))
    try garage.park(OldGuild(id: 1))
    garage.isAutosaveEnabled = false
    try garage.delete(Hub(id: "a"), referrers: .deny)
    try garage.park(Hub(id: "a"))
    try garage.delete(Hub(id: "a"), referrers: .leave)
    try befriend(1, "a")
    try garage.save()
    try garage.delete(Hub(id: "b"), referrers: .deny)
    garage.discardUnsavedChanges()
    try garage.delete(Hub(id: "b"), referrers: .leave)
    try befriend(2, "b")
    try garage.save()
    // A verb that asks for no rules has all of them.
    try garage.delete(Hub(id: "c"), referrers: .deny)
    try garage.deleteAll(Hub.self)
    try befriend(3, "c")
    try garage.save()
    #expect(try other.count(Hub.self) == 0 && other.count(Acquaintance.self) == 3)
    // One that had a record under each of its type's names is there again under one of them.
    try garage.delete(Guild.self, identifier: 1, referrers: .deny)
    try garage.park(Guild(id: 1))
    try other.park(Journeyman(id: 1, old: Reference(OldGuild.self, identifier: 1)))
    try garage.save()
    #expect(try other.contains(Guild.self, identifier: 1))
    // And one that was deleted once more by the rule is looked for.
    try garage.delete(Guild.self, identifier: 1, referrers: .nullify)
    try garage.park(Guild(id: 1))
    try garage.save()
    try garage.delete(Guild.self, identifier: 1, referrers: .deny)
    try garage.park(Guild(id: 1))
    try garage.delete(Guild.self, identifier: 1, referrers: .deny)
    try other.park(Journeyman(id: 2, new: Reference(Guild.self, identifier: 1)))
    #expect(throws: GarageError.self) { try garage.save() }
    garage.discardUnsavedChanges()
    try expectSound(other)
  }

  /// What was found out of a type at one deletion holds at the next.
  @Test(arguments: Backend.allCases, [true, false])
  func takesReferencesOutAgain(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    for round in 0..<4 {
      let (a, b, c) = (Bight(1), Bight(2), Bight(3))
      (a.plain, a.linked, b.linked) = ([b, c], [c, b], [a])
      try garage.park(a)
      try garage.delete(b, referrers: .nullify)
      let left = try #require(try garage.retrieve(Bight.self, identifier: 1))
      #expect(left.plain.map(\.id) == [3] && left.linked.map(\.id) == [3], "round \(round)")
      try garage.delete(left, referrers: .nullify)
      #expect(try garage.count(Bight.self) == 1, "round \(round)")
    }
    try expectSound(garage)
  }

  @Test(arguments: Backend.allCases, [true, false])
  func takesReferencesOutOfAllForms(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (hub, other) = (Hub(id: "a"), Hub(id: "b"))
    var spoke = Spoke(1)
    (spoke.hub, spoke.renamed, spoke.linked, spoke.reference) = (hub, hub, hub, Reference(to: hub))
    (spoke.list, spoke.set) = ([other, hub, other, hub], [hub, other])
    (spoke.byName, spoke.byNumber) = (["x": hub, "y": other], [1: hub, 2: other])
    let token = UUID()
    (spoke.byToken, spoke.part) = ([UUID(): hub, token: other], Spoke.Part(hub: hub, count: 7))
    spoke.parts = [Spoke.Part(hub: hub, count: 8), Spoke.Part(hub: other, count: 9)]
    try garage.park(spoke)
    let bystander = Spoke(2)
    try garage.park(bystander)
    let before = try garage.storedObject(
      ofTypeNamed: TypeTag.of(Spoke.self).name, identifier: garage.identifier(for: bystander))
    try garage.delete(hub, referrers: .nullify)
    let found = try #require(try garage.retrieve(Spoke.self, identifier: 1))
    #expect(found.hub == nil && found.renamed == nil && found.linked == nil && found.reference == nil)
    #expect(found.list == [other, other] && found.set == [other] && found.title == "spoke")
    #expect(found.byName == ["y": other] && found.byNumber == [2: other] && found.byToken == [token: other])
    #expect(found.part.hub == nil && found.part.count == 7)
    #expect(found.parts.map(\.hub) == [nil, other] && found.parts.map(\.count) == [8, 9])
    #expect(try garage.referrers(of: hub).isEmpty && garage.referrers(of: other).count == 1)
    let after = try garage.storedObject(
      ofTypeNamed: TypeTag.of(Spoke.self).name, identifier: garage.identifier(for: bystander))
    #expect(before == after)
    try expectSound(garage)
  }

  /// The records of those who cannot be decoded are rewritten all the same.
  @Test func rewritesTheUnreadable() throws {
    for backend in Backend.engines { try rewritesTheUnreadable(backend) }
  }

  private func rewritesTheUnreadable(_ backend: Backend) throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let hub = Hub(id: "a")
    try garage.parkAll((0..<3).map { Sphinx(id: $0, hub: hub) })
    Sphinx.isSilent.withLock { $0 = true }
    defer { Sphinx.isSilent.withLock { $0 = false } }
    #expect(throws: (any Error).self) { try garage.retrieve(Sphinx.self, identifier: 1) }
    try garage.delete(hub, referrers: .nullify)
    Sphinx.isSilent.withLock { $0 = false }
    #expect(try garage.retrieveAll(Sphinx.self).allSatisfy { $0.hub == nil && $0.words == "?" })
    try expectSound(garage)
  }

  /// Who cannot do without it forbids the deletion, and nobody is rewritten.
  @Test(arguments: Backend.allCases, [true, false])
  func leavesThoseWhoNeedIt(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let hub = Hub(id: "a")
    var spoke = Spoke(1)
    spoke.hub = hub
    try garage.park(spoke)
    try garage.park(Wheel(id: 1, hub: hub))
    try garage.write { writer in
      let error = refusal { try writer.delete(hub, referrers: .nullify) }
      guard case .stillReferredTo(_, _, let by)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(by.contains("Wheel \"1\"") && by.contains("hub"))
    }
    #expect(try garage.retrieve(Spoke.self, identifier: 1)?.hub == hub)
    try garage.delete(Wheel.self, identifier: 1)
    try garage.park(Claim(hub: hub))
    #expect(throws: GarageError.self) { try garage.delete(hub, referrers: .nullify) }
    #expect(try garage.retrieve(Spoke.self, identifier: 1)?.hub == hub)
    try expectSound(garage)
  }

  /// Rules that types declare, over circles.
  @Test(arguments: Backend.allCases, [true, false])
  func typesSayWhatBecomesOfOthers(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    func stock() throws {
      let (author, rival) = (Author(1), Author(2))
      let volumes = ["a", "b", "c"].map { Volume($0, author) }
      volumes[1].sequel = volumes[2]
      volumes[2].sequel = volumes[1]
      author.volumes = [volumes[0], volumes[1]]
      rival.rival = author
      try garage.parkAll([author, rival])
      let fan = Volume("fan", rival)
      fan.sequel = volumes[0]
      try garage.park(fan)
      for object in volumes { (object.author, object.sequel) = (nil, nil) }
      author.volumes = []
    }
    try stock()
    // The rival refers to the author, who stays with all volumes.
    #expect(throws: GarageError.self) { try garage.delete(Author.self, identifier: 1) }
    #expect(throws: GarageError.self) { try garage.query(Author.self).where(\.id == 1).deleteAll() }
    #expect(try garage.count(Author.self) == 2 && garage.count(Volume.self) == 4)
    // In the call it counts for the author alone; of the volumes, the fan's reference goes.
    try garage.delete(Author.self, identifier: 1, referrers: .leave)
    #expect(try garage.retrieveAll(Volume.self).map(\.id) == ["fan"])
    #expect(try garage.retrieve(Volume.self, identifier: "fan")?.sequel == nil)
    try expectSound(garage)
    // All together nobody is left who refers to them.
    try garage.deleteAllObjects()
    try stock()
    try garage.delete(Volume.self, identifier: "fan")
    #expect(try garage.retrieveAll(Volume.self).map(\.id) == ["b", "c"])
    #expect(try garage.retrieve(Author.self, identifier: 1)?.volumes.map(\.id) == ["b"])
    try garage.deleteAll(Author.self)
    #expect(try garage.count(Author.self) == 0)
    try expectSound(garage)
  }

  @Test(arguments: Backend.engines)
  func tasksFollowTheRules(_ backend: Backend) async throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let author = Author(1)
    author.volumes = [Volume("a", nil)]
    let rival = Author(2)
    rival.patron = Reference(to: author)
    try await garage.parkAll([author, rival])
    await #expect(throws: GarageError.self) { try await garage.delete(author) }
    await #expect(throws: GarageError.self) { try await garage.delete(Author.self, identifier: 1) }
    await #expect(throws: GarageError.self) {
      try await garage.query(Author.self).where(\.id == 1).deleteAll()
    }
    #expect(try await garage.count(Volume.self) == 1)
    try await garage.delete(author, referrers: .nullify)
    #expect(try await garage.retrieve(Author.self, identifier: 2)?.patron == nil)
    #expect(try await garage.count(Volume.self) == 0)
    try await garage.deleteAll(Author.self)
    #expect(try await garage.count(Author.self) == 0)
  }

  // MARK: - What nothing else reaches

  @Test(arguments: Backend.allCases, [true, false])
  func deletesWhatNothingElseReaches(_ backend: Backend, isIndexed: Bool) throws {
    let seed = UInt64.random(in: 0 ... .max)
    for round in 0..<6 {
      var graph = SnarlGraph(round < 3 ? 12 : 40, seed: seed &+ UInt64(round))
      let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
      try graph.change(garage, 60)
      for step in 0..<6 {
        guard let root = graph.targets.keys.sorted().randomElement(using: &graph.random) else { break }
        let expected = graph.unreached(without: root)
        let hint: Comment = "seed \(seed), round \(round), step \(step)"
        if step == 3 { garage.isAutosaveEnabled = false }
        let count = try garage.deleteGraph(Snarl.self, identifier: root)
        #expect(count == expected.count, hint)
        for id in expected { graph.targets[id] = nil }
        #expect(try garage.query(Snarl.self).values(\.id) == graph.targets.keys.sorted(), hint)
      }
      try garage.save()
      try expectSound(garage)
    }
  }

  @Test(arguments: Backend.allCases, [true, false])
  func keysAndOtherRulesCount(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    func stock() throws {
      let snarls = (0..<4).map { Snarl($0) }
      for id in 0..<3 { snarls[id].tie = Reference(to: snarls[id + 1]) }
      snarls[3].bead = Bead(id: 9)
      try garage.parkAll(snarls)
    }
    try stock()
    try garage.set(RelationKeys.favourite, value: Reference(Snarl.self, identifier: 2))
    #expect(try garage.deleteGraph(Snarl(0)) == 2)
    #expect(try garage.query(Snarl.self).values(\.id) == [2, 3] && garage.count(Bead.self) == 1)
    try garage.set(RelationKeys.favourite, value: nil)
    #expect(try garage.deleteGraph(Snarl.self, identifier: 2) == 3)
    #expect(try garage.count(Bead.self) == 0)
    try stock()
    #expect(throws: GarageError.self) { try garage.deleteGraph(Snarl.self, identifier: 1, referrers: .deny) }
    #expect(try garage.count(Snarl.self) == 4)
    #expect(try garage.deleteGraph(Snarl.self, identifier: 1, referrers: .nullify) == 4)
    #expect(try garage.retrieve(Snarl.self, identifier: 0)?.tie == nil)
    #expect(throws: GarageError.failedToRetrieveObject("Snarl", "1")) { try garage.deleteGraph(Snarl(1)) }
    try expectSound(garage)
  }

  /// A chain of any length needs no stack: half a mebibyte here, on a thread of its own.
  @Test(arguments: Backend.engines, [true, false])
  func longChainsNeedNoStack(_ backend: Backend, isIndexed: Bool) throws {
    let count = runsLongTests ? 1_000_000 : 1_500
    let batch = min(count, 10_000)
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    // The last one leads back to the first.
    for start in stride(from: 0, to: count, by: batch) {
      let ids = start..<start + batch
      try garage.parkAll(ids.map { Pearl(id: $0, next: Reference(Pearl.self, identifier: ($0 + 1) % count)) })
      try garage.parkAll(ids.map { Bead(id: $0, next: Reference(Bead.self, identifier: ($0 + 1) % count)) })
    }
    try onSmallStack {
      let deleted = try garage.deleteGraph(Pearl.self, identifier: 0)
      #expect(deleted == count)
    }
    #expect(try garage.count(Pearl.self) == 0)
    try onSmallStack { try garage.delete(Bead.self, identifier: 5) }
    #expect(try garage.count(Bead.self) == 0)
    if isIndexed { #expect(try garage.referrerIndex()?.entries == 0) }
  }

  /// The same where rules forbid, or take references out: of one in a circle, and of all of one.
  @Test(arguments: Backend.engines, [true, false])
  func longChainsUnderRules(_ backend: Backend, isIndexed: Bool) throws {
    let count = runsLongTests ? 1_000_000 : 1_000
    let batch = min(count, 10_000)
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    for start in stride(from: 0, to: count, by: batch) {
      let ids = start..<start + batch
      try garage.parkAll(ids.map { Pearl(id: $0, next: Reference(Pearl.self, identifier: ($0 + 1) % count)) })
      try garage.parkAll(
        ids.map { Shackle(id: $0, next: Reference(Shackle.self, identifier: ($0 + 1) % count)) })
      try garage.parkAll(
        ids.map { Ribbon(id: $0, next: Reference(Ribbon.self, identifier: ($0 + 1) % count)) })
    }
    let last = count - 1
    try garage.park(
      Keeper(
        id: 1, shackle: Reference(Shackle.self, identifier: last),
        ribbon: Reference(Ribbon.self, identifier: last)))
    try onSmallStack {
      let before = refusal { try garage.delete(Pearl.self, identifier: 5, referrers: .deny) }
      guard case .stillReferredTo(_, "\"5\"", let pearl)? = before, pearl.contains("Pearl \"4\"") else {
        Issue.record("\(String(describing: before))")
        return
      }
      try garage.delete(Pearl.self, identifier: 5, referrers: .nullify)
      // All that it owns would go, but for one that somebody outside needs.
      guard
        case .stillReferredTo(_, _, let shackle)? = refusal({ try garage.delete(Shackle.self, identifier: 0) }
        )
      else {
        Issue.record("deleted")
        return
      }
      #expect(shackle.contains("Keeper \"1\""))
      try garage.delete(Ribbon.self, identifier: 0)
    }
    #expect(try garage.count(Pearl.self) == last && garage.retrieve(Pearl.self, identifier: 4)?.next == nil)
    #expect(try garage.count(Shackle.self) == count && garage.count(Ribbon.self) == 0)
    #expect(try garage.retrieve(Keeper.self, identifier: 1)?.ribbon == nil)
    try garage.delete(Keeper.self, identifier: 1)
    try onSmallStack {
      try garage.delete(Shackle.self, identifier: 0)
      // Begins behind the gap, and ends before it.
      #expect(try garage.deleteGraph(Pearl.self, identifier: 6, referrers: .nullify) == last)
    }
    #expect(try garage.count(Shackle.self) == 0 && garage.count(Pearl.self) == 0)
    if isIndexed { #expect(try garage.referrerIndex()?.entries == 0) }
  }

  /// Some are stored under the name that their type had before.
  @Test(arguments: Backend.allCases, [false, true])
  func renamedTypes(_ backend: Backend, _ isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll([OldHop(id: 1, next: Reference(OldHop.self, identifier: 2)), OldHop(id: 2, next: nil)])
    try garage.parkAll([OldHop(id: 3, next: Reference(OldHop.self, identifier: 4)), OldHop(id: 4, next: nil)])
    // Parked again: under the present name.
    try garage.park(#require(try garage.retrieve(Hop.self, identifier: 2)))
    try garage.park(#require(try garage.retrieve(Hop.self, identifier: 3)))
    #expect(try garage.deleteGraph(Hop.self, identifier: 1) == 2)
    #expect(try garage.deleteGraph(Hop.self, identifier: 3) == 2)
    #expect(try garage.count(Hop.self) == 0)
  }

  private struct OldHop: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old hop" }
    var id: Int
    var next: Reference<OldHop>?
  }
  private struct Hop: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "hop" }
    static var formerTypeTags: [String] { ["old hop"] }
    var id: Int
    var next: Reference<Hop>?
  }

  private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
    let thread = Thread {
      result = Result { try body() }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    try result.get()
  }
}

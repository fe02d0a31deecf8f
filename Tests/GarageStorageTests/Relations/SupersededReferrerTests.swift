import GarageCoding
import GarageDriver
import Testing

@testable import GarageStorage

/// Records that an older program has parked under a former name, beside the present one of the same object, which counts.
@Suite struct SupersededReferrerTests {
  /// Parks the same as an older program does, that knows the type by its former name alone. No type of this program may have that
  /// name now, so the record is put there by hand.
  private func parkFormerly<T: Codable & Identifiable & TypeTagged>(
    _ object: T, identifier: T.ID, before present: T, in garage: Garage
  ) throws {
    try garage.park(object)
    let identity = try garage.referred(T.self, identifier).identity
    let key = try garage.objectKeys.record(tag: identity.tag, identity.identifier)
    let former = KeyLayout.record(
      tag: TypeTag(name: T.formerTypeTags[0]).digest, sameIdentifierAs: key.bytes.span.bytes)
    let record: [UInt8] = try garage.withWriteAccess { access in
      let present: [UInt8] = try #require(try access.recordThatOpens(key, T.typeTag))
      let moved = try garage.objectKeys.withIdentifier(
        of: key.bytes.span.bytes, present.span.bytes, typeName: T.typeTag
      ) { identifier in
        try RecordSummary.record(
          present.span.bytes, tag: identity.tag, keyIdentifier: identifier,
          movedTo: TypeTag(name: T.formerTypeTags[0]).digest, concreteTag: { $0 }, renaming: [:], except: nil,
          typeName: T.typeTag)
      }
      return moved ?? present
    }
    try garage.park(present)
    try garage.withWriteAccess { access in
      try access.putRecord(record.span.bytes, for: former.bytes.span.bytes)
    }
  }

  @Test(arguments: Backend.allCases, [true, false])
  func theyAreNoReferrers(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (berth, other) = (Berth(id: 1), Berth(id: 2))
    try garage.parkAll([berth, other])
    let toBerth = Reference(Berth.self, identifier: 1)
    try parkFormerly(
      Hull(id: 1, berth: toBerth), identifier: 1, before: Hull(id: 1, berth: nil), in: garage)
    try parkFormerly(
      Hull(id: 2, berth: toBerth), identifier: 2, before: Hull(id: 2, berth: toBerth), in: garage)
    #expect(try garage.count(Hull.self) == 2)
    let referrers = try garage.referrers(of: berth)
    #expect(referrers.map { $0.identifier.description } == ["2"])
    #expect(try garage.retrieveReferrers(Hull.self, of: berth).map(\.id) == [2])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// A record alone under the former name is that of its object.
  @Test(arguments: Backend.allCases, [true, false])
  func thoseAloneAre(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let berth = Berth(id: 1)
    try garage.park(berth)
    let hull = Hull(id: 1, berth: Reference(Berth.self, identifier: 1))
    try parkFormerly(hull, identifier: 1, before: hull, in: garage)
    let identity = try garage.referred(Hull.self, 1).identity
    let key = try garage.objectKeys.record(tag: identity.tag, identity.identifier)
    try garage.withWriteAccess { access in try access.removeRecords([key]) }
    #expect(try garage.count(Hull.self) == 1)
    #expect(try garage.referrers(of: berth).map { $0.identifier.description } == ["1"])
    #expect(isRefused { try garage.delete(berth, referrers: .deny) })
    try garage.delete(berth, referrers: .nullify)
    #expect(try garage.retrieveAll(Hull.self).map(\.berth) == [nil])
  }

  @Test(arguments: Backend.allCases, [true, false])
  func theyForbidNothing(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll([Berth(id: 1), Berth(id: 2)])
    try parkFormerly(
      Hull(id: 1, berth: Reference(Berth.self, identifier: 1)), identifier: 1,
      before: Hull(id: 1, berth: nil), in: garage)
    #expect(!isRefused { try garage.delete(Berth.self, identifier: 1, referrers: .deny) })
    // The same where it stays unsaved, and is asked for again when it is saved.
    try parkFormerly(
      Hull(id: 2, berth: Reference(Berth.self, identifier: 2)), identifier: 2,
      before: Hull(id: 2, berth: nil), in: garage)
    garage.isAutosaveEnabled = false
    #expect(!isRefused { try garage.delete(Berth.self, identifier: 2, referrers: .deny) })
    #expect(!isRefused { try garage.save() })
    #expect(try garage.count(Berth.self) == 0)
    #expect(try garage.verifyIndexes().isSound)
  }

  /// One whose property needs what is deleted stays as it is.
  @Test(arguments: Backend.allCases, [true, false])
  func theyKeepNothing(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll([Berth(id: 1), Berth(id: 2)])
    try parkFormerly(
      Moored(id: 1, berth: Reference(Berth.self, identifier: 1)), identifier: 1,
      before: Moored(id: 1, berth: Reference(Berth.self, identifier: 2)), in: garage)
    #expect(!isRefused { try garage.delete(Berth.self, identifier: 1, referrers: .nullify) })
    #expect(isRefused { try garage.delete(Berth.self, identifier: 2, referrers: .nullify) })
    #expect(try garage.retrieveAll(Berth.self).map(\.id) == [2])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// What such a record alone names belongs to others now.
  @Test(arguments: Backend.allCases, [true, false])
  func theyOwnNothing(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll([Berth(id: 1), Berth(id: 2)])
    let (first, second) = (Reference(Berth.self, identifier: 1), Reference(Berth.self, identifier: 2))
    try parkFormerly(
      Pier(id: 1, berths: [second]), identifier: 1, before: Pier(id: 1, berths: [first]), in: garage)
    try garage.park(Pier(id: 2, berths: [second]))
    try garage.delete(Pier.self, identifier: 1)
    #expect(try garage.retrieveAll(Pier.self).map(\.id) == [2])
    #expect(try garage.retrieveAll(Berth.self).map(\.id) == [2])
    #expect(try garage.verifyIndexes().isSound)
  }
}

extension SupersededReferrerTests {
  fileprivate struct Berth: Codable, Identifiable { var id: Int }

  fileprivate struct Hull: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "hull of superseded referrers" }
    static var formerTypeTags: [String] { ["old hull of superseded referrers"] }
    var id: Int
    var berth: Reference<Berth>?
  }

  fileprivate struct Moored: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "moored of superseded referrers" }
    static var formerTypeTags: [String] { ["old moored of superseded referrers"] }
    var id: Int
    var berth: Reference<Berth>
  }

  fileprivate struct Pier: Codable, Identifiable, TypeTagged, DeleteRules {
    static var typeTag: String { "pier of superseded referrers" }
    static var formerTypeTags: [String] { ["old pier of superseded referrers"] }
    static var owned: [Owned<Pier>] { [Owned(\.berths)] }
    var id: Int
    var berths: [Reference<Berth>]
  }
}

import Foundation
import Testing

@testable import GarageStorage

/// Unique indexes that a type declares only after it has objects: from the first call on they hold for those, too.
@Suite struct LateUniqueIndexTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  /// A store of users of the release before, which knows of no index.
  private func place(_ backend: Backend, mails: [String]) throws -> Place {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll(mails.enumerated().map { FormerUser(id: $0.offset, mail: $0.element) })
    try garage.close()
    return place
  }

  private func expectTaken(_ mail: String, by id: Int, _ body: () throws -> Void) {
    #expect(throws: GarageError.notUnique(index: "mail", value: "\"\(mail)\"", existing: "\(id)")) {
      try body()
    }
  }

  private func expectReady(_ garage: Garage, _ count: Int) throws {
    #expect(try garage.indexes(of: User.self).map(\.state) == [.ready])
    #expect(try garage.count(User.self) == count)
    #expect(try garage.verifyIndexes().isSound)
  }

  /// The ways of parking.
  enum Way: CaseIterable {
    case park, parkAll, write, byReference, saved, updated

    fileprivate func park(_ user: User, in garage: Garage) throws {
      switch self {
      case .park: try garage.park(user)
      case .parkAll: try garage.parkAll([User(id: 900, mail: "of the first"), user])
      case .write: try garage.write { try $0.park(user) }
      case .byReference: try garage.park(Purchase(id: 1, buyer: user))
      case .saved:
        garage.isAutosaveEnabled = false
        try garage.park(user)
        do { try garage.save() } catch {
          garage.discardUnsavedChanges()
          throw error
        }
      case .updated:
        try garage.park(User(id: user.id, mail: "none yet \(user.id)"))
        _ = try garage.query(User.self).where(\.id == user.id).updateAll { $0.mail = user.mail }
      }
    }
  }

  @Test(arguments: open, Way.allCases)
  func whatWasThereCounts(_ backend: Backend, way: Way) throws {
    let place = try place(backend, mails: (0..<300).map { "\($0)" })
    let garage = try place.garage()
    expectTaken("7", by: 7) { try way.park(User(id: 500, mail: "7"), in: garage) }
    try way.park(User(id: 501, mail: "new"), in: garage)
    expectTaken("new", by: 501) { try way.park(User(id: 502, mail: "new"), in: garage) }
    garage.isAutosaveEnabled = true
    #expect(try garage.query(User.self).where(\.mail == "7").values(\.id) == [7])
    #expect(try garage.indexes(of: User.self).map(\.state) == [.ready])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Somebody who writes completes what another has begun, whatever his types. More objects than one block takes.
  @Test(arguments: open)
  func whatOthersHaveBegun(_ backend: Backend) throws {
    let place = try place(backend, mails: (0..<20_500).map { "\($0)" })
    let garage = try place.garage([User.self])
    struct Stop: Error {}
    #expect(throws: Stop.self) { try garage.buildIndexes { _ in throw Stop() } }
    try garage.close()
    let other = try place.garage()
    expectTaken("20499", by: 20_499) { try other.park(FormerUser(id: 30_000, mail: "20499")) }
    // Objects of other types leave it as it is.
    try other.park(Purchase(id: 1, buyer: nil))
    try other.park(FormerUser(id: 30_000, mail: "30000"))
    try expectReady(other, 20_501)
  }

  /// Where two have the same value already, the index is not made, and new objects are parked all the same.
  @Test(arguments: open)
  func whatCollidesAlready(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b", "a", "c"])
    let garage = try place.garage()
    try garage.park(User(id: 10, mail: "d"))
    try garage.park(User(id: 11, mail: "e"))
    expectTaken("d", by: 10) { try garage.park(User(id: 12, mail: "d")) }
    #expect(try garage.count(User.self) == 6)
    #expect(try garage.query(User.self).where(\.mail == "a").values(\.id) == [0, 2])
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
    try garage.delete(User.self, identifier: 2)
    try garage.buildIndexes()
    expectTaken("a", by: 0) { try garage.park(User(id: 12, mail: "a")) }
    try expectReady(garage, 5)
  }

  /// A write that is undone undoes the index as well; the next one makes it again.
  @Test(arguments: open)
  func writesThatAreUndone(_ backend: Backend) throws {
    let place = try place(backend, mails: ["a", "b"])
    let garage = try place.garage()
    struct Undo: Error {}
    func undone() throws {
      try garage.write { writer in
        #expect(throws: GarageError.self) { try writer.park(User(id: 5, mail: "a")) }
        try writer.park(User(id: 6, mail: "c"))
        throw Undo()
      }
    }
    for _ in 0..<2 {
      do { try undone() } catch { #expect(error is Undo) }
      #expect(try garage.count(User.self) == 2)
    }
    expectTaken("b", by: 1) { try garage.park(User(id: 5, mail: "b")) }
    try garage.park(User(id: 5, mail: "c"))
    try expectReady(garage, 3)
  }
}

private struct FormerUser: Codable, Identifiable, TypeTagged {
  var id: Int
  var mail: String
  static var typeTag: String { "late user" }
}

private struct User: Codable, Identifiable, TypeTagged, Indexed {
  var id: Int
  var mail: String
  static var typeTag: String { "late user" }
  static var indexes: [Index<User>] { [Index(\.mail, .unique)] }
}

private struct Purchase: Codable, Identifiable {
  var id: Int
  var buyer: User?
}

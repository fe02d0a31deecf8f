import Foundation
import GarageDriver
import GarageStorage
import Testing

private struct FormerPier: Codable, Identifiable, TypeTagged {
  nonisolated static var typeTag: String { "pier, formerly" }
  var id: Int
  var name: String
  var length = 0
}

private struct Pier: Codable, Identifiable, TypeTagged, Indexed {
  nonisolated static var typeTag: String { "pier" }
  nonisolated static var formerTypeTags: [String] { ["pier, formerly"] }
  nonisolated static var indexes: [Index<Pier>] { [Index(\.name, .unique, .readable)] }
  var id: Int
  var name: String
  var length = 0
}

private struct FormerJetty: Codable, Identifiable, TypeTagged {
  nonisolated static var typeTag: String { "jetty, formerly" }
  var id: Int
  var length: Int
}

private struct Jetty: Codable, Identifiable, TypeTagged {
  nonisolated static var typeTag: String { "jetty" }
  nonisolated static var formerTypeTags: [String] { ["jetty, formerly"] }
  var id: Int
  var length: Int
}

/// Objects that were exported or lost under one name of their type, and stand under another one now.
@Suite struct RenamedExchangeTests {
  private func expect(_ lengths: [Int], in garage: Garage) throws {
    #expect(try garage.retrieveAll(Pier.self).map(\.length) == lengths)
    #expect(try garage.count(Pier.self) == lengths.count)
    #expect(try garage.verifyIndexes().isSound)
    for (place, length) in lengths.enumerated() {
      #expect(try garage.query(Pier.self).where(\.name == "pier \(place)").first()?.length == length)
    }
    try garage.migrateAll(Pier.self)
    #expect(try garage.retrieveAll(Pier.self).map(\.length) == lengths)
  }

  private func former(_ length: Int) -> [FormerPier] {
    (0..<3).map { FormerPier(id: $0, name: "pier \($0)", length: length) }
  }
  private func present(_ length: Int) -> [Pier] {
    (0..<3).map { Pier(id: $0, name: "pier \($0)", length: length) }
  }

  @Test(arguments: Backend.copied) func anImportReplacesWhatHasAnotherName(_ backend: Backend) throws {
    let place = try Place(backend)
    let (before, after) = (
      place.folder.appending(path: "before.jsonl"), place.folder.appending(path: "after.jsonl")
    )
    let garage = try place.garage()
    try garage.parkAll(former(1))
    try garage.export(to: before)
    try garage.parkAll(present(2))
    try garage.export(to: after)
    try garage.import(from: before)
    try expect([1, 1, 1], in: garage)
    // The other way round.
    let other = try Garage(Place(.memory).open())
    try other.parkAll(former(3))
    try other.import(from: after)
    try expect([2, 2, 2], in: other)
  }

  /// The later version counts, whatever name it has.
  @Test(arguments: Backend.engines) func aSalvageMeetsOtherNames(_ backend: Backend) throws {
    let lost = try Place(backend).open()
    let saved = try Garage(Place(backend).open())
    try saved.parkAll(former(1))
    usleep(3000)
    try Garage(lost).parkAll(present(2))
    usleep(3000)
    try saved.park(FormerPier(id: 2, name: "pier 2", length: 3))
    let report = try GarageSalvage(from: OrderedSource(lost), into: saved).run()
    #expect(report.notes.isEmpty, "\(report)")
    try expect([2, 2, 3], in: saved)
  }

  /// The lost store had both records, and the one that an older program put later is not the one that counts.
  @Test(arguments: Backend.engines) func aSalvageKeepsBothNames(_ backend: Backend) throws {
    let lost = try Place(backend).open()
    let before = try Garage(lost)
    try before.parkAll((0..<3).map { Jetty(id: $0, length: 1) })
    usleep(3000)
    try before.parkAll((0..<3).map { FormerJetty(id: $0, length: 2) })
    let saved = try Garage(Place(backend).open())
    for isReversed in [false, true, false] {
      try GarageSalvage(from: OrderedSource(lost, isReversed: isReversed), into: saved).run()
      #expect(try saved.retrieveAll(Jetty.self).map(\.length) == [1, 1, 1])
      #expect(try saved.retrieveAll(FormerJetty.self).map(\.length) == [2, 2, 2])
      if isReversed { try saved.deleteAllObjects() }
    }
  }
}

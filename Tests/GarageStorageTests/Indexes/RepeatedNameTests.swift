import Testing

@testable import GarageStorage

/// A former name that a type gives more than once is one name.
@Suite struct RepeatedNameTests {
  @Test(arguments: Backend.engines)
  func standsForOneRecord(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((1...4).map { OldShed(id: $0, name: "\($0)") })
    try garage.make([Index(\Shed.name, .unique, .readable)])
    #expect(try garage.indexes(of: Shed.self).map(\.state) == [.ready])
    #expect(try garage.indexes(of: Shed.self).map(\.entries) == [4])
    #expect(try garage.query(Shed.self).where(\.name >= "2").sorted(by: \.name).values(\.id) == [2, 3, 4])
    #expect(try garage.count(Shed.self) == 4)
    // No object has the value of another one, nor its own twice.
    try garage.parkAll([OldShed(id: 4, name: "5"), OldShed(id: 5, name: "4")])
    #expect(throws: GarageError.self) { try garage.park(Shed(id: 6, name: "3")) }
    try garage.delete(Shed.self, identifier: 3)
    try garage.park(Shed(id: 6, name: "3"))
    #expect(try garage.query(Shed.self).sorted(by: \.name).values(\.id) == [1, 2, 6, 5, 4])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// More of them than an index can have are told of.
  @Test func tooManyAreRefused() throws {
    let garage = try Place(.memory).garage()
    let error = #expect(throws: GarageError.self) { try garage.make([Index(\OftenRenamed.name)]) }
    #expect("\(try #require(error))".contains("300 names"))
  }
}

private struct OftenRenamed: Codable, Identifiable, TypeTagged {
  var id: Int
  var name: String
  static var typeTag: String { "often renamed" }
  static var formerTypeTags: [String] { (0..<300).map { "renamed \($0)" } }
}

private struct OldShed: Codable, Identifiable, TypeTagged {
  var id: Int
  var name: String
  static var typeTag: String { "old shed" }
}

private struct Shed: Codable, Identifiable, TypeTagged {
  var id: Int
  var name: String
  static var typeTag: String { "shed" }
  // Also where they are the same when they are composed.
  static var formerTypeTags: [String] { ["old shed", "caf\u{E9}", "old shed", "shed", "cafe\u{301}"] }
}

import Foundation
import Testing

@testable import GarageStorage

// Classes, what refers to others, and objects of older versions.

extension ForcedValueTests {
  final class Member: Codable, Identifiable, Equatable, Sendable {
    let id: Int
    let level: Level
    init(_ id: Int) { (self.id, level) = (id, Level.allCases[id % 3]) }
    private enum CodingKeys: CodingKey { case id, level }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      level = Level(rawValue: try container.decode(String.self, forKey: .level))!
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(level.rawValue, forKey: .level)
    }
    static func == (left: Member, right: Member) -> Bool { left.id == right.id && left.level == right.level }
  }
  class Team: Codable, Identifiable, Equatable, @unchecked Sendable {
    let id: Int
    let name: String
    let level: Level
    let lead: Member?
    let members: [Member]
    init(_ id: Int, _ all: [Member]) {
      (self.id, name, level) = (id, "team \(id % 4)", Level.allCases[id % 3])
      (lead, members) = (id % 4 == 1 ? nil : all[id % all.count], [all[0], all[(id + 1) % all.count]])
    }
    private enum CodingKeys: CodingKey { case id, name, level, lead, members }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      name = try container.decode(String.self, forKey: .name)
      level = Level(rawValue: try container.decode(String.self, forKey: .level))!
      lead = try container.decodeIfPresent(Member.self, forKey: .lead)
      members = try container.decode([Member].self, forKey: .members)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(name, forKey: .name)
      try container.encode(level.rawValue, forKey: .level)
      try container.encodeIfPresent(lead, forKey: .lead)
      try container.encode(members, forKey: .members)
    }
    static func == (left: Team, right: Team) -> Bool {
      left.id == right.id && left.name == right.name && left.level == right.level && left.lead == right.lead
        && left.members == right.members
    }
  }
  final class Crew: Team, @unchecked Sendable {
    let size: Size
    override init(_ id: Int, _ all: [Member]) {
      size = id % 2 == 0 ? .small : .large
      super.init(id, all)
    }
    private enum CodingKeys: CodingKey { case size }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      size = Size(rawValue: try container.decode(Int.self, forKey: .size))!
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(size.rawValue, forKey: .size)
    }
  }

  @Test(arguments: Backend.allCases)
  func classesAndReferences(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Team.self, Crew.self, Member.self])
    let members = (0..<5).map(Member.init)
    let teams = (0..<30).map { $0 % 3 == 0 ? Crew($0, members) : Team($0, members) }
    try garage.parkAll(teams)
    try check(garage, teams, decodes: false, \.name == "team 2") { $0.name == "team 2" }
    try check(garage, teams, \.level == .middle) { $0.level == .middle }
    try check(garage, teams, decodes: false, \.lead == nil) { $0.lead == nil }
    let crews = teams.compactMap { $0 as? Crew }
    try check(garage, crews, decodes: false, \.name == "team 2") { $0.name == "team 2" }
    try check(garage, crews, \.size == .large) { $0.size == .large }
    for member in members {
      let leading = try garage.retrieveReferrers(Team.self, of: member, by: \.lead)
      #expect(leading == teams.filter { $0.lead == member })
      let having = try garage.retrieveReferrers(Team.self, of: member, by: \.members)
      #expect(having == teams.filter { $0.members.contains(member) })
    }
    try garage.delete(members[3], referrers: .nullify)
    let left = try garage.retrieveAll(Team.self)
    #expect(left.allSatisfy { $0.lead != members[3] && !$0.members.contains(members[3]) })
    #expect(left.count == 30)
  }
}

extension ForcedValueTests {
  /// As it was before.
  struct OldNote: Codable, Identifiable, TypeTagged, Sendable {
    static let typeTag = "ForcedNote"
    var id: Int
    var text: String
    var rank: Int
  }
  struct Note: Codable, Identifiable, TypeTagged, Evolving, Equatable, Indexed, Sendable {
    static let typeTag = "ForcedNote"
    static let version = 1
    static var prototype: Note? { Note(0) }
    static func upgrade(_ record: inout RecordValue, from version: Int) throws {
      guard case .integer(let rank)? = record["rank"] else { return }
      record["level"] = .string(Level.allCases[Int(rank)].rawValue)
    }
    static var indexes: [Index<Note>] { [Index(\.text)] }
    var id: Int
    var text: String
    var level: Level
    var number: Int
    init(_ id: Int) { (self.id, text, level, number) = (id, "text \(id % 4)", Level.allCases[id % 3], 7) }
    private enum CodingKeys: CodingKey { case id, text, level, number }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      text = try container.decode(String.self, forKey: .text)
      level = Level(rawValue: try container.decode(String.self, forKey: .level))!
      number = Int(try container.decode(String.self, forKey: .number))!
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(text, forKey: .text)
      try container.encode(level.rawValue, forKey: .level)
      try container.encode("\(number)", forKey: .number)
    }
  }

  /// All that tells is of an older version, lacks a field, and was there before the index.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func olderObjects(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((0..<40).map { OldNote(id: $0, text: "text \($0 % 4)", rank: $0 % 3) })
    garage = try place.reopened(garage)
    let notes = (0..<40).map(Note.init)
    try check(garage, notes, decodes: false, \.text == "text 3") { $0.text == "text 3" }
    try check(garage, notes, \.level == .middle) { $0.level == .middle }
    _ = try garage.migrateAll(Note.self)
    try check(garage, notes, decodes: false, \.text == "text 3") { $0.text == "text 3" }
    #expect(try garage.query(Note.self).where(\.text == "text 3").explain().indexes == ["text"])
  }
}

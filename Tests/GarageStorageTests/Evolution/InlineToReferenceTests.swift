import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

// Notes that stood inside their owners when those were parked. Today's owners name them by references.

private enum Before {
  struct Note: Codable, Hashable {
    var id: Int
    var text: String
    static func make(_ id: Int) -> Note { Note(id: id, text: "text \(id)") }
  }
  enum Either: Codable { case note(Note), none }
  struct Nest: Codable { var inner: Inner; struct Inner: Codable { var note: Note } }
  struct Box<Value: Codable>: Codable { var value: Value }

  class Base: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "standing base" }
    var id: Int
    var inherited: Note
    init(_ id: Int) {
      self.id = id
      inherited = .make(id * 100)
    }
  }
  final class Owner: Base {
    override class var typeTag: String { "standing owner" }
    var note: Note
    var maybe: Note?
    var none: Note?
    var list: [Note]
    var holes: [Note?]
    var table: [String: Note]
    var numbers: [Int: Note]
    var either: Either
    var nest: Nest
    var box: Box<Note>
    override init(_ id: Int) {
      let first = id * 100
      note = .make(first + 1)
      maybe = .make(first + 2)
      list = [.make(first + 3), .make(first + 1)]
      holes = [nil, .make(first + 4)]
      table = ["a": .make(first + 5), "b": .make(first + 6)]
      numbers = [7: .make(first + 7)]
      either = .note(.make(first + 8))
      nest = Nest(inner: .init(note: .make(first + 9)))
      box = Box(value: .make(first + 10))
      super.init(id)
    }
    required init(from decoder: any Decoder) throws { fatalError("only parked") }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(note, forKey: .note)
      try container.encodeIfPresent(maybe, forKey: .maybe)
      try container.encodeIfPresent(none, forKey: .none)
      try container.encode(list, forKey: .list)
      try container.encode(holes, forKey: .holes)
      try container.encode(table, forKey: .table)
      try container.encode(numbers, forKey: .numbers)
      try container.encode(either, forKey: .either)
      try container.encode(nest, forKey: .nest)
      try container.encode(box, forKey: .box)
    }
  }
  enum Keys: CodingKey { case note, maybe, none, list, holes, table, numbers, either, nest, box }

  struct Simple: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "simple standing owner" }
    var id: Int
    var note: Note
  }
}

private enum Now {
  struct Note: Codable, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "standing note" }
    var id: Int
    var text: String
  }
  typealias Link = Reference<Note>
  enum Either: Codable { case note(Link), none }
  struct Nest: Codable { var inner: Inner; struct Inner: Codable { var note: Link } }

  class Base: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "standing base" }
    var id: Int
    var inherited: Link
  }
  final class Owner: Base {
    override class var typeTag: String { "standing owner" }
    var note: Link
    var maybe: Link?
    var none: Link?
    var list: [Link]
    var holes: [Link?]
    var table: [String: Link]
    var numbers: [Int: Link]
    var either: Either
    var nest: Nest
    var box: Before.Box<Link>
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Before.Keys.self)
      note = try container.decode(Link.self, forKey: .note)
      maybe = try container.decodeIfPresent(Link.self, forKey: .maybe)
      none = try container.decodeIfPresent(Link.self, forKey: .none)
      list = try container.decode([Link].self, forKey: .list)
      holes = try container.decode([Link?].self, forKey: .holes)
      table = try container.decode([String: Link].self, forKey: .table)
      numbers = try container.decode([Int: Link].self, forKey: .numbers)
      either = try container.decode(Either.self, forKey: .either)
      nest = try container.decode(Nest.self, forKey: .nest)
      box = try container.decode(Before.Box<Link>.self, forKey: .box)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: Before.Keys.self)
      try container.encode(note, forKey: .note)
      try container.encodeIfPresent(maybe, forKey: .maybe)
      try container.encode(list, forKey: .list)
      try container.encode(holes, forKey: .holes)
      try container.encode(table, forKey: .table)
      try container.encode(numbers, forKey: .numbers)
      try container.encode(either, forKey: .either)
      try container.encode(nest, forKey: .nest)
      try container.encode(box, forKey: .box)
    }
    var links: [Link] {
      var links = [inherited, note] + [maybe].compactMap(\.self) + list + holes.compactMap(\.self)
      links += [table["a"], table["b"], numbers[7]].compactMap(\.self)
      if case .note(let link) = either { links.append(link) }
      return links + [nest.inner.note, box.value]
    }
    static func texts(_ id: Int) -> [String] {
      [0, 1, 2, 3, 1, 4, 5, 6, 7, 8, 9, 10].map { "text \(id * 100 + $0)" }
    }
  }

  struct Simple: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "simple standing owner" }
    var id: Int
    var note: Link
  }
}

/// What stood inline is read as a reference: its target is found before anything is rewritten, and is a record of its
/// own once its owner was parked or migrated.
@Suite struct InlineToReferenceTests {
  private typealias Link = Now.Link

  private func texts(_ links: [Link], _ garage: some GarageReading) throws -> [String?] {
    try links.map { try garage.retrieve($0)?.text }
  }

  private func simple(_ backend: Backend, _ ids: Range<Int> = 0..<3) throws -> (Place, Garage) {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll(ids.map { Before.Simple(id: $0, note: .make($0)) })
    return (place, try place.reopened(garage))
  }

  @Test(arguments: Backend.allCases)
  func everyPositionBeforeAndAfter(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((1...3).map { Before.Owner($0) })
    garage = try place.reopened(garage)
    // Before anything is written, one by one and all at once, inside a reader too.
    let owner = try #require(try garage.retrieve(Now.Owner.self, identifier: 1))
    #expect(try texts(owner.links, garage) == Now.Owner.texts(1))
    #expect(owner.none == nil && owner.holes[0] == nil)
    #expect(
      try garage.retrieveAll(Now.Owner.self).map { try texts($0.links, garage) }
        == (1...3).map { Now.Owner.texts($0) })
    try garage.read { reader in
      let two = try #require(try reader.retrieve(Now.Owner.self, identifier: 2))
      #expect(try texts(two.links, reader) == Now.Owner.texts(2))
    }
    #expect(try garage.count(Now.Note.self) == 0)
    #expect(owner.note == Reference(Now.Note.self, identifier: 101))
    #expect(Set(owner.links).count == 11)

    try garage.park(owner)
    try garage.write { writer in
      let two = try #require(try writer.retrieve(Now.Owner.self, identifier: 2))
      try writer.park(two)
      #expect(try texts(two.links, writer) == Now.Owner.texts(2))
    }
    garage = try place.reopened(garage)
    #expect(try garage.count(Now.Note.self) == 22)
    #expect(try garage.retrieve(Now.Note.self, identifier: 105)?.text == "text 105")
    let report = try garage.migrateAll(Now.Owner.self)
    #expect(report.failedCount == 0 && report.rewritten == 1 && report.unchanged == 2)
    #expect(try garage.count(Now.Note.self) == 33)
    garage = try place.reopened(garage)
    #expect(
      try garage.retrieveAll(Now.Owner.self).map { try texts($0.links, garage) }
        == (1...3).map { Now.Owner.texts($0) })
    #expect(try garage.migrateAll(Now.Owner.self).unchanged == 3)
  }

  @Test(arguments: Backend.engines)
  func nothingIsLostOfMany(_ backend: Backend) throws {
    let count = runsLongTests ? 20_000 : 5_000
    let place = try Place(backend)
    var garage = try place.garage()
    for start in stride(from: 0, to: count, by: 2_500) {
      try garage.parkAll((start..<(start + 2_500)).map { Before.Simple(id: $0, note: .make($0)) })
    }
    garage = try place.reopened(garage)
    let report = try garage.migrateAll(Now.Simple.self)
    #expect(report.rewritten == count && report.failedCount == 0)
    garage = try place.reopened(garage)
    var next = 0
    try garage.forEach(Now.Note.self) { note in
      if note != Now.Note(id: next, text: "text \(next)") { Issue.record("\(note) at \(next)") }
      next += 1
    }
    #expect(next == count)
  }

  @Test(arguments: Backend.allCases)
  func theRecordThatIsThereWins(_ backend: Backend) throws {
    let (_, garage) = try simple(backend)
    try garage.park(Now.Note(id: 1, text: "newer"))
    let owners = try garage.retrieveAll(Now.Simple.self)
    #expect(try texts(owners.map(\.note), garage) == ["text 0", "newer", "text 2"])
    try garage.parkAll(owners)
    #expect(try texts(owners.map(\.note), garage) == ["text 0", "newer", "text 2"])
    #expect(try garage.retrieveAll(Now.Note.self).map(\.text) == ["text 0", "newer", "text 2"])
    #expect(try garage.migrateAll(Now.Simple.self).unchanged == 3)
  }

  @Test(arguments: Backend.allCases)
  func anObjectInTheSameGraphWins(_ backend: Backend) throws {
    let (_, garage) = try simple(backend)
    let owner = try #require(try garage.retrieve(Now.Simple.self, identifier: 0))
    try garage.parkAll(any: [owner, Now.Note(id: 0, text: "given")])
    #expect(try garage.retrieve(owner.note)?.text == "given")
  }

  @Test(arguments: Backend.allCases)
  func copiesOfTheReferenceCarryItToo(_ backend: Backend) async throws {
    struct Album: Codable, Identifiable {
      var id = "album"
      var links: [Link]
      var byLink: [Link: Int]
    }
    let (place, garage) = try simple(backend)
    let links = try await Task.detached { try garage.retrieveAll(Now.Simple.self).map(\.note) }.value
    #expect(try texts(links, garage) == ["text 0", "text 1", "text 2"])
    try await garage.park(Album(links: links, byLink: [links[0]: 1]))
    let other = try place.reopened(garage)
    let album = try await #require(try other.retrieve(Album.self, identifier: "album"))
    #expect(try texts(album.links, other) == ["text 0", "text 1", "text 2"])
    #expect(album.byLink == [links[0]: 1])
    #expect(try await other.count(Now.Note.self) == 3)
    // And into another store.
    let elsewhere = try Place(backend).garage()
    try await elsewhere.parkAll(try other.retrieveAll(Now.Simple.self))
    #expect(try await elsewhere.count(Now.Note.self) == 3)
    #expect(try await elsewhere.retrieve(Now.Note.self, identifier: 2)?.text == "text 2")
  }

  @Test(arguments: Backend.allCases)
  func withUnsavedChanges(_ backend: Backend) throws {
    let (place, first) = try simple(backend)
    var garage = first
    garage.isAutosaveEnabled = false
    let owner = try #require(try garage.retrieve(Now.Simple.self, identifier: 0))
    try garage.park(owner)
    #expect(try garage.retrieve(owner.note)?.text == "text 0")
    #expect(try garage.retrieve(Now.Note.self, identifier: 0)?.text == "text 0")
    garage.discardUnsavedChanges()
    #expect(try garage.count(Now.Note.self) == 0)
    #expect(try garage.retrieve(owner.note)?.text == "text 0")
    try garage.park(owner)
    try garage.save()
    #expect(try garage.migrateAll(Now.Simple.self).rewritten == 2)
    try garage.save()
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll(Now.Note.self).map(\.text) == ["text 0", "text 1", "text 2"])
  }

  @Test(arguments: Backend.allCases)
  func whatWasRolledBackIsParkedAgain(_ backend: Backend) throws {
    struct Stop: Error {}
    let (_, garage) = try simple(backend)
    let owner = try #require(try garage.retrieve(Now.Simple.self, identifier: 0))
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.park(owner)
        throw Stop()
      }
    }
    #expect(try garage.retrieve(owner.note)?.text == "text 0")
    #expect(try garage.count(Now.Note.self) == 0)
    try garage.park(owner)
    #expect(try garage.retrieve(Now.Note.self, identifier: 0)?.text == "text 0")
  }

  @Test(arguments: Backend.allCases)
  func whatWasDeletedSinceDoesNotComeBack(_ backend: Backend) throws {
    let (_, garage) = try simple(backend)
    let owner = try #require(try garage.retrieve(Now.Simple.self, identifier: 0))
    try garage.park(owner)
    try garage.delete(Now.Note.self, identifier: 0)
    #expect(try garage.retrieve(owner.note) == nil)
    try garage.park(owner)
    #expect(try garage.retrieve(owner.note) == nil && garage.count(Now.Note.self) == 0)
  }

  @Test func inHiddenGaragesToo() throws {
    let place = try Place(.sealedSQLite)
    let plain = try Place(.sealedSQLite).garage()
    var garage = try Garage(place.open(), hidesIdentifiers: true)
    let long = String(repeating: "long ", count: 100)
    struct LongBefore: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "long owner" }
      var id: String
      var note: Content
      struct Content: Codable { var id: String, text: String }
    }
    struct LongNote: Codable, Identifiable { var id: String, text: String }
    struct LongNow: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "long owner" }
      var id: String
      var note: Reference<LongNote>
    }
    for id in ["a", long] { try garage.park(LongBefore(id: id, note: .init(id: id, text: "text of \(id)"))) }
    garage = try place.reopened(garage)
    let owners = try garage.retrieveAll(LongNow.self)
    for owner in owners { #expect(try garage.retrieve(owner.note)?.text == "text of \(owner.id)") }
    // From a hidden garage into one that is not, and the reverse.
    try plain.parkAll(owners)
    for id in ["a", long] {
      #expect(try plain.retrieve(LongNote.self, identifier: id)?.text == "text of \(id)")
    }
    #expect(try garage.migrateAll(LongNow.self).rewritten == 2)
    garage = try place.reopened(garage)
    for id in ["a", long] {
      #expect(try garage.retrieve(LongNote.self, identifier: id)?.text == "text of \(id)")
    }
    #expect(try garage.retrieveAll(LongNote.self).count == 2)
    let back = try Garage(Place(.sealedSQLite).open(), hidesIdentifiers: true)
    let another = try Place(.memory).garage()
    try another.park(LongBefore(id: long, note: .init(id: long, text: "x")))
    try back.parkAll(try another.retrieveAll(LongNow.self))
    #expect(try back.retrieve(LongNote.self, identifier: long)?.text == "x")
  }
}

import Foundation
import Testing

// README: begin
import GarageSQLite
import GarageStorage

final class Person: Codable, Identifiable {
  var id: String
  var birthday: Date?
  @Linked var siblings: [Person]  // a reference to each; may lead back here

  init(id: String) { self.id = id }
}

// README: pause

@Suite("The README's example")
struct ReadmeTests {
  @Test func runs() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("people.garage")

    // README: go on
    let sam = Person(id: "Sam")
    let nick = Person(id: "Nick")
    sam.siblings = [nick]
    nick.siblings = [sam]

    let garage = try Garage(SQLiteStorage(at: file))
    try garage.park(sam)  // Sam and everyone reachable, in one atomic write

    let found = try garage.retrieve(Person.self, identifier: "Nick")
    print(found?.siblings.first?.siblings.first === found)  // true: one object for one record

    try garage.write { writer in  // all or nothing
      try writer.delete(Person.self, identifier: "Sam")
      try writer.park(nick)
    }
    // README: end

    let person = try #require(found)
    #expect(person.siblings[0].siblings[0] === person)
    // Nick's sibling was parked along with him, again.
    #expect(try garage.count(Person.self) == 2)
    try garage.close()
    for person in [sam, nick, person] { person.siblings = [] }
  }

  @Test func isTheOneInTheReadme() throws {
    let lines = try String(contentsOfFile: #filePath, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    func part(from begin: String, to end: String, indent: Int) throws -> [Substring] {
      let first = try #require(lines.firstIndex { $0.hasSuffix("// README: \(begin)") })
      let last = try #require(lines.firstIndex { $0.hasSuffix("// README: \(end)") })
      return lines[(first + 1)..<last].map { $0.dropFirst(indent) }
    }
    let example =
      try part(from: "begin", to: "pause", indent: 0) + part(from: "go on", to: "end", indent: 4)

    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    #expect(readme.contains("```swift\n\(example.joined(separator: "\n"))\n```\n"))
  }
}

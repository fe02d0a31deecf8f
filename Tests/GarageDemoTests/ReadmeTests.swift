import Foundation
import Testing

// README: begin
import GarageSQLite
import GarageStorage

struct Project: Codable, Identifiable {
  var id: String
  var name: String
}

final class Issue: Codable, Identifiable {
  var id: Int
  var title: String
  var isClosed = false
  var project: Reference<Project>  // belongs to others, too: loaded when you ask for it
  @Linked var notes: [Note]  // its own parts: parked and loaded along with it

  init(id: Int, title: String, in project: Project) {
    (self.id, self.title) = (id, title)
    self.project = Reference(to: project)
  }
}

final class Note: Codable, Identifiable {
  var id: Int
  var text: String
  @Linked var issue: Issue?  // leads back: cycles close

  init(_ id: Int, _ text: String, on issue: Issue) {
    (self.id, self.text) = (id, text)
    self.issue = issue
  }
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
    let garden = Project(id: "garden", name: "Garden")
    let gate = Issue(id: 7, title: "The gate squeaks", in: garden)
    gate.notes = [Note(1, "Oil it.", on: gate)]

    let garage = try Garage(SQLiteStorage(at: file))
    try garage.park(garden)
    try garage.park(gate)  // the issue and all that can be reached from it, in one atomic write

    if let issue = try garage.retrieve(Issue.self, identifier: 7) {
      print(issue.notes[0].issue === issue)  // true: one object for one record
      print(try garage.retrieve(issue.project)?.name ?? "gone")  // Garden

      try garage.write { writer in  // all or nothing
        issue.isClosed = true
        try writer.park(issue)
        try writer.park(Project(id: "shed", name: "Shed"))
      }
    }
    // README: end

    let issue = try #require(try garage.retrieve(Issue.self, identifier: 7))
    #expect(issue.isClosed)
    #expect(issue.notes.map(\.text) == ["Oil it."])
    #expect(issue.notes[0].issue === issue)
    #expect(try garage.retrieve(issue.project)?.name == "Garden")
    #expect(try garage.count(Project.self) == 2)
    try garage.close()
    for issue in [gate, issue] { issue.notes = [] }
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

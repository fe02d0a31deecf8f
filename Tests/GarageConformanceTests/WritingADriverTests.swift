import Foundation
import GarageConformance
import Testing

/// What Docs/WritingADriver.md shows is what the targets of `Tests/Guide` compile and run, as they stand.
@Suite struct WritingADriverTests {
  @Test func showsWhatIsTested() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    var examples: [String: String] = [:]
    let files = [
      "Guide/MyStorage/ArrayStorage", "Guide/MyStorageChild/main", "Guide/MyStorageTests/ConformanceTests",
      "GarageConformanceTests/FaultyStorageTests",
    ]
    for name in files {
      let source = try String(
        contentsOf: tests.deletingLastPathComponent().appendingPathComponent("\(name).swift"), encoding: .utf8
      )
      var current: String?
      for line in source.components(separatedBy: "\n") {
        let mark = line.trimmingCharacters(in: .whitespaces)
        if mark.hasPrefix("// example: ") {
          current = String(mark.dropFirst(12))
        } else if mark == "// end" {
          current = nil
        } else if let current {
          // What stands in a function is shown at the margin.
          let shown = line.hasPrefix("    ") && current == "faults" ? String(line.dropFirst(4)) : line
          examples[current] = examples[current].map { "\($0)\n\(shown)" } ?? shown
        }
      }
    }
    let page = try String(contentsOf: root.appendingPathComponent("Docs/WritingADriver.md"), encoding: .utf8)
    var shown: Set<String> = []
    for part in page.components(separatedBy: "<!-- example: ").dropFirst() {
      let name = String(part.prefix { $0 != " " })
      let block = part.components(separatedBy: "```swift\n").dropFirst().first ?? ""
      let code = block.components(separatedBy: "\n```")[0]
      #expect(examples[name] == code, "the example \(name)")
      shown.insert(name)
    }
    #expect(shown == Set(examples.keys))
  }

  /// Every check that the page names is one.
  @Test func namesChecksThatExist() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("Docs/WritingADriver.md"), encoding: .utf8)
    let topics = Set(Conformance.checks.map { $0.name.split(separator: "/")[0] })
    var count = 0
    for match in page.matches(of: /`([a-z-]+)\/([a-z0-9-]+)`/) where topics.contains(match.1) {
      #expect(Conformance.check(named: "\(match.1)/\(match.2)") != nil, "\(match.1)/\(match.2)")
      count += 1
    }
    #expect(count > 10)
  }
}

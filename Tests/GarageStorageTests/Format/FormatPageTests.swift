import Foundation
import Testing

/// The example of `Docs/Format.md` is what is stored.
@Suite struct FormatPageTests {
  @Test func theExampleIsTheGoldenFile() throws {
    let page = testsFolder.deletingLastPathComponent().appending(path: "Docs/Format.md")
    let text = String(decoding: try Data(contentsOf: page), as: UTF8.self)
    let example = try #require(
      text.components(separatedBy: "<!-- example: golden subclass -->\n```\n").last?
        .components(separatedBy: "\n```").first)
    // An entry is a paragraph; what stands before two spaces is hexadecimal.
    let entries = example.components(separatedBy: "\n\n").map { paragraph in
      paragraph.split(separator: "\n").map { line in
        let bytes = line.components(separatedBy: "  ")[0]
        return bytes.replacing(" ", with: "")
      }.joined()
    }
    let recorded = try #require(try GoldenFiles.read("subclass"))
    #expect(entries == recorded.entries.map { hex($0.key) + hex($0.value) })
  }
}

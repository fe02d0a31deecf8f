import Foundation
import Testing

@testable import GarageCoding

private struct UnorderedLeaf: Codable, Identifiable {
  var id: String
}

private struct NumberedUnorderedLeaf: Codable, Identifiable {
  var id: Int
}

private struct UnorderedLinks: Codable, Identifiable {
  var id = 1
  var links: Set<URL>
}

private struct OrderedLinks: Codable, Identifiable {
  var id = 1
  var links: [URL]
}

/// Elements of sets and keys of dictionaries that are written without a coder of their own: text, URLs and references.
@Suite struct UnorderedElementTests {
  private static let links = [
    "https://example.org/b", "https://example.org/aa", "file:///tmp/x", "mailto:a@b.c",
  ]

  private static func link(_ text: String) throws -> URL { try found(URL(string: text)) }

  @Test func urlsOfASetAreWrittenAsThoseOfAnArray() throws {
    let links = try Self.links.map(Self.link)
    // The order of their bytes, which begin with the length.
    let ordered = links.sorted {
      ($0.absoluteString.utf8.count, $0.absoluteString) < ($1.absoluteString.utf8.count, $1.absoluteString)
    }
    let expected = try body(OrderedLinks(links: ordered))
    #expect(try body(UnorderedLinks(links: Set(links))) == expected)
    #expect(try body(UnorderedLinks(links: Set(links.reversed()))) == expected)
  }

  @Test func urlsComeBack() throws {
    let links = try Set(Self.links.map(Self.link))
    #expect(try copy(links) == links)
    let counts = Dictionary(uniqueKeysWithValues: links.map { ($0, $0.absoluteString.utf8.count) })
    #expect(try copy(counts) == counts)
  }

  /// Such a URL has two parts, and is no text as the others are.
  @Test func aURLWithABaseComesBackBesideOthers() throws {
    let base = try Self.link("https://example.org/folder/")
    let relative = try found(URL(string: "file", relativeTo: base))
    for others in [[], try Self.links.map(Self.link)] {
      let links = Set(others + [relative])
      let read = try copy(links)
      #expect(read == links)
      #expect(read.contains { $0.baseURL == base && $0.relativeString == "file" })
      let counts = Dictionary(uniqueKeysWithValues: links.map { ($0, 1) })
      #expect(try copy(counts) == counts)
    }
  }

  /// Elements are put in order by their composed form, and written as they are.
  @Test(arguments: ["e\u{301}", "\u{212B}", "\u{212A}", "é", "a"])
  func textComesBackAsItWas(_ letter: String) throws {
    let texts = [
      letter, letter + " with more than fifteen bytes", String(repeating: letter, count: 40), "plain",
    ]
    let read = try copy(Set(texts))
    #expect(Set(read.map { Array($0.utf8) }) == Set(texts.map { Array($0.utf8) }))
  }

  @Test func referencesComeBack() throws {
    let names = (0..<20).map { Reference(UnorderedLeaf.self, identifier: "leaf \($0)") }
    let set = Set(names)
    #expect(set.count == 20)
    #expect(try copy(set) == set)
    let counts = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    #expect(try copy(counts) == counts)
    #expect(try body(Owner(set)) == body(Owner(Set(names.reversed()))))
  }

  /// One whose identifier stands for no `id` of its type has no identity to be written.
  @Test func aReferenceThatNamesNothingThrows() {
    let names: Set = [
      Reference(NumberedUnorderedLeaf.self, identifier: 1),
      Reference(NumberedUnorderedLeaf.self, identifier: "x"),
    ]
    #expect(throws: GraphCodingError.self) { try body(Owner(names)) }
  }
}

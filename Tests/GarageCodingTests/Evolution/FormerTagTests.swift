import Foundation
import Testing

@testable import GarageCoding

private final class Before: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "app.OldName" }
  var id: Int, next: Before?, text = "old"
  init(_ id: Int, _ next: Before? = nil) { (self.id, self.next) = (id, next) }
}
private final class After: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "name" }
  static var formerTypeTags: [String] { ["never", "app.OldName", "older"] }
  var id: Int, next: After?, text: String
  init(_ id: Int, _ next: After? = nil, text: String) { (self.id, self.next, self.text) = (id, next, text) }
}
private struct HoldsBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "holds" }; var id = 1, list: [Before], lazy: Reference<Before>? = nil
}
private struct HoldsAfter: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "holds" }
  var id = 1, list: [After], lazy: Reference<After>? = nil
}

/// Records and references under a name that a type had before are found, whether or not the type is registered.
@Suite struct FormerTagTests {
  private func identity(_ id: Int, _ tag: String = "name") throws -> RecordIdentity {
    RecordIdentity(tag: TypeTag(name: tag).digest, identifier: try Identifier(id, canonical: canonicalBytes))
  }

  @Test(arguments: [false, true]) func recordsUnderTheOldTag(isRegistered: Bool) throws {
    let source = DictionarySource()
    source.add(try GraphEncoder().encode([Before(1, Before(2))]))
    let types: [any Codable.Type] = isRegistered ? [After.self] : []
    #expect(try decode(After.self, identity(1), from: source, types: types)?.next?.id == 2)
    #expect(try decode(After.self, identity(1, "app.OldName"), from: source, types: types)?.next?.id == 2)
    #expect(try decode(After.self, identity(3), from: source, types: types) == nil)
  }

  @Test(arguments: [false, true]) func referencesWithTheOldTag(isRegistered: Bool) throws {
    let types: [any Codable.Type] = isRegistered ? [After.self] : []
    let source = DictionarySource()
    let shared = Before(1)
    let holder = try GraphEncoder().encode([
      HoldsBefore(list: [shared, Before(2), shared], lazy: Reference(to: shared))
    ])
    source.add(holder)
    var copy = try #require(try decode(HoldsAfter.self, holder.roots[0], from: source, types: types))
    #expect(copy.list.map(\.id) == [1, 2, 1] && copy.list[0] === copy.list[2] && copy.list[0].text == "old")
    let lazy = try #require(copy.lazy).identity
    #expect(try decode(After.self, lazy, from: source, types: types)?.id == 1)

    // One was parked again, under the new tag; whoever writes it removes the old record.
    let parked = try GraphEncoder().encode([After(1, text: "new")])
    #expect(
      parked.records[0].formerTags == ["never", "app.OldName", "older"].map { TypeTag(name: $0).digest })
    source.add(parked)
    let old = withUnsafeBytes(of: TypeTag(name: "app.OldName").digest.bigEndian) { Array($0) }
    for key in source.records.keys where key.starts(with: old) && key.last == 1 { source.records[key] = nil }
    copy = try #require(try decode(HoldsAfter.self, holder.roots[0], from: source, types: types))
    #expect(copy.list.map(\.text) == ["new", "old", "new"] && copy.list[0] === copy.list[2])
    #expect(try decode(After.self, lazy, from: source, types: types)?.text == "new")
    // Both names in one graph are one object.
    let mixed = try GraphEncoder().encode([
      HoldsAfter(list: [After(1, After(5, text: "five"), text: "newest")])
    ])
    source.add(mixed)
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes(types))
    let first = try session.object(After.self, identity(1, "app.OldName")),
      second = try session.object(After.self, identity(1))
    #expect(first === second && first?.text == "newest")
  }

  @Test func longChainsUnderTheOldTag() throws {
    try onSmallStack {
      let source = DictionarySource()
      let count = 20_000
      var chain = Before(0)
      for index in 1..<count { chain = Before(index, chain) }
      let graph = try GraphEncoder().encode([HoldsBefore(list: [chain])])
      source.add(graph)
      func take(_ start: Before) {
        var next: Before? = start; while let current = next { next = current.next; current.next = nil }
      }
      func takeAfter(_ start: After) -> Int {
        var count = 0
        var next: After? = start
        while let current = next { next = current.next; current.next = nil; count += 1 }
        return count
      }
      take(chain)
      // A third of them was parked again.
      for index in stride(from: 0, to: count, by: 3) {
        let parked = After(index, text: "new")
        if index > 0 { parked.next = After(index - 1, text: "") }
        source.add(try GraphEncoder().encode([parked]), count: 1)
        let old = try identity(index, "app.OldName")
        source.records[withUnsafeBytes(of: old.tag.bigEndian) { Array($0) } + old.identifier.keyBytes] = nil
      }
      let head = try #require(try decode(HoldsAfter.self, graph.roots[0], from: source)).list[0]
      #expect(takeAfter(head) == count)
    }
  }
}

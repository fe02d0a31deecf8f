import Foundation
import GarageDriver
import GarageStorage
import Testing

// Errors of decoding name the record that was being read: the one that holds what cannot be read.

private struct HandPage: Codable, Identifiable { var id: Int }
private struct HandSection: Codable { var pages: [HandPage] }
private struct HandBook: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "book in hand" }
  var id: String
  var sections: [String: HandSection]
  static func make(_ id: String, _ pages: [Int]) -> HandBook {
    HandBook(id: id, sections: ["one": HandSection(pages: pages.map { HandPage(id: $0) })])
  }
}
private struct HandShelf: Codable, Identifiable {
  var id = "shelf"
  var books: [HandBook]
}
private struct HandLinkedShelf: Codable, Identifiable {
  var id = "linked shelf"
  @Linked var pages: [HandPage]
}
private final class HandMappedShelf: MappableObject {
  var name = ""
  var pages: [HandPage] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: HandMappedShelf.self)
    mapping.add("name", \HandMappedShelf.name)
    mapping.add("all pages", \HandMappedShelf.pages)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}
private final class HandAnonymousShelf: MappableObject {
  var pages: [HandPage] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: HandAnonymousShelf.self)
    mapping.add("pages", \HandAnonymousShelf.pages)
    return mapping
  }
}
/// The same book, as a program declares it that wants more of it.
private struct HandOtherBook: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "book in hand" }
  var id: String
  var title: String
}
private struct HandWrongBook: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "book in hand" }
  var id: String
  var sections: [String: Wrong]
  struct Wrong: Codable { var pages: [String] }
}
private struct PageTask: Codable, Identifiable, Syncable {
  var id: Int
  var page: HandPage
  var syncStatus = SyncStatus.notSynced
}
private enum HandDesk: Namespace { static let id = "desk" }

@Suite struct ErrorContextTests {
  private func context(_ error: any Error) -> DecodingError.Context? {
    switch error {
    case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
      DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      context
    default: nil
    }
  }

  /// The error is about this path in the record of that object.
  private func expect(
    _ type: String, _ id: String, at path: [String], saying text: String? = nil,
    _ location: SourceLocation = #_sourceLocation, _ verb: () throws -> Void
  ) {
    #expect(sourceLocation: location) { try verb() } throws: { error in
      guard let context = context(error) else { return false }
      let found = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      return found == path && (text == nil || context.debugDescription == text)
        && "\(error)".contains("\(type) \"\(id)\"") && "\(error)".contains(path.last!)
    }
  }

  private let missing = "Missing Identifiable reference of type: HandPage with id: 2"

  @Test(arguments: Backend.allCases)
  func aMissingTargetNamesItsHolder(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(HandShelf(books: [.make("a", [1]), .make("b", [1, 2])]))
    var linked = HandLinkedShelf()
    linked.pages = [HandPage(id: 1), HandPage(id: 2)]
    try garage.park(linked)
    let mapped = HandMappedShelf()
    (mapped.name, mapped.pages) = ("mapped", [HandPage(id: 2)])
    try garage.park(mapped)
    let anonymous = HandAnonymousShelf()
    anonymous.pages = [HandPage(id: 2)]
    try garage.park(anonymous)
    try garage.delete(HandPage.self, identifier: 2)
    garage = try place.reopened(garage)
    let path = ["sections", "one", "pages", "1"]
    expect("HandBook", "b", at: path, saying: missing) {
      _ = try garage.retrieve(HandBook.self, identifier: "b")
    }
    expect("HandBook", "b", at: path, saying: missing) { _ = try garage.retrieveAll(HandBook.self) }
    expect("HandBook", "b", at: path, saying: missing) { try garage.forEach(HandBook.self) { _ in } }
    expect("HandBook", "b", at: path, saying: missing) {
      try garage.write { writer in try writer.forEach(HandBook.self) { _ in } }
    }
    // Not the object that was asked for, but the one that holds the reference.
    expect("HandBook", "b", at: path, saying: missing) {
      _ = try garage.retrieve(HandShelf.self, identifier: "shelf")
    }
    expect("HandLinkedShelf", "linked shelf", at: ["pages", "1"], saying: missing) {
      _ = try garage.retrieveAll(HandLinkedShelf.self)
    }
    expect("HandMappedShelf", "mapped", at: ["all pages", "0"], saying: missing) {
      _ = try garage.retrieve(HandMappedShelf.self, identifier: "mapped")
    }
    let digest = try garage.identifier(for: anonymous)
    expect("HandAnonymousShelf", "\(digest)", at: ["pages", "0"], saying: missing) {
      _ = try garage.retrieveAll(HandAnonymousShelf.self)
    }
  }

  @Test(arguments: Backend.allCases)
  func whateverElseDoesNotFit(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([HandBook.make("a", [1]), .make("b", [1])])
    expect("HandWrongBook", "a", at: ["sections", "one", "pages", "0"]) {
      _ = try garage.retrieveAll(HandWrongBook.self)
    }
    #expect { try garage.retrieve(HandOtherBook.self, identifier: "b") } throws: { error in
      "\(error)".contains("HandOtherBook \"b\"") && "\(error)".contains("title")
    }
  }

  @Test(arguments: Backend.allCases)
  func byStatusAndUnderKeys(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([PageTask(id: 1, page: HandPage(id: 1)), PageTask(id: 7, page: HandPage(id: 2))])
    let key = Key<HandDesk, [PageTask]>(id: "jobs", defaultValue: [])
    try garage.set(
      key, value: [PageTask(id: 1, page: HandPage(id: 1)), PageTask(id: 7, page: HandPage(id: 2))])
    try garage.delete(HandPage.self, identifier: 2)
    expect("PageTask", "7", at: ["page"], saying: missing) {
      _ = try garage.retrieveAll(PageTask.self, withStatus: .notSynced)
    }
    #expect { try garage.get(key) } throws: { error in
      "\(error)".contains(missing) && "\(error)".contains("PageTask \"7\"") && "\(error)".contains("page")
        && "\(error)".contains("desk:jobs")
    }
  }

  @Test(arguments: Backend.allCases)
  func aValueOfANewerVersionNamesItsHolder(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(HandCase<HandNewer>(id: 7, parts: [HandNewer(text: "x")]))
    #expect(
      throws: GarageError.newerTypeVersion(
        type: "HandOlder", identifier: "parts[0] of HandCase<HandOlder> 7", version: 4, known: 2)
    ) { try garage.retrieve(HandCase<HandOlder>.self, identifier: 7) }
  }
}

private struct HandNewer: Codable, Evolving {
  var text: String
  static var version: Int { 4 }
}
private struct HandOlder: Codable, Evolving {
  var text: String
  static var version: Int { 2 }
}
private struct HandCase<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "case in hand" }
  var id: Int
  var parts: [Value]
}

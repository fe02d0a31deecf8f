import Foundation
import GarageDriver
import GarageStorage
import Testing

// Targets of all kinds that stood inside their owners, and what they hold themselves.

/// An owner of one value, as programs of different days declare it.
private struct StandingHolder<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "holder of something" }
  var id: Int
  var value: Value
}

// MARK: Nested

private struct StandingLeafBefore: Codable { var id: Int, text: String }
private struct StandingLeaf: Codable, Identifiable { var id: Int, text: String }
private struct StandingTwigBefore: Codable {
  var id: Int
  var leaf: StandingLeafBefore
  var other: StandingLeafBefore
}
/// One of its leaves is named by a reference now, the other a record of its own.
private struct StandingTwig: Codable, Identifiable {
  var id: Int
  var leaf: Reference<StandingLeaf>
  var other: StandingLeaf
}

// MARK: Identifiers that are new

private struct StandingNameless: Codable { var text: String }
private struct StandingNamed: Codable, Identifiable {
  var id: UUID
  var text: String
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decodeIfPresent(UUID.self, forKey: .id) ?? UUID()
    text = try container.decode(String.self, forKey: .text)
  }
}
private struct StandingNumbered: Codable, Identifiable, Evolving {
  var id: UUID
  var words: String
  var added: Int
  static var version: Int { 2 }
  static var propertyAliases: [String: [String]] { ["words": ["text"]] }
  static var prototype: StandingNumbered? { StandingNumbered(id: UUID(), words: "", added: 5) }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    record["id"] = .uuid(UUID())
  }
}

// MARK: Objects

private final class StandingNodeBefore: Codable {
  var id: Int, name: String, next: StandingNodeBefore?
  init(_ id: Int, _ next: StandingNodeBefore? = nil) { (self.id, name, self.next) = (id, "node \(id)", next) }
}
private final class StandingNode: Codable, Identifiable {
  var id: Int
  var name: String
  @Linked var next: StandingNode?
}
private final class StandingMappedTarget: MappableObject, Identifiable {
  var id = 0
  var name = ""
  var parts: [StandingLeaf] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: StandingMappedTarget.self)
    mapping.addMappings([
      "id": \StandingMappedTarget.id, "name": \StandingMappedTarget.name,
      "parts": \StandingMappedTarget.parts,
    ])
    return mapping
  }
}
private struct StandingMappedBefore: Codable { var id: Int, name: String, parts: [StandingLeafBefore] }
private final class StandingMappedHolder: MappableObject {
  var id = 0
  var value: Reference<StandingLeaf>?
  var list: [Reference<StandingLeaf>] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: StandingMappedHolder.self)
    mapping.addMappings([
      "id": \StandingMappedHolder.id, "value": \StandingMappedHolder.value,
      "list": \StandingMappedHolder.list,
    ])
    mapping.identifyingAttribute = "id"
    return mapping
  }
}
private final class StandingMappedHolderBefore: MappableObject {
  var id = 0
  var value: StandingLeafBefore?
  var list: [StandingLeafBefore] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: StandingMappedHolderBefore.self)
    mapping.addMappings([
      "id": \StandingMappedHolderBefore.id, "value": \StandingMappedHolderBefore.value,
      "list": \StandingMappedHolderBefore.list,
    ])
    mapping.identifyingAttribute = "id"
    return mapping
  }
}
extension StandingMappedHolder: TypeTagged { static var typeTag: String { "mapped holder" } }
extension StandingMappedHolderBefore: TypeTagged { static var typeTag: String { "mapped holder" } }

private struct StandingSyncedBefore: Codable, Syncable {
  var id: Int
  var syncStatus = SyncStatus.notSynced
  enum CodingKeys: CodingKey { case id }
}
private struct StandingSynced: Codable, Identifiable, Syncable {
  var id: Int
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: CodingKey { case id }
}
private enum StandingColour: String, Codable, Identifiable { case red, blue; var id: Self { self } }
private struct StandingRenamed: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renamed leaf" }
  static var formerTypeTags: [String] { ["former leaf"] }
  var id: Int, text: String
}
private struct StandingFormerLeaf: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "former leaf" }
  var id: Int, text: String
}
private struct StandingRefusedBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "refusing" }
  var id: Int
}
private struct StandingRefusing: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "refusing" }
  struct No: Error {}
  var id: Int
  func encode(to encoder: any Encoder) throws { throw No() }
  enum CodingKeys: CodingKey { case id }
  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
  }
}
private enum StandingDrawer: Namespace { static let id = "standing drawer" }

@Suite struct InlineTargetTests {
  /// Parks as one program, reads as the next, before and after the owner is parked or migrated.
  private func change<Before: Codable, Target: Codable & Identifiable>(
    _ backend: Backend, _ before: Before, _ type: Target.Type,
    _ check: (Reference<Target>, Target, Garage) throws -> Void
  ) throws {
    for migrates in [false, true] {
      let place = try Place(backend)
      var garage = try place.garage()
      try garage.park(StandingHolder(id: 1, value: before))
      garage = try place.reopened(garage)
      func verify() throws {
        let link = try #require(try garage.retrieve(StandingHolder<Reference<Target>>.self, identifier: 1))
          .value
        try check(link, try #require(try garage.retrieve(link)), garage)
      }
      try verify()
      if migrates {
        let report = try garage.migrateAll(StandingHolder<Reference<Target>>.self)
        #expect(report.rewritten == 1 && report.failedCount == 0)
      } else {
        try garage.park(
          try #require(try garage.retrieve(StandingHolder<Reference<Target>>.self, identifier: 1)))
      }
      garage = try place.reopened(garage)
      #expect(try garage.count(Target.self) >= 1)
      try verify()
      // What was parked is as any other record of its type.
      #expect(try garage.migrateAll(Target.self).failedCount == 0)
      try verify()
    }
  }

  @Test(arguments: Backend.allCases)
  func whatTheyHoldComesAlong(_ backend: Backend) throws {
    let leaf = { StandingLeafBefore(id: $0, text: "leaf \($0)") }
    try change(backend, StandingTwigBefore(id: 1, leaf: leaf(2), other: leaf(3)), StandingTwig.self) {
      _, twig, garage in
      #expect(twig.other.text == "leaf 3")
      let leaf = try garage.retrieve(twig.leaf)
      #expect(leaf?.text == "leaf 2")
    }
    // A target alone, parked before its owner.
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(StandingHolder(id: 1, value: StandingTwigBefore(id: 1, leaf: leaf(2), other: leaf(3))))
    let link = try #require(try garage.retrieve(StandingHolder<Reference<StandingTwig>>.self, identifier: 1))
      .value
    try garage.park(try #require(try garage.retrieve(link)))
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll(StandingLeaf.self).map(\.text) == ["leaf 2", "leaf 3"])
    #expect(try garage.retrieve(StandingTwig.self, identifier: 1)?.other.text == "leaf 3")
  }

  @Test(arguments: Backend.allCases)
  func identifiersThatAreMadeWhileReading(_ backend: Backend) throws {
    try change(backend, StandingNameless(text: "a"), StandingNamed.self) { link, named, _ in
      #expect(named.text == "a" && link == Reference(to: named))
    }
    try change(backend, StandingNameless(text: "a"), StandingNumbered.self) { link, numbered, _ in
      #expect(numbered.words == "a" && numbered.added == 5 && link == Reference(to: numbered))
    }
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<200).map { StandingHolder(id: $0, value: StandingNameless(text: "text \($0)")) })
    #expect(try garage.migrateAll(StandingHolder<Reference<StandingNamed>>.self).rewritten == 200)
    #expect(try Set(garage.retrieveAll(StandingNamed.self).map(\.text)).count == 200)
    let all = try garage.retrieveAll(StandingHolder<Reference<StandingNamed>>.self)
    for holder in all { #expect(try garage.retrieve(holder.value)?.text == "text \(holder.id)") }
  }

  @Test(arguments: Backend.allCases)
  func objectsOfClasses(_ backend: Backend) throws {
    try change(backend, StandingNodeBefore(1, StandingNodeBefore(2)), StandingNode.self) { _, node, _ in
      #expect(node.name == "node 1" && node.next?.name == "node 2")
    }
    let before = StandingMappedBefore(id: 1, name: "m", parts: [StandingLeafBefore(id: 7, text: "seven")])
    try change(backend, before, StandingMappedTarget.self) { _, target, _ in
      #expect(target.name == "m" && target.parts.map(\.text) == ["seven"])
    }
    try change(backend, "red", StandingColour.self) { link, colour, _ in
      #expect(colour == .red && link == Reference(to: .red))
    }
  }

  @Test(arguments: Backend.allCases)
  func inMappedObjects(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let before = StandingMappedHolderBefore()
    before.value = StandingLeafBefore(id: 1, text: "one")
    before.list = [StandingLeafBefore(id: 2, text: "two"), StandingLeafBefore(id: 1, text: "other one")]
    try garage.park(before)
    for _ in 0..<2 {
      garage = try place.reopened(garage)
      let holder = try #require(try garage.retrieve(StandingMappedHolder.self, identifier: 0))
      #expect(try holder.value.flatMap { try garage.retrieve($0) }?.text == "one")
      #expect(try garage.retrieve(holder.list[0])?.text == "two")
      try garage.park(holder)
      #expect(try garage.count(StandingLeaf.self) == 2)
    }
  }

  @Test(arguments: Backend.allCases)
  func statusesComeAlong(_ backend: Backend) throws {
    try change(backend, StandingSyncedBefore(id: 1, syncStatus: .syncing), StandingSynced.self) {
      _, synced, garage in
      #expect(synced.syncStatus == .syncing)
      if try garage.count(StandingSynced.self) > 0 {
        #expect(try garage.retrieveAll(StandingSynced.self, withStatus: .syncing).map(\.id) == [1])
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func underKeysToo(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let before = Key<StandingDrawer, [StandingLeafBefore]>(id: "leaves", defaultValue: [])
    let now = Key<StandingDrawer, [Reference<StandingLeaf>]>(id: "leaves", defaultValue: [])
    try garage.set(before, value: (1...3).map { StandingLeafBefore(id: $0, text: "leaf \($0)") })
    for _ in 0..<2 {
      garage = try place.reopened(garage)
      let links = try garage.get(now)
      #expect(try links.map { try garage.retrieve($0)?.text } == ["leaf 1", "leaf 2", "leaf 3"])
      try garage.set(now, value: links)
      #expect(try garage.count(StandingLeaf.self) == 3)
    }
  }

  /// Set in a task, it is the garage's as well: deleted since, it stays deleted.
  @Test(arguments: Backend.allCases)
  func underKeysThatATaskSets(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let before = Key<StandingDrawer, StandingLeafBefore?>(id: "leaf", defaultValue: nil)
    let now = Key<StandingDrawer, Reference<StandingLeaf>?>(id: "leaf", defaultValue: nil)
    try await garage.set(before, value: StandingLeafBefore(id: 1, text: "leaf"))
    let found = try await garage.get(now)
    let link = try #require(found)
    try await garage.set(now, value: link)
    let parked = try await garage.retrieve(StandingLeaf.self, identifier: 1)
    #expect(parked?.text == "leaf")
    try await garage.delete(StandingLeaf.self, identifier: 1)
    let deleted = try await garage.retrieve(link)
    #expect(deleted?.text == nil)
    try await garage.set(now, value: link)
    let count = try await garage.count(StandingLeaf.self)
    #expect(count == 0)
  }

  @Test(arguments: Backend.allCases)
  func aRecordUnderAFormerTagIsThere(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(StandingFormerLeaf(id: 1, text: "parked"))
    try garage.park(StandingHolder(id: 1, value: StandingLeafBefore(id: 1, text: "inline")))
    let holder = try #require(
      try garage.retrieve(StandingHolder<Reference<StandingRenamed>>.self, identifier: 1))
    #expect(try garage.retrieve(holder.value)?.text == "parked")
    try garage.park(holder)
    #expect(try garage.retrieve(holder.value)?.text == "parked" && garage.count(StandingRenamed.self) == 1)
  }

  /// Nothing is dropped where the target cannot be encoded: reading works, and parking says why not.
  @Test(arguments: Backend.allCases)
  func aTargetThatRefusesToBeEncoded(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(StandingHolder(id: 1, value: StandingSynced(id: 1)))
    try garage.park(StandingHolder(id: 2, value: StandingLeafBefore(id: 1, text: "x")))
    let holder = try #require(
      try garage.retrieve(StandingHolder<Reference<StandingRefusing>>.self, identifier: 2))
    #expect(throws: StandingRefusing.No.self) { try garage.retrieve(holder.value) }
    #expect(throws: StandingRefusing.No.self) { try garage.park(holder) }
    let report = try garage.migrateAll(StandingHolder<Reference<StandingRefusing>>.self)
    #expect(report.failed.map(\.identifier) == ["2"])
    #expect(try garage.retrieve(StandingHolder<StandingLeafBefore>.self, identifier: 2)?.value.text == "x")
    // Where there is a record, that is the one.
    try garage.park(StandingRefusedBefore(id: 1))
    #expect(try garage.retrieve(holder.value)?.id == 1)
  }
}

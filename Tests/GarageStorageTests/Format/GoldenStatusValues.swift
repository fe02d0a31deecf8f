import Foundation
import GarageStorage
import Testing

// Sync statuses, versions of types, mapped objects and dates in other forms: types and rows of golden values. Their
// tags, properties and keys are stored: they never change.

/// Its status is not among its fields.
struct GoldenTask: Codable, Identifiable, Syncable, Equatable, TypeTagged {
  static var typeTag: String { "golden task" }
  var id: String
  var title = "title"
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: CodingKey { case id, title }
}

/// Has no identity, and a status.
struct GoldenLabel: Codable, Equatable, Syncable {
  var text: String
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: CodingKey { case text }
}

/// Identified by its content, of which its status is no part.
struct GoldenRemark: Codable, Hashable, Syncable, TypeTagged {
  static var typeTag: String { "golden remark" }
  var text: String
  var syncStatus = SyncStatus.undetermined
}

/// Has a version of one byte, as a record and inline.
struct GoldenEdition: Evolving, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "golden edition" }
  static var version: Int { 3 }
  var id: Int
  var name: String
  var cover: GoldenCover?
}

/// Stands inline with a version of two bytes.
struct GoldenCover: Evolving, Equatable {
  static var version: Int { 300 }
  var color: String
}

/// Stands inline with a version and a status.
struct GoldenStamp: Evolving, Equatable, Syncable {
  static var version: Int { 2 }
  var number: Int
  var syncStatus = SyncStatus.undetermined
}

/// A record with a version of two bytes.
struct GoldenOldType: Evolving, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "golden old type" }
  static var version: Int { 16_383 }
  var id = 1
}

/// Lists what is stored of it.
final class GoldenBoat: MappableObject, TypeTagged {
  static var typeTag: String { "golden boat" }
  var name = ""
  var length: Double?
  var flag: GoldenFlag?
  var escort: GoldenBoat?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: GoldenBoat.self)
    mapping.add("name", \GoldenBoat.name)
    mapping.add("length", \GoldenBoat.length)
    mapping.add("flag", \GoldenBoat.flag)
    mapping.add("escort", \GoldenBoat.escort)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Mapped, and anonymous inside others.
final class GoldenFlag: MappableObject {
  var color = ""
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: GoldenFlag.self)
    mapping.add("color", \GoldenFlag.color)
    return mapping
  }
}

private let allStatuses: [SyncStatus] = [.undetermined, .notSynced, .syncing, .synced]
private let tasks = allStatuses.map { GoldenTask(id: "task \($0.rawValue)", syncStatus: $0) }
private let longTask = GoldenTask(id: String(repeating: "x", count: 1000), syncStatus: .synced)
private let date = Date(timeIntervalSinceReferenceDate: 123_456_789.25)

private func taskJSON(_ id: String) -> String { "{\"id\":\"\(id)\",\"title\":\"title\"}" }

/// Statuses beside records, and before inline values.
@GoldenRows var goldenStatuses: [GoldenValue] {
  GoldenValue(
    name: "sync statuses", park: { try $0.parkAll(tasks) },
    check: { garage in
      for (status, task) in zip(allStatuses, tasks) {
        let found = try garage.retrieveAll(GoldenTask.self, withStatus: status)
        #expect(found == [task])
      }
    }, json: { taskJSON("task 0") }, tag: "golden task")
  GoldenValue(
    name: "sync status that was set",
    park: { garage in
      try garage.park(tasks[1])
      try garage.setSyncStatus(.synced, for: tasks[1])
    },
    check: { garage in
      let found = try garage.retrieveAll(GoldenTask.self, withStatus: .synced).map(\.id)
      #expect(found == [tasks[1].id])
      let before = try garage.retrieveAll(GoldenTask.self, withStatus: .notSynced)
      #expect(before.isEmpty)
    }, json: { taskJSON("task 1") }, tag: "golden task")
  goldenObject("sync status of a long identifier", tag: "golden task", json: taskJSON(longTask.id), by: ==) {
    longTask
  }
  golden(
    "sync statuses of inline values",
    json: "[{\"text\":\"0\"},{\"text\":\"1\"},{\"text\":\"2\"},{\"text\":\"3\"},null]",
    allStatuses.map { GoldenLabel(text: "\($0.rawValue)", syncStatus: $0) } + [nil] as [GoldenLabel?])
  goldenContent(
    "sync status of a value identified by content", tag: "golden remark",
    GoldenRemark(text: "r", syncStatus: .syncing))
}

/// Versions of types, mapped objects, and dates in another form than their own.
@GoldenRows var goldenForms: [GoldenValue] {
  goldenObject("version", tag: "golden edition", by: ==) {
    GoldenEdition(id: 1, name: "one", cover: GoldenCover(color: "red"))
  }
  goldenObject("version of two bytes", tag: "golden old type", by: ==) { GoldenOldType() }
  golden("versions of inline values", [GoldenCover(color: "red"), nil, GoldenCover(color: "green")])
  golden(
    "version and sync status of an inline value",
    [GoldenStamp(number: 1, syncStatus: .notSynced), GoldenStamp(number: 2, syncStatus: .synced)])
  GoldenValue(
    name: "mapped object",
    park: { garage in
      let (boat, escort, flag) = (GoldenBoat(), GoldenBoat(), GoldenFlag())
      (boat.name, escort.name, flag.color) = ("a", "b", "red")
      (boat.flag, boat.escort, escort.escort, escort.length) = (flag, escort, boat, 9.5)
      try garage.park(boat)
      escort.escort = nil
    },
    check: { garage in
      let boat = try #require(try garage.retrieve(GoldenBoat.self, identifier: "a"))
      #expect(boat.length == nil && boat.flag?.color == "red" && boat.escort?.length == 9.5)
      #expect(boat.escort?.escort === boat)
      boat.escort = nil
    },
    json: {
      "{\"name\":\"a\",\"flag\":{\"color\":\"red\"},"
        + "\"escort\":{\"$reference\":{\"type\":\"golden boat\",\"id\":\"b\"}}}"
    },
    tag: "golden boat")
  GoldenValue(
    name: "date as text",
    park: { garage in
      try garage.withDateEncodingStrategy(.iso8601) { try garage.park(GoldenBox(value: [date])) }
    },
    check: { garage in
      let box = try garage.withDateDecodingStrategy(.iso8601) {
        try garage.retrieve(GoldenBox<[Date]>.self, identifier: 1)
      }
      #expect(box?.value == [Date(timeIntervalSinceReferenceDate: 123_456_789)])
    },
    json: { "{\"id\":1,\"value\":[\"2004-11-29T21:33:09Z\"]}" }, tag: "golden box")
}

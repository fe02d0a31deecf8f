import Foundation
import GarageStorage

// The model of a to-do list, as three releases of an app have it, one after the other. An app has only its
// present one: what the older ones left in the store is read by it.

enum FirstRelease {
  struct Person: Codable, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "Person" }
    var id: String  // An e-mail address.
    var name: String
  }

  struct Tag: Interned, TypeTagged {
    static var typeTag: String { "Tag" }
    var name: String
    var color: String
  }

  struct ToDo: Codable, Identifiable, Equatable, Syncable, TypeTagged {
    // With a tag of its own the type may be renamed and moved.
    static var typeTag: String { "ToDo" }
    var id = UUID()
    var title: String
    var isDone = false
    var due: Date?
    var assignee: Person?  // A reference: the person has a record of their own.
    var tags: [Tag] = []  // Each tag is stored once.
    var after: Reference<ToDo>?  // What has to be done before; loaded when it is asked for.
    var syncStatus = SyncStatus.notSynced

    // The status is ours: the web service does not get to see it.
    enum CodingKeys: CodingKey { case id, title, isDone, due, assignee, tags, after }
  }
}

enum SecondRelease {
  typealias Tag = FirstRelease.Tag

  struct Person: Evolving, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "Person" }
    var id: String
    var fullName: String  // Renamed.

    static var propertyAliases: [String: [String]] { ["fullName": ["name"]] }
  }

  struct ToDo: Evolving, Identifiable, Equatable, Syncable, TypeTagged {
    static var typeTag: String { "ToDo" }
    var id = UUID()
    var title: String
    var isDone = false
    var priority = 2  // Added. Older records have the prototype's.
    var due: Date?
    var assignee: Person?
    var tags: [Tag] = []
    var after: Reference<ToDo>?
    var syncStatus = SyncStatus.notSynced

    enum CodingKeys: CodingKey { case id, title, isDone, priority, due, assignee, tags, after }
    static var prototype: ToDo? { ToDo(title: "") }
  }
}

enum ThirdRelease {
  typealias Person = SecondRelease.Person
  typealias Tag = SecondRelease.Tag

  enum Progress: String, Codable { case open, started, done }

  /// Was `ToDo`.
  struct Task: Evolving, Identifiable, Equatable, Syncable, TypeTagged {
    static var typeTag: String { "Task" }
    static var formerTypeTags: [String] { ["ToDo"] }
    var id = UUID()
    var title: String
    var progress = Progress.open  // Was `isDone`.
    var priority = 2
    var due: Date?
    var assignee: Person?
    var tags: [Tag] = []
    var after: Reference<Task>?
    var syncStatus = SyncStatus.notSynced

    enum CodingKeys: CodingKey { case id, title, progress, priority, due, assignee, tags, after }
    static var prototype: Task? { Task(title: "") }
    static var version: Int { 1 }
    static func upgrade(_ record: inout RecordValue, from version: Int) throws {
      let isDone = record.remove("isDone")?.boolValue ?? false
      record["progress"] = .string((isDone ? Progress.done : .open).rawValue)
    }
  }
}

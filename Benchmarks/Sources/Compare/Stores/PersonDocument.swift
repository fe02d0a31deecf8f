import Foundation
import GRDB

// JSON coders are made once: equal terms. Foundation's may be used by several threads.
private let jsonEncoder = JSONEncoder()
private let jsonDecoder = JSONDecoder()

/// A Codable record as GRDB's guide has it: a column for each property; address, dates and lists are columns of
/// JSON.
extension Person: FetchableRecord, PersistableRecord {
  static let databaseTableName = "person"

  // The exact and fastest form of a date, where the default is text and cuts it at milliseconds.
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseJSONEncoder(for column: String) -> JSONEncoder { jsonEncoder }
  static func databaseJSONDecoder(for column: String) -> JSONDecoder { jsonDecoder }

  static func makeTable(_ db: Database) throws {
    try db.create(table: "person") { table in
      table.primaryKey("id", .text)
      table.column("name", .text).notNull().indexed()
      table.column("age", .integer).notNull()
      table.column("birthdate", .double).notNull()
      for name in ["address", "dates", "tags"] { table.column(name, .jsonText).notNull() }
      table.column("partner", .text).notNull()
      table.column("friends", .jsonText).notNull()
    }
  }
}

/// The other usual way: the identifier, and all of the object in one column of JSON.
struct PersonDocument: FetchableRecord, PersistableRecord {
  static let databaseTableName = "document"
  var person: Person

  init(_ person: Person) { self.person = person }

  init(row: Row) throws {
    let json: Data = row[1]
    person = try jsonDecoder.decode(Person.self, from: json)
  }

  func encode(to container: inout PersistenceContainer) throws {
    container["id"] = person.id
    container["json"] = try jsonEncoder.encode(person)
  }

  static func makeTable(_ db: Database) throws {
    try db.create(table: "document") { table in
      table.primaryKey("id", .text)
      table.column("json", .blob).notNull()
    }
  }
}

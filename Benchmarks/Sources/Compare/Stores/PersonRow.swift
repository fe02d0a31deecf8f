import Foundation
import GRDB

/// A person as those write it who want GRDB at its fastest: no `Codable`, columns by index, statements prepared once.
///
/// The address has columns of its own. Lists are what takes the least time to read: texts joined by a control character
/// that none of them holds, dates as the bytes of their numbers.
struct PersonRow: FetchableRecord {
  var person: Person

  static let columns = "id, name, age, birthdate, street, city, country, dates, tags, partner, friends"
  private static let separator: Character = "\u{1F}"

  static func makeTable(_ db: Database) throws {
    try db.create(table: "person") { table in
      table.primaryKey("id", .text)
      table.column("name", .text).notNull().indexed()
      table.column("age", .integer).notNull()
      table.column("birthdate", .double).notNull()
      for name in ["street", "city", "country"] { table.column(name, .text).notNull() }
      table.column("dates", .blob).notNull()
      for name in ["tags", "partner", "friends"] { table.column(name, .text).notNull() }
    }
  }

  init(row: Row) {
    person = Person(
      id: row[0], name: row[1], age: row[2], birthdate: Date(timeIntervalSinceReferenceDate: row[3]),
      address: Address(street: row[4], city: row[5], country: row[6]), dates: Self.dates(row[7]),
      tags: Self.texts(row[8]), partner: row[9], friends: Self.texts(row[10]))
  }

  /// What inserts a person: one statement for all of a transaction.
  static func inserting(_ db: Database) throws -> (Person) throws -> Void {
    let places = Array(repeating: "?", count: 11).joined(separator: ", ")
    let statement = try db.cachedStatement(sql: "INSERT INTO person (\(columns)) VALUES (\(places))")
    return { person in
      try statement.execute(arguments: [
        person.id, person.name, person.age, person.birthdate.timeIntervalSinceReferenceDate,
        person.address.street, person.address.city, person.address.country, bytes(person.dates),
        person.tags.joined(separator: String(separator)), person.partner,
        person.friends.joined(separator: String(separator)),
      ])
    }
  }

  private static func texts(_ joined: String) -> [String] {
    // An empty list is an empty text: no tag is empty.
    joined.isEmpty ? [] : joined.split(separator: separator).map(String.init)
  }

  private static func bytes(_ dates: [Date]) -> Data {
    dates.map(\.timeIntervalSinceReferenceDate).withUnsafeBytes { Data($0) }
  }

  private static func dates(_ bytes: Data) -> [Date] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map {
        Date(timeIntervalSinceReferenceDate: bytes.loadUnaligned(fromByteOffset: $0, as: Double.self))
      }
    }
  }
}

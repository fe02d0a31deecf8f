import Foundation
import GRDB

/// What queries are asked of.
///
/// `visits` is another number for each of them, from 0 on and in random order: a range of it says how many it finds.
struct Visitor: Codable, Equatable, Identifiable, FetchableRecord, PersistableRecord {
  var id: Int
  var name: String
  var email: String
  var age: Int
  var visits: Int
  var city: String
  var balance: Double
  var street: String?
  var since: Date

  static let databaseTableName = "visitor"
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func make(_ count: Int) -> [Visitor] {
    var maker = Maker(random: SplitMix(state: 7))
    let visits = (0..<count).shuffled(using: &maker.random)
    return (0..<count).map { number in
      Visitor(
        id: number, name: "\(maker.word()) \(maker.word()) \(visits[number] * 7919 % count)",
        email: "\(maker.word()).\(visits[number])@example.org", age: maker.int(18...99),
        visits: visits[number],
        city: maker.word(), balance: maker.price(), street: maker.maybe { $0.words(2) }, since: maker.date())
    }
  }

  /// The same with other values in two of the indexed properties.
  func moved(by offset: Int) -> Visitor {
    var visitor = self
    visitor.visits += offset
    visitor.age += 1
    return visitor
  }

  static func makeTable(_ db: Database) throws {
    try db.create(table: databaseTableName) { table in
      table.primaryKey("id", .integer)
      for name in ["name", "email", "city"] { table.column(name, .text).notNull() }
      for name in ["age", "visits"] { table.column(name, .integer).notNull() }
      table.column("balance", .double).notNull()
      table.column("street", .text)
      table.column("since", .double).notNull()
    }
  }

  /// By the index of a column, in the order of ``columns``.
  static let columns = "id, name, email, age, visits, city, balance, street, since"
  static func read(_ row: Row) -> Visitor {
    Visitor(
      id: row[0], name: row[1], email: row[2], age: row[3], visits: row[4], city: row[5], balance: row[6],
      street: row[7], since: Date(timeIntervalSinceReferenceDate: row[8]))
  }
}

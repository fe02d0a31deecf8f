import Foundation
import GRDB

/// An object that is one row of plain columns: what a table is made for.
///
/// `Codable`, for the garage and for GRDB's own records; and read and written by hand, by the index of a column.
protocol FlatObject: Codable, Equatable, FetchableRecord, Identifiable, PersistableRecord, Sendable
where ID == Int {
  static var title: String { get }
  static func make(_ number: Int, _ maker: inout Maker) -> Self
  /// The columns in the order in which the two below have them, the primary key first.
  static var columns: [(name: String, type: Database.ColumnType, isOptional: Bool)] { get }
  static func read(_ row: Row) -> Self
  var arguments: StatementArguments { get }
}

extension FlatObject {
  static var databaseTableName: String { "flat" }
  // As elsewhere here: the exact and fastest form of a date.
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func makeAll(_ count: Int) -> [Self] {
    var maker = Maker(random: SplitMix(state: 6))
    return (0..<count).map { make($0, &maker) }
  }

  static func makeTable(_ db: Database) throws {
    try db.create(table: databaseTableName) { table in
      for (position, column) in columns.enumerated() {
        if position == 0 {
          table.primaryKey(column.name, column.type)
        } else if column.isOptional {
          table.column(column.name, column.type)
        } else {
          table.column(column.name, column.type).notNull()
        }
      }
    }
  }
}

/// Two columns.
struct FlatPair: FlatObject {
  static let title = "two columns"
  var id: Int
  var name: String

  static func make(_ number: Int, _ maker: inout Maker) -> FlatPair {
    FlatPair(id: number, name: maker.words(2))
  }
  static var columns: [(name: String, type: Database.ColumnType, isOptional: Bool)] {
    [("id", .integer, false), ("name", .text, false)]
  }
  static func read(_ row: Row) -> FlatPair { FlatPair(id: row[0], name: row[1]) }
  var arguments: StatementArguments { [id, name] }
}

/// Six columns of all the usual types.
struct FlatProduct: FlatObject {
  static let title = "six columns"
  var id: Int
  var name: String
  var price: Double
  var stock: Int
  var isListed: Bool
  var added: Date

  static func make(_ number: Int, _ maker: inout Maker) -> FlatProduct {
    FlatProduct(
      id: number, name: maker.words(3), price: maker.price(), stock: maker.int(0...500),
      isListed: maker.bool(),
      added: maker.date())
  }
  static var columns: [(name: String, type: Database.ColumnType, isOptional: Bool)] {
    [
      ("id", .integer, false), ("name", .text, false), ("price", .double, false), ("stock", .integer, false),
      ("isListed", .boolean, false), ("added", .double, false),
    ]
  }
  static func read(_ row: Row) -> FlatProduct {
    FlatProduct(
      id: row[0], name: row[1], price: row[2], stock: row[3], isListed: row[4],
      added: Date(timeIntervalSinceReferenceDate: row[5]))
  }
  var arguments: StatementArguments {
    [id, name, price, stock, isListed, added.timeIntervalSinceReferenceDate]
  }
}

/// Twelve texts, half of them nil.
struct FlatContact: FlatObject {
  static let title = "twelve columns, half of them nil"
  var id: Int
  var name: String
  var street: String?
  var city: String?
  var country: String?
  var phone: String?
  var mobile: String?
  var email: String?
  var company: String?
  var title: String?
  var age: Int?
  var note: String?

  static func make(_ number: Int, _ maker: inout Maker) -> FlatContact {
    func text() -> String? { maker.maybe { $0.words(2) } }
    return FlatContact(
      id: number, name: maker.words(2), street: text(), city: text(), country: text(), phone: text(),
      mobile: text(), email: text(), company: text(), title: text(), age: maker.maybe { $0.int(1...99) },
      note: text())
  }
  static var columns: [(name: String, type: Database.ColumnType, isOptional: Bool)] {
    [("id", .integer, false), ("name", .text, false)]
      + ["street", "city", "country", "phone", "mobile", "email", "company", "title"].map {
        ($0, .text, true)
      }
      + [("age", .integer, true), ("note", .text, true)]
  }
  static func read(_ row: Row) -> FlatContact {
    FlatContact(
      id: row[0], name: row[1], street: row[2], city: row[3], country: row[4], phone: row[5], mobile: row[6],
      email: row[7], company: row[8], title: row[9], age: row[10], note: row[11])
  }
  var arguments: StatementArguments {
    [id, name, street, city, country, phone, mobile, email, company, title, age, note]
  }
}

/// Sixteen numbers.
struct FlatReading: FlatObject {
  static let title = "sixteen numbers"
  var id: Int
  var time: Double
  var a: Int
  var b: Int
  var c: Int
  var d: Int
  var e: Int
  var f: Int
  var g: Int
  var p: Double
  var q: Double
  var r: Double
  var s: Double
  var t: Double
  var u: Double
  var v: Double

  static func make(_ number: Int, _ maker: inout Maker) -> FlatReading {
    func int() -> Int { maker.int(-100_000...100_000) }
    return FlatReading(
      id: number, time: Double(number) * 0.25, a: int(), b: int(), c: int(), d: int(), e: int(), f: int(),
      g: int(),
      p: maker.degrees(), q: maker.degrees(), r: maker.degrees(), s: maker.degrees(), t: maker.degrees(),
      u: maker.degrees(), v: maker.degrees())
  }
  static var columns: [(name: String, type: Database.ColumnType, isOptional: Bool)] {
    [("id", .integer, false), ("time", .double, false)]
      + ["a", "b", "c", "d", "e", "f", "g"].map { ($0, .integer, false) }
      + ["p", "q", "r", "s", "t", "u", "v"].map { ($0, .double, false) }
  }
  static func read(_ row: Row) -> FlatReading {
    FlatReading(
      id: row[0], time: row[1], a: row[2], b: row[3], c: row[4], d: row[5], e: row[6], f: row[7], g: row[8],
      p: row[9], q: row[10], r: row[11], s: row[12], t: row[13], u: row[14], v: row[15])
  }
  var arguments: StatementArguments { [id, time, a, b, c, d, e, f, g, p, q, r, s, t, u, v] }
}

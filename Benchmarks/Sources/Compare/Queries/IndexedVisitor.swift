import Foundation
import GRDB
import GarageStorage

/// A visitor with three indexes: on a number, on unique text, and on two properties.
struct IndexedVisitor: Codable, Equatable, Identifiable, Indexed, FetchableRecord, PersistableRecord {
  var id: Int
  var name: String
  var email: String
  var age: Int
  var visits: Int
  var city: String
  var balance: Double
  var street: String?
  var since: Date

  init(_ visitor: Visitor) {
    (id, name, email, age) = (visitor.id, visitor.name, visitor.email, visitor.age)
    (visits, city, balance) = (visitor.visits, visitor.city, visitor.balance)
    (street, since) = (visitor.street, visitor.since)
  }

  static var indexes: [Index<IndexedVisitor>] {
    [Index(\.visits), Index(\.email, .unique), Index(\.city, \.age)]
  }

  static let databaseTableName = "visitor"
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func makeTable(_ db: Database) throws {
    try Visitor.makeTable(db)
    try db.create(index: "visitor_visits", on: databaseTableName, columns: ["visits"])
    try db.create(index: "visitor_email", on: databaseTableName, columns: ["email"], options: .unique)
    try db.create(index: "visitor_city_age", on: databaseTableName, columns: ["city", "age"])
  }
}

/// The same with one index.
struct OnceIndexedVisitor: Codable, Identifiable, Indexed {
  var id: Int
  var name: String
  var email: String
  var age: Int
  var visits: Int
  var city: String
  var balance: Double
  var street: String?
  var since: Date

  init(_ visitor: Visitor) {
    (id, name, email, age) = (visitor.id, visitor.name, visitor.email, visitor.age)
    (visits, city, balance) = (visitor.visits, visitor.city, visitor.balance)
    (street, since) = (visitor.street, visitor.since)
  }

  static var indexes: [Index<OnceIndexedVisitor>] { [Index(\.visits)] }
}

/// Refers to four others.
struct Correspondent: Codable, Identifiable {
  var id: Int
  var name: String
  var friends: [Reference<Correspondent>]

  /// Four references each; a few are referred to by many.
  static func make(_ count: Int) -> [Correspondent] {
    var random = SplitMix(state: 11)
    return (0..<count).map { number in
      let friends = (0..<4).map { place in
        place == 0 && number % 5 == 0 ? 0 : Int.random(in: 0..<count, using: &random)
      }
      return Correspondent(
        id: number, name: "correspondent \(number)",
        friends: friends.map { Reference(Correspondent.self, identifier: $0) })
    }
  }
}

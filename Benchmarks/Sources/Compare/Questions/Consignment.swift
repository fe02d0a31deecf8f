import Foundation
import GRDB
import GarageStorage

/// What the corpus of questions is asked of: twelve properties, six indexes, values as programs have them. Some are rare, some
/// are nearly everywhere, some are nil.
struct Consignment: Codable, Equatable, Identifiable, Indexed, FetchableRecord, PersistableRecord {
  enum State: String, Codable, CaseIterable, DatabaseValueConvertible {
    case announced, packed, underway, delivered, lost
  }

  var id: Int
  /// Another one for each.
  var code: String
  /// One of about two thousand.
  var customer: String
  /// One of sixty, some of them more often than others.
  var city: String
  /// Nine of ten are delivered.
  var state: State
  /// In cents, up to 99 999; about two of each.
  var price: Int
  var due: Date
  /// Not indexed, as is what follows.
  var weight: Double
  var pieces: Int
  var isUrgent: Bool
  /// Nil in two of three.
  var note: String?
  /// Counts what changes, and nothing asks for it.
  var changes: Int

  static var indexes: [Index<Consignment>] {
    [
      Index(\.code, .unique), Index(\.customer), Index(\.city, \.price), Index(\.state, \.due),
      Index(\.price),
      Index(\.due),
    ]
  }

  /// Behind the start of all dates.
  static let start = Date(timeIntervalSinceReferenceDate: 700_000_000)
  /// In the middle of a city's range of frequency.
  static let city = "city 25"

  static func make(_ count: Int) -> [Consignment] {
    var random = SplitMix(state: 15)
    let states: [State] = [.announced, .packed, .underway, .lost]
    let words = [
      "fragile", "call before", "leave at the door", "neighbour", "Büro im Hof", "cold", "two persons",
    ]
    return (0..<count).map { number in
      let place = Int.random(in: 0..<60, using: &random)
      return Consignment(
        id: number, code: String(format: "S-%08d", number * 7919 % 99_999_989),
        customer: "customer \(Int.random(in: 0..<2000, using: &random))",
        city: "city \(min(place, Int.random(in: 0..<60, using: &random)))",
        state: Int.random(in: 0..<10, using: &random) > 0
          ? .delivered : states.randomElement(using: &random) ?? .lost,
        price: Int.random(in: 0..<100_000, using: &random) % max(count / 2, 1),
        due: start + Double(Int.random(in: 0..<31_536_000, using: &random)),
        weight: Double(Int.random(in: 1...40_000, using: &random)) / 1000,
        pieces: Int.random(in: 1...12, using: &random), isUrgent: Int.random(in: 0..<20, using: &random) == 0,
        note: Int.random(in: 0..<3, using: &random) == 0
          ? "\(words.randomElement(using: &random) ?? ""), \(words.randomElement(using: &random) ?? "")"
          : nil,
        changes: 0)
    }
  }

  static let databaseTableName = "consignment"
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func makeTable(_ db: Database) throws {
    try db.create(table: databaseTableName) { table in
      table.primaryKey("id", .integer)
      for name in ["code", "customer", "city", "state"] { table.column(name, .text).notNull() }
      for name in ["price", "pieces", "changes"] { table.column(name, .integer).notNull() }
      for name in ["due", "weight"] { table.column(name, .double).notNull() }
      table.column("isUrgent", .boolean).notNull()
      table.column("note", .text)
    }
    try db.create(index: "consignment_code", on: databaseTableName, columns: ["code"], options: .unique)
    for columns in [["customer"], ["city", "price"], ["state", "due"], ["price"], ["due"]] {
      try db.create(
        index: "consignment_\(columns.joined(separator: "_"))", on: databaseTableName, columns: columns)
    }
  }
}

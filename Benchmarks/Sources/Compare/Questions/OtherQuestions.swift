import Foundation
import GRDB
import GarageStorage

extension CorpusComparison.Question {
  static let ordered: [Question] = [
    Question(
      "the next fifty of a state",
      {
        .objects(
          try $0.query(Shipment.self).where(\.state == .underway).sorted(by: \.due).limit(50).retrieveAll())
      },
      filter: { shipments in
        .objects(
          Array(
            shipments.filter { $0.state == .underway }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }.prefix(50)
          ))
      },
      sql: { try fetch($0, "WHERE state = 'underway' ORDER BY due, id LIMIT 50") }),
    Question(
      "the dearest of a city",
      {
        .objects(
          try $0.query(Shipment.self).where(\.city == Shipment.city).sorted(by: \.price, .descending).limit(
            10
          )
          .retrieveAll())
      },
      filter: { shipments in
        .objects(
          Array(
            shipments.filter { $0.city == Shipment.city }.sorted { ($1.price, $0.id) < ($0.price, $1.id) }
              .prefix(10)))
      },
      sql: { try fetch($0, "WHERE city = '\(Shipment.city)' ORDER BY price DESC, id LIMIT 10") }),
    Question(
      "the heaviest twenty, no index",
      { .objects(try $0.query(Shipment.self).sorted(by: \.weight, .descending).limit(20).retrieveAll()) },
      filter: { shipments in
        .objects(Array(shipments.sorted { ($1.weight, $0.id) < ($0.weight, $1.id) }.prefix(20)))
      },
      sql: { try fetch($0, "ORDER BY weight DESC, id LIMIT 20") }),
    Question(
      "a city by weight",
      {
        .objects(
          try $0.query(Shipment.self).where(\.city == Shipment.city).sorted(by: \.weight).retrieveAll())
      },
      filter: { shipments in
        .objects(
          shipments.filter { $0.city == Shipment.city }.sorted { ($0.weight, $0.id) < ($1.weight, $1.id) })
      },
      sql: { try fetch($0, "WHERE city = '\(Shipment.city)' ORDER BY weight, id") }),
    Question(
      "ten pages by price",
      { garage in
        var found: [Shipment] = []
        var cursor: QueryCursor?
        for _ in 0..<10 {
          let page = try garage.query(Shipment.self).sorted(by: \.price).page(after: cursor, size: 50)
          found += page.objects
          cursor = page.next
        }
        return .objects(found)
      },
      filter: { shipments in
        .objects(Array(shipments.sorted { ($0.price, $0.id) < ($1.price, $1.id) }.prefix(500)))
      },
      sql: { db in
        var found: [Shipment] = []
        for _ in 0..<10 {
          let last = found.last
          found += try Shipment.fetchAll(
            db, sql: "SELECT * FROM shipment WHERE (price, id) > (?, ?) ORDER BY price, id LIMIT 50",
            arguments: [last?.price ?? -1, last?.id ?? -1])
        }
        return .objects(found)
      }),
    Question(
      "codes by city and price, all",
      { .texts(try $0.query(Shipment.self).sorted(by: \.city).sorted(by: \.price).values(\.code)) },
      filter: { shipments in
        .texts(shipments.sorted { ($0.city, $0.price, $0.id) < ($1.city, $1.price, $1.id) }.map(\.code))
      },
      sql: { .texts(try String.fetchAll($0, sql: "SELECT code FROM shipment ORDER BY city, price, id")) }),
  ]

  private static func number(
    _ title: String, _ garage: @escaping @Sendable (Query<Shipment>) throws -> Double?,
    filter: @escaping @Sendable ([Shipment]) -> Double?, sql: String
  ) -> Question {
    Question(
      title, { .number(try garage($0.query(Shipment.self))) }, filter: { .number(filter($0)) },
      sql: { .number(try Double.fetchOne($0, sql: "SELECT \(sql)")) })
  }

  static let counted: [Question] = [
    number(
      "how many of a city", { Double(try $0.where(\.city == Shipment.city).count()) },
      filter: { Double($0.count { $0.city == Shipment.city }) },
      sql: "COUNT(*) FROM shipment WHERE city = '\(Shipment.city)'"),
    number(
      "how many without a note", { Double(try $0.where(\.note == nil).count()) },
      filter: { Double($0.count { $0.note == nil }) }, sql: "COUNT(*) FROM shipment WHERE note IS NULL"),
    number(
      "how many are heavy, no index", { Double(try $0.where(\.weight > 30).count()) },
      filter: { Double($0.count { $0.weight > 30 }) }, sql: "COUNT(*) FROM shipment WHERE weight > 30"),
    number(
      "whether one is lost", { try $0.where(\.state == .lost).isEmpty() ? 0 : 1 },
      filter: { $0.contains { $0.state == .lost } ? 1 : 0 },
      sql: "EXISTS (SELECT 1 FROM shipment WHERE state = 'lost')"),
    number(
      "what a city's cost", { Double(try $0.where(\.city == Shipment.city).sum(\.price)) },
      filter: { Double($0.reduce(0) { $0 + ($1.city == Shipment.city ? $1.price : 0) }) },
      sql: "SUM(price) FROM shipment WHERE city = '\(Shipment.city)'"),
    number(
      "pieces in all, no index", { Double(try $0.sum(\.pieces)) },
      filter: { Double($0.reduce(0) { $0 + $1.pieces }) },
      sql: "SUM(pieces) FROM shipment"),
    number(
      "the highest price", { try $0.max(\.price).map(Double.init) },
      filter: { $0.map(\.price).max().map(Double.init) },
      sql: "MAX(price) FROM shipment"),
    number(
      "the lowest weight, no index", { try $0.min(\.weight) }, filter: { $0.map(\.weight).min() },
      sql: "MIN(weight) FROM shipment"),
    number(
      "the highest price of a state", { try $0.where(\.state == .packed).max(\.price).map(Double.init) },
      filter: { $0.filter { $0.state == .packed }.map(\.price).max().map(Double.init) },
      sql: "MAX(price) FROM shipment WHERE state = 'packed'"),
    Question(
      "cities", { .texts(try $0.query(Shipment.self).distinct(\.city).sorted()) },
      filter: { .texts(Set($0.map(\.city)).sorted()) },
      sql: { .texts(try String.fetchAll($0, sql: "SELECT DISTINCT city FROM shipment").sorted()) }),
    Question(
      "numbers of pieces, no index", { .numbers(try $0.query(Shipment.self).distinct(\.pieces).sorted()) },
      filter: { .numbers(Set($0.map(\.pieces)).sorted()) },
      sql: { .numbers(try Int.fetchAll($0, sql: "SELECT DISTINCT pieces FROM shipment").sorted()) }),
    Question(
      "how many of each state",
      {
        .counts(
          Dictionary(
            uniqueKeysWithValues: try $0.query(Shipment.self).countByValue(\.state).map { ($0.rawValue, $1) })
        )
      },
      filter: { .counts($0.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] += 1 }) },
      sql: { try counts($0, "state") }),
    Question(
      "how many of each number of pieces, no index",
      {
        .counts(
          Dictionary(
            uniqueKeysWithValues: try $0.query(Shipment.self).countByValue(\.pieces).map { (String($0), $1) })
        )
      },
      filter: { .counts($0.reduce(into: [:]) { $0[String($1.pieces), default: 0] += 1 }) },
      sql: { try counts($0, "CAST(pieces AS TEXT)") }),
    Question(
      "identifiers of a range of prices",
      { .numbers(try $0.query(Shipment.self).where(\.price == 30_000..<34_000).identifiers()) },
      filter: { .numbers($0.filter { 30_000..<34_000 ~= $0.price }.map(\.id)) },
      sql: {
        .numbers(
          try Int.fetchAll(
            $0, sql: "SELECT id FROM shipment WHERE price >= 30000 AND price < 34000 ORDER BY id"))
      }),
    Question(
      "notes of urgent ones, no index",
      {
        .texts(
          try $0.query(Shipment.self).where(\.isUrgent == true && \.note != nil).values(\.note).compactMap {
            $0
          })
      },
      filter: { .texts($0.compactMap { $0.isUrgent ? $0.note : nil }) },
      sql: {
        .texts(
          try String.fetchAll(
            $0, sql: "SELECT note FROM shipment WHERE isUrgent = 1 AND note IS NOT NULL ORDER BY id"))
      }),
  ]

  private static func counts(_ db: Database, _ column: String) throws -> Answer {
    let rows = try Row.fetchAll(db, sql: "SELECT \(column), COUNT(*) FROM shipment GROUP BY 1")
    return .counts(Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) }))
  }

  /// They count up what no other question asks for, so that each can be asked again.
  static let changing: [Question] = [
    change(
      "a city changes", { \.city == Shipment.city }, filter: { $0.city == Shipment.city },
      sql: "city = '\(Shipment.city)'"),
    change("heavy ones change, no index", { \.weight > 39 }, filter: { $0.weight > 39 }, sql: "weight > 39"),
    change("all change", { \.id >= 0 }, filter: { _ in true }, sql: "1"),
    Question(
      "a state is deleted, and comes back", isChange: true,
      { garage in
        let lost = try garage.query(Shipment.self).where(\.state == .lost).retrieveAll()
        let count = try garage.query(Shipment.self).where(\.state == .lost).deleteAll()
        try garage.parkAll(lost)
        return .number(Double(count))
      },
      filter: { .number(Double($0.count { $0.state == .lost })) },
      sql: { db in
        let lost = try Shipment.fetchAll(db, sql: "SELECT * FROM shipment WHERE state = 'lost'")
        try db.execute(sql: "DELETE FROM shipment WHERE state = 'lost'")
        let count = db.changesCount
        for shipment in lost { try shipment.insert(db) }
        return .number(Double(count))
      }),
  ]

  private static func change(
    _ title: String, _ condition: @escaping @Sendable () -> Condition<Shipment>,
    filter: @escaping @Sendable (Shipment) -> Bool, sql: String
  ) -> Question {
    Question(
      title, isChange: true,
      { .number(Double(try $0.query(Shipment.self).where(condition()).updateAll { $0.changes += 1 })) },
      filter: { .number(Double($0.count(where: filter))) },
      sql: { db in
        try db.execute(sql: "UPDATE shipment SET changes = changes + 1 WHERE \(sql)")
        return .number(Double(db.changesCount))
      })
  }
}

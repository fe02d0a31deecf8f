import Foundation
import GRDB
import GarageStorage

extension CorpusComparison.Question {
  static let ordered: [Question] = [
    Question(
      "the next fifty of a state",
      {
        .objects(
          try $0.query(Consignment.self).where(\.state == .underway).sorted(by: \.due).limit(50).retrieveAll()
        )
      },
      filter: { consignments in
        .objects(
          Array(
            consignments.filter { $0.state == .underway }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }.prefix(
              50)
          ))
      },
      sql: { try fetch($0, "WHERE state = 'underway' ORDER BY due, id LIMIT 50") }),
    Question(
      "the dearest of a city",
      {
        .objects(
          try $0.query(Consignment.self).where(\.city == Consignment.city).sorted(by: \.price, .descending)
            .limit(
              10
            )
            .retrieveAll())
      },
      filter: { consignments in
        .objects(
          Array(
            consignments.filter { $0.city == Consignment.city }.sorted {
              ($1.price, $0.id) < ($0.price, $1.id)
            }
            .prefix(10)))
      },
      sql: { try fetch($0, "WHERE city = '\(Consignment.city)' ORDER BY price DESC, id LIMIT 10") }),
    Question(
      "the heaviest twenty, no index",
      { .objects(try $0.query(Consignment.self).sorted(by: \.weight, .descending).limit(20).retrieveAll()) },
      filter: { consignments in
        .objects(Array(consignments.sorted { ($1.weight, $0.id) < ($0.weight, $1.id) }.prefix(20)))
      },
      sql: { try fetch($0, "ORDER BY weight DESC, id LIMIT 20") }),
    Question(
      "a city by weight",
      {
        .objects(
          try $0.query(Consignment.self).where(\.city == Consignment.city).sorted(by: \.weight).retrieveAll())
      },
      filter: { consignments in
        .objects(
          consignments.filter { $0.city == Consignment.city }.sorted {
            ($0.weight, $0.id) < ($1.weight, $1.id)
          })
      },
      sql: { try fetch($0, "WHERE city = '\(Consignment.city)' ORDER BY weight, id") }),
    Question(
      "ten pages by price",
      { garage in
        var found: [Consignment] = []
        var cursor: QueryCursor?
        for _ in 0..<10 {
          let page = try garage.query(Consignment.self).sorted(by: \.price).page(after: cursor, size: 50)
          found += page.objects
          cursor = page.next
        }
        return .objects(found)
      },
      filter: { consignments in
        .objects(Array(consignments.sorted { ($0.price, $0.id) < ($1.price, $1.id) }.prefix(500)))
      },
      sql: { db in
        var found: [Consignment] = []
        for _ in 0..<10 {
          let last = found.last
          found += try Consignment.fetchAll(
            db, sql: "SELECT * FROM consignment WHERE (price, id) > (?, ?) ORDER BY price, id LIMIT 50",
            arguments: [last?.price ?? -1, last?.id ?? -1])
        }
        return .objects(found)
      }),
    Question(
      "codes by city and price, all",
      { .texts(try $0.query(Consignment.self).sorted(by: \.city).sorted(by: \.price).values(\.code)) },
      filter: { consignments in
        .texts(consignments.sorted { ($0.city, $0.price, $0.id) < ($1.city, $1.price, $1.id) }.map(\.code))
      },
      sql: { .texts(try String.fetchAll($0, sql: "SELECT code FROM consignment ORDER BY city, price, id")) }),
  ]

  private static func number(
    _ title: String, _ garage: @escaping @Sendable (Query<Consignment>) throws -> Double?,
    filter: @escaping @Sendable ([Consignment]) -> Double?, sql: String
  ) -> Question {
    Question(
      title, { .number(try garage($0.query(Consignment.self))) }, filter: { .number(filter($0)) },
      sql: { .number(try Double.fetchOne($0, sql: "SELECT \(sql)")) })
  }

  static let counted: [Question] = [
    number(
      "how many of a city", { Double(try $0.where(\.city == Consignment.city).count()) },
      filter: { Double($0.count { $0.city == Consignment.city }) },
      sql: "COUNT(*) FROM consignment WHERE city = '\(Consignment.city)'"),
    number(
      "how many without a note", { Double(try $0.where(\.note == nil).count()) },
      filter: { Double($0.count { $0.note == nil }) }, sql: "COUNT(*) FROM consignment WHERE note IS NULL"),
    number(
      "how many are heavy, no index", { Double(try $0.where(\.weight > 30).count()) },
      filter: { Double($0.count { $0.weight > 30 }) }, sql: "COUNT(*) FROM consignment WHERE weight > 30"),
    number(
      "whether one is lost", { try $0.where(\.state == .lost).isEmpty() ? 0 : 1 },
      filter: { $0.contains { $0.state == .lost } ? 1 : 0 },
      sql: "EXISTS (SELECT 1 FROM consignment WHERE state = 'lost')"),
    number(
      "what a city's cost", { Double(try $0.where(\.city == Consignment.city).sum(\.price)) },
      filter: { Double($0.reduce(0) { $0 + ($1.city == Consignment.city ? $1.price : 0) }) },
      sql: "SUM(price) FROM consignment WHERE city = '\(Consignment.city)'"),
    number(
      "pieces in all, no index", { Double(try $0.sum(\.pieces)) },
      filter: { Double($0.reduce(0) { $0 + $1.pieces }) },
      sql: "SUM(pieces) FROM consignment"),
    number(
      "the highest price", { try $0.max(\.price).map(Double.init) },
      filter: { $0.map(\.price).max().map(Double.init) },
      sql: "MAX(price) FROM consignment"),
    number(
      "the lowest weight, no index", { try $0.min(\.weight) }, filter: { $0.map(\.weight).min() },
      sql: "MIN(weight) FROM consignment"),
    number(
      "the highest price of a state", { try $0.where(\.state == .packed).max(\.price).map(Double.init) },
      filter: { $0.filter { $0.state == .packed }.map(\.price).max().map(Double.init) },
      sql: "MAX(price) FROM consignment WHERE state = 'packed'"),
    Question(
      "cities", { .texts(try $0.query(Consignment.self).distinct(\.city).sorted()) },
      filter: { .texts(Set($0.map(\.city)).sorted()) },
      sql: { .texts(try String.fetchAll($0, sql: "SELECT DISTINCT city FROM consignment").sorted()) }),
    Question(
      "numbers of pieces, no index", { .numbers(try $0.query(Consignment.self).distinct(\.pieces).sorted()) },
      filter: { .numbers(Set($0.map(\.pieces)).sorted()) },
      sql: { .numbers(try Int.fetchAll($0, sql: "SELECT DISTINCT pieces FROM consignment").sorted()) }),
    Question(
      "how many of each state",
      {
        .counts(
          Dictionary(
            uniqueKeysWithValues: try $0.query(Consignment.self).countByValue(\.state).map {
              ($0.rawValue, $1)
            })
        )
      },
      filter: { .counts($0.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] += 1 }) },
      sql: { try counts($0, "state") }),
    Question(
      "how many of each number of pieces, no index",
      {
        .counts(
          Dictionary(
            uniqueKeysWithValues: try $0.query(Consignment.self).countByValue(\.pieces).map {
              (String($0), $1)
            })
        )
      },
      filter: { .counts($0.reduce(into: [:]) { $0[String($1.pieces), default: 0] += 1 }) },
      sql: { try counts($0, "CAST(pieces AS TEXT)") }),
    Question(
      "identifiers of a range of prices",
      {
        .texts(
          try $0.query(Consignment.self).where(\.price == 30_000..<34_000).identifiers().map { "\($0)" })
      },
      filter: { .texts($0.filter { 30_000..<34_000 ~= $0.price }.map { "\($0.id)" }) },
      sql: {
        .texts(
          try String.fetchAll(
            $0,
            sql: "SELECT CAST(id AS TEXT) FROM consignment WHERE price >= 30000 AND price < 34000 ORDER BY id"
          ))
      }),
    Question(
      "notes of urgent ones, no index",
      {
        .texts(
          try $0.query(Consignment.self).where(\.isUrgent == true && \.note != nil).values(\.note).compactMap
          {
            $0
          })
      },
      filter: { .texts($0.compactMap { $0.isUrgent ? $0.note : nil }) },
      sql: {
        .texts(
          try String.fetchAll(
            $0, sql: "SELECT note FROM consignment WHERE isUrgent = 1 AND note IS NOT NULL ORDER BY id"))
      }),
  ]

  private static func counts(_ db: Database, _ column: String) throws -> Answer {
    let rows = try Row.fetchAll(db, sql: "SELECT \(column), COUNT(*) FROM consignment GROUP BY 1")
    return .counts(Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) }))
  }

  /// They count up what no other question asks for, so that each can be asked again.
  static let changing: [Question] = [
    change(
      "a city changes", { \.city == Consignment.city }, filter: { $0.city == Consignment.city },
      sql: "city = '\(Consignment.city)'"),
    change("heavy ones change, no index", { \.weight > 39 }, filter: { $0.weight > 39 }, sql: "weight > 39"),
    change("all change", { \.id >= 0 }, filter: { _ in true }, sql: "1"),
    Question(
      "a state is deleted, and comes back", isChange: true,
      { garage in
        let lost = try garage.query(Consignment.self).where(\.state == .lost).retrieveAll()
        let count = try garage.query(Consignment.self).where(\.state == .lost).deleteAll()
        try garage.parkAll(lost)
        return .number(Double(count))
      },
      filter: { .number(Double($0.count { $0.state == .lost })) },
      sql: { db in
        let lost = try Consignment.fetchAll(db, sql: "SELECT * FROM consignment WHERE state = 'lost'")
        try db.execute(sql: "DELETE FROM consignment WHERE state = 'lost'")
        let count = db.changesCount
        for consignment in lost { try consignment.insert(db) }
        return .number(Double(count))
      }),
  ]

  private static func change(
    _ title: String, _ condition: @escaping @Sendable () -> Condition<Consignment>,
    filter: @escaping @Sendable (Consignment) -> Bool, sql: String
  ) -> Question {
    Question(
      title, isChange: true,
      { .number(Double(try $0.query(Consignment.self).where(condition()).updateAll { $0.changes += 1 })) },
      filter: { .number(Double($0.count(where: filter))) },
      sql: { db in
        try db.execute(sql: "UPDATE consignment SET changes = changes + 1 WHERE \(sql)")
        return .number(Double(db.changesCount))
      })
  }
}

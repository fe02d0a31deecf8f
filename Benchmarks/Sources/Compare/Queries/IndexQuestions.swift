import Foundation
import GRDB
import GarageStorage

extension IndexComparison.Question {
  typealias Question = IndexComparison.Question

  static let all: [Question] = [onePercent, oneObject, tenPercent, firstSorted, pair]

  static let onePercent = Question(
    name: "index range of 1 %",
    garage: { .visitors(try $0.query(IndexedVisitor.self).where(\.visits < $1 / 100).retrieveAll()) },
    filter: { visitors, count in .visitors(visitors.filter { $0.visits < count / 100 }) },
    request: { database, count in
      .visitors(
        try database.read { db in
          try IndexedVisitor.filter(Column("visits") < count / 100).order(Column("id")).fetchAll(db)
        })
    }, isComparedWithGets: true)

  /// Another one each time, as it is in programs: one alone would tell what it takes to fill the processor's caches.
  static let oneObject = Question(
    name: "index equality, one object", count: equalities,
    garage: { garage, count in
      .visitors(
        try values(count).flatMap {
          try garage.query(IndexedVisitor.self).where(\.visits == $0).retrieveAll()
        })
    },
    filter: { visitors, count in
      let places = Dictionary(uniqueKeysWithValues: visitors.map { ($0.visits, $0) })
      return .visitors(values(count).compactMap { places[$0] })
    },
    request: { database, count in
      .visitors(
        try values(count).flatMap { value in
          try database.read { try IndexedVisitor.filter(Column("visits") == value).fetchAll($0) }
        })
    },
    cached: { database, count in
      .visitors(
        try values(count).flatMap { value in
          try database.read { db in
            let statement = try db.cachedStatement(sql: "SELECT * FROM visitor WHERE visits = ?")
            return try IndexedVisitor.fetchAll(statement, arguments: [value])
          }
        })
    },
    byHand: { database, count in
      try database.read { db in
        let statement = try db.cachedStatement(sql: "SELECT \(Visitor.columns) FROM visitor WHERE visits = ?")
        return .visitors(
          try values(count).flatMap { value in
            let rows = try Row.fetchCursor(statement, arguments: [value])
            var found: [IndexedVisitor] = []
            while let row = try rows.next() { found.append(IndexedVisitor(Visitor.read(row))) }
            return found
          })
      }
    }, isComparedWithGets: true)

  private static let equalities = 1000
  private static func values(_ count: Int) -> [Int] { (0..<equalities).map { ($0 * 7919 + 11) % count } }

  static let tenPercent = Question(
    name: "index count of 10 %", limits: [200_000, 600_000, 300_000],
    garage: { .number(try $0.query(IndexedVisitor.self).where(\.visits < $1 / 10).count()) },
    filter: { visitors, count in .number(visitors.count { $0.visits < count / 10 }) },
    request: { database, count in
      .number(try database.read { try IndexedVisitor.filter(Column("visits") < count / 10).fetchCount($0) })
    })

  static let firstSorted = Question(
    name: "index sorted, the first 20", count: sortings, limits: [60_000, 100_000, 60_000],
    garage: { garage, _ in
      var visitors: [IndexedVisitor] = []
      for _ in 0..<sortings {
        visitors = try garage.query(IndexedVisitor.self).sorted(by: \.visits, .descending).limit(20)
          .retrieveAll()
      }
      return .visitors(visitors)
    },
    filter: { visitors, _ in .visitors(Array(visitors.sorted { $0.visits > $1.visits }.prefix(20))) },
    request: { database, _ in
      var visitors: [IndexedVisitor] = []
      for _ in 0..<sortings {
        visitors = try database.read {
          try IndexedVisitor.order(Column("visits").desc).limit(20).fetchAll($0)
        }
      }
      return .visitors(visitors)
    },
    cached: { database, _ in
      var visitors: [IndexedVisitor] = []
      for _ in 0..<sortings {
        visitors = try database.read { db in
          try IndexedVisitor.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM visitor ORDER BY visits DESC LIMIT 20"))
        }
      }
      return .visitors(visitors)
    })

  private static let sortings = 50

  private static let pair = Question(
    name: "index of two properties",
    garage: { garage, _ in
      .visitors(
        try garage.query(IndexedVisitor.self).where(\.city == "green" && \.age == 40...45).retrieveAll())
    },
    filter: { visitors, _ in .visitors(visitors.filter { $0.city == "green" && 40...45 ~= $0.age }) },
    request: { database, _ in
      .visitors(
        try database.read { db in
          try IndexedVisitor.filter(Column("city") == "green" && (40...45).contains(Column("age")))
            .order(Column("id")).fetchAll(db)
        })
    })
}

import Foundation
import Testing

@testable import GarageStorage

/// Dates that a strategy writes as text or numbers are sorted as dates, also beside others.
@Suite struct DateOrderTests {
  private struct Event: Codable, Identifiable, Equatable {
    var id: Int
    var day: Date
    var end: Date?
    var kind: String
  }
  private struct IndexedEvent: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<IndexedEvent>] {
      [Index(\.day, .readable), Index(\.kind, \.day, .readable), Index(\.end, .readable)]
    }
    var id: Int
    var day: Date
    var end: Date?
    var kind: String
  }

  private static func day(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number) * 86_400) }

  private func check<T: Codable & Identifiable & Equatable & SendableMetatype>(
    _ all: [T], _ garage: Garage, _ day: KeyPath<T, Date>, _ end: KeyPath<T, Date?>,
    _ kind: KeyPath<T, String>
  ) throws where T.ID == Int {
    let query = garage.query(T.self)
    func sorted(_ isLess: (T, T) -> Bool) -> [Int] {
      all.sorted { isLess($0, $1) || !isLess($1, $0) && $0.id < $1.id }.map(\.id)
    }
    let byDay = sorted { $0[keyPath: day] < $1[keyPath: day] }
    let byEnd = sorted { ($0[keyPath: end] ?? .distantPast) < ($1[keyPath: end] ?? .distantPast) }
    #expect(try query.sorted(by: day).retrieveAll().map(\.id) == byDay)
    #expect(try query.sorted(by: day).limit(7).retrieveAll().map(\.id) == Array(byDay.prefix(7)))
    let backwards = sorted { $0[keyPath: day] > $1[keyPath: day] }
    #expect(
      try query.sorted(by: day, .descending).limit(5).values(\.id) == Array(backwards.prefix(5)))
    #expect(try query.sorted(by: end).values(\.id) == byEnd)
    #expect(
      try query.sorted(by: kind).sorted(by: day).limit(9).values(\.id)
        == Array(
          sorted { ($0[keyPath: kind], $0[keyPath: day]) < ($1[keyPath: kind], $1[keyPath: day]) }.prefix(9)))
    let few = all.filter { $0[keyPath: kind] == "a" }
    #expect(
      try query.where(kind == "a").sorted(by: day).limit(4).values(\.id)
        == Array(few.sorted { ($0[keyPath: day], $0.id) < ($1[keyPath: day], $1.id) }.map(\.id).prefix(4)))
    #expect(try query.min(day) == all.map { $0[keyPath: day] }.min())
    #expect(try query.max(day) == all.map { $0[keyPath: day] }.max())
    #expect(try query.min(end) == all.compactMap { $0[keyPath: end] }.min())
    #expect(try query.values(day) == all.map { $0[keyPath: day] })
    #expect(
      try query.countByValue(day) == Dictionary(all.map { ($0[keyPath: day], 1) }, uniquingKeysWith: +))
    #expect(try query.distinct(day).sorted() == Set(all.map { $0[keyPath: day] }).sorted())
    let middle = DateOrderTests.day(17)
    #expect(try query.where(day < middle).count() == all.count { $0[keyPath: day] < middle })
    #expect(
      try query.where(day >= middle).sorted(by: day).values(\.id)
        == byDay.filter { id in all.contains { $0.id == id && $0[keyPath: day] >= middle } })
    var (found, cursor) = ([Int](), nil as QueryCursor?)
    repeat {
      let page = try query.sorted(by: day, .descending).page(after: cursor, size: 7)
      found += page.objects.map(\.id)
      cursor = page.next
    } while cursor != nil
    #expect(found == backwards)
  }

  @Test(arguments: Backend.allCases, [1, 2, 3, 4])
  func strategies(_ backend: Backend, _ number: Int) throws {
    let garage = try Place(backend).garage([IndexedEvent.self])
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "dd.MM.yyyy HH:mm:ss"
    var random = SeededGenerator(seed: UInt64(number))
    func days(_ count: Int) -> [(Date, Date?)] {
      (0..<count).map { _ in
        (Self.day(.random(in: 0...40, using: &random)), Bool.random(using: &random) ? Self.day(3) : nil)
      }
    }
    let all = days(40).enumerated().map {
      Event(id: $0, day: $1.0, end: $1.1, kind: ["a", "b", "c"][$0 % 3])
    }
    let indexed = all.map { IndexedEvent(id: $0.id, day: $0.day, end: $0.end, kind: $0.kind) }
    for (place, event) in all.enumerated() {
      // Alone, and in one store with exact ones, which all strategies read.
      let encoding: JSONEncoder.DateEncodingStrategy =
        switch number {
        case 1: .formatted(formatter)
        case 2: place % 2 == 0 ? .formatted(formatter) : .deferredToDate
        case 3: place == 39 ? .secondsSince1970 : .deferredToDate
        default: .deferredToDate
        }
      try garage.withDateEncodingStrategy(encoding) {
        try garage.park(event)
        try garage.park(indexed[place])
      }
    }
    try garage.withDateDecodingStrategy(number == 3 ? .secondsSince1970 : .formatted(formatter)) {
      try check(all, garage, \.day, \.end, \.kind)
      try check(indexed, garage, \.day, \.end, \.kind)
    }
    // An index has the order where all are dates.
    let plan = try garage.query(IndexedEvent.self).sorted(by: \.day).limit(3).explain().description
    if number == 4 && !backend.isSealed { #expect(!plan.contains("sorts"), "\(plan)") }
  }
}

import Foundation
import GarageStorage
import Testing

/// Dates are stored exactly, or as a strategy says, and never read as something else.
@Suite struct DateTests {
  static let dates: [Date] = [
    Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7),
    Date(timeIntervalSinceReferenceDate: -12_345_678.999),
  ]

  /// A strategy for both ways, and what it leaves of a date.
  struct Strategy: Sendable, CustomTestStringConvertible {
    var name: String
    var encoding: JSONEncoder.DateEncodingStrategy
    var decoding: JSONDecoder.DateDecodingStrategy
    var testDescription: String { name }

    /// What JSON's coders make of the date.
    func json(_ date: Date) throws -> Date {
      let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
      encoder.dateEncodingStrategy = encoding
      decoder.dateDecodingStrategy = decoding
      return try decoder.decode([Date].self, from: encoder.encode([date]))[0]
    }
  }

  static var formatter: DateFormatter {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    return formatter
  }

  static var strategies: [Strategy] {
    [
      Strategy(name: "deferredToDate", encoding: .deferredToDate, decoding: .deferredToDate),
      Strategy(name: "secondsSince1970", encoding: .secondsSince1970, decoding: .secondsSince1970),
      Strategy(
        name: "millisecondsSince1970", encoding: .millisecondsSince1970, decoding: .millisecondsSince1970),
      Strategy(name: "iso8601", encoding: .iso8601, decoding: .iso8601),
      Strategy(name: "formatted", encoding: .formatted(formatter), decoding: .formatted(formatter)),
      Strategy(
        name: "custom",
        encoding: .custom { date, encoder in
          var container = encoder.container(keyedBy: PlainCodingKey.self)
          try container.encode(Int(date.timeIntervalSince1970.rounded()), forKey: "day")
        },
        decoding: .custom { decoder in
          let container = try decoder.container(keyedBy: PlainCodingKey.self)
          return Date(timeIntervalSince1970: Double(try container.decode(Int.self, forKey: "day")))
        }),
    ]
  }

  struct PlainCodingKey: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
    init(stringLiteral value: String) { stringValue = value }
  }

  @Test(arguments: Backend.allCases)
  func datesAreExactByDefault(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let dates =
      DateTests.dates + [
        Date(timeIntervalSinceReferenceDate: .greatestFiniteMagnitude),
        Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude), .distantPast, .distantFuture, Date(),
      ]
    try garage.park(Diary(dates))
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Diary.self, identifier: 1) == Diary(dates))
  }

  /// Every strategy, in every position: as through JSON.
  @Test(arguments: Backend.allCases, DateTests.strategies)
  func strategiesDoWhatTheyDoInJSON(_ backend: Backend, _ strategy: Strategy) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let diary = Diary(DateTests.dates)
    try garage.withDateEncodingStrategy(strategy.encoding) { try garage.park(diary) }
    garage = try place.reopened(garage)
    let found = try garage.withDateDecodingStrategy(strategy.decoding) {
      try garage.retrieve(Diary.self, identifier: 1)
    }
    let expected = diary.mapped { (try? strategy.json($0)) ?? .distantPast }
    #expect(found == expected)
    #expect(
      try garage.read { _ in
        try garage.withDateDecodingStrategy(strategy.decoding) {
          try garage.retrieveAll(Diary.self)
        }
      } == [expected])
  }

  @Test(arguments: Backend.allCases)
  func whatIsStored(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    func stored<S>(_ strategy: JSONEncoder.DateEncodingStrategy, as type: S.Type) throws -> S?
    where S: Codable & Equatable {
      try garage.withDateEncodingStrategy(strategy) { try garage.park(Appointment(id: 1, date: date)) }
      return try garage.retrieve(RawAppointment<S>.self, identifier: 1)?.date
    }
    #expect(try stored(.secondsSince1970, as: Double.self) == 1_700_000_000.25)
    #expect(try stored(.millisecondsSince1970, as: Double.self) == 1_700_000_000_250)
    #expect(try stored(.iso8601, as: String.self) == "2023-11-14T22:13:20Z")
    #expect(try stored(.formatted(DateTests.formatter), as: String.self) == "2023-11-14 22:13")
    #expect(
      try stored(
        .custom { date, encoder in
          var container = encoder.unkeyedContainer()
          try container.encode(Int(date.timeIntervalSince1970))
        }, as: [Int].self) == [1_700_000_000])
    // A closure that encodes nothing.
    #expect(try stored(.custom { _, _ in }, as: [String: Int].self) == [:])
    // One that encodes the date itself does not go round for ever.
    let whole = JSONEncoder.DateEncodingStrategy.custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date)
    }
    #expect(try stored(whole, as: Date.self) == date)
    try garage.withDateEncodingStrategy(.secondsSince1970) {
      try garage.park(Agenda(days: ["a": [date, date]]))
    }
    #expect(
      try garage.retrieve(RawAgenda.self, identifier: 1)?.days == ["a": [1_700_000_000.25, 1_700_000_000.25]])
  }

  // MARK: - Scope

  private func isISO(_ garage: Garage, _ id: Int) throws -> Bool {
    (try? garage.retrieve(RawAppointment<String>.self, identifier: id)) != nil
  }

  @Test(arguments: Backend.allCases)
  func strategiesApplyToTheirClosureOnTheCallingTaskAlone(_ backend: Backend) async throws {
    struct Stop: Error {}
    let garage = try Place(backend).garage()
    let other = try Place(backend).garage()
    let date = DateTests.dates[1]
    @Sendable func park(_ garage: Garage, _ id: Int) throws {
      try garage.park(Appointment(id: id, date: date))
    }
    let inherited = try garage.withDateEncodingStrategy(.iso8601) {
      try park(garage, 1)
      try park(other, 1)
      try garage.withDateEncodingStrategy(.deferredToDate) { try park(garage, 2) }
      try garage.withDateEncodingStrategy(.secondsSince1970) {
        try garage.withDateDecodingStrategy(.iso8601) { try park(garage, 3) }
      }
      try garage.write { try $0.park(Appointment(id: 4, date: date)) }
      try garage.withAutosaveDisabled { try park(garage, 5) }
      try garage.save()
      guard case .iso8601 = garage.dateEncodingStrategy else { throw Stop() }
      guard case .deferredToDate = garage.dateDecodingStrategy else { throw Stop() }
      return Task { try park(garage, 6) }
    }
    try await inherited.value
    #expect(throws: Stop.self) { try garage.withDateEncodingStrategy(.iso8601) { throw Stop() } }
    try park(garage, 7)
    #expect(try isISO(garage, 1) && isISO(garage, 4) && isISO(garage, 5))
    #expect(try !isISO(other, 1) && !isISO(garage, 2) && !isISO(garage, 3))
    #expect(try !isISO(garage, 6) && !isISO(garage, 7))
    guard case .deferredToDate = garage.dateEncodingStrategy else { throw Stop() }

    // The same for reading.
    let reading = try garage.withDateDecodingStrategy(.iso8601) {
      let found = try garage.retrieve(Appointment.self, identifier: 1)?.date
      #expect(found?.timeIntervalSince1970 == date.timeIntervalSince1970.rounded(.down))
      #expect(try garage.read { try $0.retrieve(Appointment.self, identifier: 4) } != nil)
      return Task { try garage.retrieve(Appointment.self, identifier: 1) }
    }
    await #expect(throws: DecodingError.self) { try await reading.value }
    #expect(throws: DecodingError.self) { try garage.retrieve(Appointment.self, identifier: 1) }

    // Tasks that run while the closure does. On a thread of its own, because the closure waits for them.
    @Sendable func areISO() -> Bool {
      switch (garage.dateEncodingStrategy, garage.dateDecodingStrategy) {
      case (.iso8601, .iso8601): true
      default: false
      }
    }
    let inside = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let result = garage.withDateEncodingStrategy(.iso8601) {
          garage.withDateDecodingStrategy(.iso8601) {
            let notes = SavingTests.Notes()
            Task.detached { notes.add(areISO()) }
            Task { notes.add(areISO()) }
            return notes.wait(for: 2) + [areISO()]
          }
        }
        continuation.resume(returning: result)
      }
    }
    #expect(inside == [false, false, true])
  }

  @Test(arguments: Backend.allCases)
  func strategiesAreOptionsOfAGarage(_ backend: Backend) throws {
    let place = try Place(backend)
    let date = DateTests.dates[1]
    var garage = try Garage(place.open(), dateEncodingStrategy: .iso8601, dateDecodingStrategy: .iso8601)
    try garage.park(Appointment(id: 1, date: date))
    try garage.withDateEncodingStrategy(.secondsSince1970) { try garage.park(Appointment(id: 2, date: date)) }
    #expect(try isISO(garage, 1) && !isISO(garage, 2))
    let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    #expect(try garage.retrieve(Appointment.self, identifier: 1)?.date == whole)
    try garage.close()
    garage = try place.garage()
    #expect(throws: DecodingError.self) { try garage.retrieve(Appointment.self, identifier: 1) }
  }

  // MARK: - What does not fit

  @Test(arguments: Backend.allCases, DateTests.strategies)
  func exactDatesAreReadUnderEveryStrategy(_ backend: Backend, _ strategy: Strategy) throws {
    let garage = try Place(backend).garage()
    try garage.park(Diary(DateTests.dates))
    let found = try garage.withDateDecodingStrategy(strategy.decoding) {
      try garage.retrieve(Diary.self, identifier: 1)
    }
    #expect(found == Diary(DateTests.dates))
  }

  @Test(arguments: Backend.allCases)
  func mismatchesThrow(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    for encoding in DateTests.strategies where encoding.name != "deferredToDate" {
      try garage.withDateEncodingStrategy(encoding.encoding) {
        try garage.park(Appointment(id: 1, date: DateTests.dates[1]))
        try garage.park(Agenda(days: ["a": [DateTests.dates[1]]]))
      }
      for decoding in DateTests.strategies where decoding.name != encoding.name {
        // Both are numbers, and nothing tells them apart.
        if encoding.name.hasSuffix("1970") && decoding.name.hasSuffix("1970") { continue }
        garage.withDateDecodingStrategy(decoding.decoding) {
          #expect("\(encoding.name) read as \(decoding.name)") {
            try garage.retrieve(Appointment.self, identifier: 1)
          } throws: { error in
            guard case DecodingError.dataCorrupted(let context) = error else { return false }
            return context.codingPath.map(\.stringValue) == ["date"]
          }
          #expect("\(encoding.name) read as \(decoding.name)") {
            try garage.retrieve(Agenda.self, identifier: 1)
          } throws: { error in
            guard case DecodingError.dataCorrupted(let context) = error else { return false }
            return context.codingPath.map(\.stringValue) == ["days", "a", "Index 0"]
          }
        }
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func errorsOfClosuresArePassedOn(_ backend: Backend) throws {
    struct Stop: Error {}
    let garage = try Place(backend).garage()
    garage.withDateEncodingStrategy(.custom { _, _ in throw Stop() }) {
      _ = #expect(throws: Stop.self) { try garage.park(Appointment(id: 1, date: Date())) }
    }
    #expect(try garage.count(Appointment.self) == 0)
    try garage.withDateEncodingStrategy(.secondsSince1970) {
      try garage.park(Appointment(id: 1, date: Date()))
    }
    garage.withDateDecodingStrategy(.custom { _ in throw Stop() }) {
      _ = #expect(throws: Stop.self) { try garage.retrieve(Appointment.self, identifier: 1) }
    }
  }

  // MARK: - What identifies is exact

  @Test(arguments: Backend.allCases, DateTests.strategies)
  func identifiersAndKeysAreExact(_ backend: Backend, _ strategy: Strategy) throws {
    let garage = try Place(backend).garage()
    let (date, other, third) = (DateTests.dates[1], DateTests.dates[0], DateTests.dates[2])
    let span = SpanEntry.Span(name: "n", start: date, more: [other, third])
    let remark = DatedRemark(date: date)
    let identifier = try garage.identifier(for: remark)
    let coins = [DatedCoin(date: date), DatedCoin(date: date.addingTimeInterval(0.001))]
    try garage.withDateEncodingStrategy(strategy.encoding) {
      try garage.park(DatedEntry(id: date, other: other))
      try garage.park(SpanEntry(id: span, other: date.addingTimeInterval(60)))
      try garage.park(
        DateTable(byDate: [date: 1, date.addingTimeInterval(0.001): 2], byKey: [.init(date: date): other]))
      #expect(try garage.identifier(for: remark) == identifier)
      try garage.park(remark)
      try garage.park(DatedRemark(date: date.addingTimeInterval(0.001)))
      try garage.park(Purse(coins: coins, first: coins[0]))
    }
    try garage.withDateDecodingStrategy(strategy.decoding) {
      let entry = try #require(try garage.retrieve(DatedEntry.self, identifier: date))
      #expect(try (entry.id, entry.other) == (date, strategy.json(other)))
      let spanned = try #require(try garage.retrieve(SpanEntry.self, identifier: span))
      #expect(try (spanned.id, spanned.other) == (span, strategy.json(date.addingTimeInterval(60))))
      let table = try #require(try garage.retrieve(DateTable.self, identifier: 1))
      #expect(table.byDate == [date: 1, date.addingTimeInterval(0.001): 2])
      #expect(try table.byKey == [.init(date: date): strategy.json(other)])
      #expect(try garage.retrieve(DatedRemark.self, identifier: identifier) != nil)
      #expect(try garage.count(DatedRemark.self) == 2)
      #expect(try garage.count(DatedCoin.self) == 2)
      #expect(try garage.retrieve(Purse.self, identifier: 1)?.coins.count == 2)
    }
  }

  private struct Log: Codable, Identifiable, Equatable {
    var id = 1
    var at: Set<Date> = []
    var events: Set<Event> = []
    var deep: Set<Deep> = []
    struct Event: Codable, Hashable { var at: Date }
    /// It is written in containers within one another, one of which stays open meanwhile.
    struct Deep: Codable, Hashable {
      var at: Date
      var name = ""
      init(at: Date) { self.at = at }

      init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: PlainCodingKey.self)
        var list = try outer.nestedUnkeyedContainer(forKey: "list")
        at = try list.nestedContainer(keyedBy: PlainCodingKey.self).decode(Date.self, forKey: "at")
        name = try outer.decode(String.self, forKey: "name")
      }
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: PlainCodingKey.self)
        var list = outer.nestedUnkeyedContainer(forKey: "list")
        var inner = list.nestedContainer(keyedBy: PlainCodingKey.self)
        try outer.encode(name, forKey: "name")
        try inner.encode(at, forKey: "at")
      }
    }
  }

  /// One of them would be lost, and a set is asked whether it holds a date.
  @Test(arguments: Backend.allCases)
  func datesOfASetThatAStrategyWritesAlikeAreRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (date, later) = (Date(timeIntervalSince1970: 100), Date(timeIntervalSince1970: 100.25))
    let logs = [
      Log(at: [date, later]), Log(events: [.init(at: date), .init(at: later)]),
      Log(deep: [.init(at: date), .init(at: later)]),
    ]
    for log in logs {
      #expect {
        try garage.withDateEncodingStrategy(.iso8601) { try garage.park(log) }
      } throws: { error in
        guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return false }
        return context.debugDescription.contains("date strategy")
      }
      #expect(try garage.count(Log.self) == 0)
    }
    // Those that it tells apart are written, also where the milliseconds are what does.
    for log in logs {
      try garage.withDateEncodingStrategy(.millisecondsSince1970) { try garage.park(log) }
      let found = try garage.withDateDecodingStrategy(.millisecondsSince1970) {
        try garage.retrieve(Log.self, identifier: 1)
      }
      #expect(found == log)
      try garage.delete(log)
    }
  }

  @Test(arguments: Backend.allCases, DateTests.strategies)
  func keysOfMappedDictionariesAreExact(_ backend: Backend, _ strategy: Strategy) throws {
    let garage = try Place(backend).garage()
    let (table, next) = (Timetable(), Timetable())
    (table.name, next.name) = ("a", "b")
    table.byDate = [DateTests.dates[0]: next, DateTests.dates[1]: next]
    try garage.withDateEncodingStrategy(strategy.encoding) { try garage.park(table) }
    let found = try #require(try garage.retrieve(Timetable.self, identifier: "a"))
    #expect(found.byDate.mapValues(\.name) == [DateTests.dates[0]: "b", DateTests.dates[1]: "b"])
  }

  /// A value parked by itself that is a date.
  @Test(arguments: Backend.allCases)
  func aDateByItself(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let date = DateTests.dates[1]
    try garage.park(date)
    #expect(try garage.retrieve(Date.self, identifier: garage.identifier(for: date)) == date)
    try garage.withDateEncodingStrategy(.iso8601) { try garage.park(date) }
    #expect(try garage.count(Date.self) == 1)
    #expect(throws: DecodingError.self) { try garage.retrieveAll(Date.self) }
    let found = try garage.withDateDecodingStrategy(.iso8601) { try garage.retrieveAll(Date.self) }
    #expect(found.map(\.timeIntervalSince1970) == [date.timeIntervalSince1970.rounded(.down)])
  }
}

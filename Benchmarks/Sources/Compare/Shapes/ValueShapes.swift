import Foundation

// Foundation's values, and values of one's own.

struct Document: Shape {
  static let title = "UUIDs, dates, URL, Decimal, Data"
  var id: Int
  var uuid: UUID
  var author: UUID
  var created: Date
  var changed: Date
  var source: URL
  var price: Decimal
  var thumbnail: Data

  static func make(_ number: Int, _ maker: inout Maker) -> Document {
    Document(
      id: number, uuid: maker.uuid(), author: maker.uuid(), created: maker.date(), changed: maker.date(),
      source: maker.url(), price: maker.decimal(), thumbnail: maker.data(32))
  }
}

extension Document {
  func write(to writer: inout HandWriter) {
    writer.write(id, uuid, author, created)
    writer.write(changed, source, price, thumbnail)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), uuid: reader.next(), author: reader.next(), created: reader.next(),
      changed: reader.next(), source: reader.next(), price: reader.next(), thumbnail: reader.next())
  }
}

struct Invoice: Shape {
  static let title = "eight Decimals in lines"

  struct Line: Codable, Equatable {
    var text: String
    var price: Decimal
    var tax: Decimal
  }

  var id: Int
  var net: Decimal
  var gross: Decimal
  var lines: [Line]

  static func make(_ number: Int, _ maker: inout Maker) -> Invoice {
    Invoice(
      id: number, net: maker.decimal(), gross: maker.decimal(),
      lines: maker.array(3) { Line(text: $0.words(2), price: $0.decimal(), tax: $0.decimal()) })
  }
}

extension Invoice {
  func write(to writer: inout HandWriter) { writer.write(id, net, gross, lines) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), net: reader.next(), gross: reader.next(), lines: reader.next())
  }
}

extension Invoice.Line: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(text, price, tax) }
  init(reading reader: inout HandReader) throws {
    try self.init(text: reader.next(), price: reader.next(), tax: reader.next())
  }
}

struct Bookmarks: Shape {
  static let title = "five URLs"
  var id: Int
  var home: URL
  var links: [URL]

  static func make(_ number: Int, _ maker: inout Maker) -> Bookmarks {
    Bookmarks(id: number, home: maker.url(), links: maker.array(4) { $0.url() })
  }
}

extension Bookmarks {
  func write(to writer: inout HandWriter) { writer.write(id, home, links) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), home: reader.next(), links: reader.next())
  }
}

struct Workout: Shape {
  static let title = "three Measurements"
  var id: Int
  var distance: Measurement<UnitLength>
  var duration: Measurement<UnitDuration>
  var energy: Measurement<UnitEnergy>

  static func make(_ number: Int, _ maker: inout Maker) -> Workout {
    Workout(
      id: number,
      distance: Measurement(value: maker.price(), unit: maker.pick([.meters, .kilometers, .miles])),
      duration: Measurement(value: maker.price(), unit: maker.pick([.seconds, .minutes])),
      energy: Measurement(value: maker.price(), unit: maker.pick([.kilocalories, .kilojoules])))
  }
}

extension Workout {
  func write(to writer: inout HandWriter) { writer.write(id, distance, duration, energy) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), distance: reader.next(), duration: reader.next(), energy: reader.next())
  }
}

struct Booking: Shape {
  static let title = "ranges"
  var id: Int
  var rooms: ClosedRange<Int>
  var prices: Range<Double>
  var stay: ClosedRange<Date>
  var meals: [Range<Int>]

  static func make(_ number: Int, _ maker: inout Maker) -> Booking {
    let (first, low, start) = (maker.int(1...400), maker.price(), maker.date())
    return Booking(
      id: number, rooms: first...(first + 3), prices: low..<(low + 50),
      stay: start...start.addingTimeInterval(86_400), meals: maker.array(3) { 7..<$0.int(8...12) })
  }
}

extension Booking {
  func write(to writer: inout HandWriter) { writer.write(id, rooms, prices, stay, meals) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), rooms: reader.next(), prices: reader.next(), stay: reader.next(),
      meals: reader.next())
  }
}

struct History: Shape {
  static let title = "events with many dates"

  struct Event: Codable, Equatable {
    var planned: Date
    var started: Date
    var ended: Date?
    var title: String
  }

  var id: Int
  var created: Date
  var changed: Date
  var archived: Date?
  var events: [Event]
  var reminders: [Date]

  static func make(_ number: Int, _ maker: inout Maker) -> History {
    History(
      id: number, created: maker.date(), changed: maker.date(), archived: maker.maybe { $0.date() },
      events: maker.array(4) {
        Event(planned: $0.date(), started: $0.date(), ended: $0.maybe { $0.date() }, title: $0.word())
      }, reminders: maker.array(6) { $0.date() })
  }
}

extension History {
  func write(to writer: inout HandWriter) { writer.write(id, created, changed, archived, events, reminders) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), created: reader.next(), changed: reader.next(), archived: reader.next(),
      events: reader.next(), reminders: reader.next())
  }
}

extension History.Event: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(planned, started, ended, title) }
  init(reading reader: inout HandReader) throws {
    try self.init(planned: reader.next(), started: reader.next(), ended: reader.next(), title: reader.next())
  }
}

struct Membership: Shape {
  static let title = "option sets"

  struct Rights: OptionSet, Codable, HandRaw {
    let rawValue: Int
    static let read = Rights(rawValue: 1)
    static let write = Rights(rawValue: 2)
    static let share = Rights(rawValue: 4)
    static let delete = Rights(rawValue: 8)
  }

  struct Days: OptionSet, Codable, HandRaw {
    let rawValue: UInt8
  }

  var id: Int
  var rights: Rights
  var inherited: Rights
  var days: Days
  var history: [Rights]

  static func make(_ number: Int, _ maker: inout Maker) -> Membership {
    Membership(
      id: number, rights: Rights(rawValue: maker.int(0...15)), inherited: [.read, .share],
      days: Days(rawValue: UInt8(maker.int(0...127))),
      history: maker.array(5) { Rights(rawValue: $0.int(0...15)) })
  }
}

extension Membership {
  func write(to writer: inout HandWriter) { writer.write(id, rights, inherited, days, history) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), rights: reader.next(), inherited: reader.next(), days: reader.next(),
      history: reader.next())
  }
}

struct Ticket: Shape {
  static let title = "RawRepresentable identifiers"

  struct ID: RawRepresentable, Codable, Hashable, HandRaw {
    var rawValue: String
  }

  struct UserID: RawRepresentable, Codable, Hashable, HandRaw {
    var rawValue: Int
  }

  struct ProjectID: RawRepresentable, Codable, Hashable, HandRaw {
    var rawValue: UUID
  }

  var id: ID
  var title: String
  var reporter: UserID
  var assignee: UserID?
  var project: ProjectID
  var watchers: [UserID]
  var duplicates: [ID]

  static func make(_ number: Int, _ maker: inout Maker) -> Ticket {
    Ticket(
      id: ID(rawValue: "GAR-\(100_000 + number)"), title: maker.words(4),
      reporter: UserID(rawValue: maker.int(1...999)),
      assignee: maker.maybe { UserID(rawValue: $0.int(1...999)) },
      project: ProjectID(rawValue: maker.uuid()),
      watchers: maker.array(3) { UserID(rawValue: $0.int(1...999)) },
      duplicates: maker.array(2) { ID(rawValue: "GAR-\($0.int(100_000...200_000))") })
  }
}

extension Ticket {
  func write(to writer: inout HandWriter) {
    writer.write(id, title, reporter)
    writer.write(assignee, project, watchers, duplicates)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), title: reader.next(), reporter: reader.next(), assignee: reader.next(),
      project: reader.next(), watchers: reader.next(), duplicates: reader.next())
  }
}

struct Meeting: Shape {
  static let title = "DateInterval, TimeZone, Locale, CGRect"
  var id: Int
  var time: DateInterval
  var zone: TimeZone
  var locale: Locale
  var frame: CGRect

  static func make(_ number: Int, _ maker: inout Maker) -> Meeting {
    Meeting(
      id: number, time: DateInterval(start: maker.date(), duration: Double(maker.int(1...8)) * 900),
      zone: TimeZone(identifier: maker.pick(["Europe/Berlin", "Asia/Tokyo", "America/New_York"]))!,
      locale: Locale(identifier: maker.pick(["de_DE", "en_GB", "ja_JP"])),
      frame: CGRect(x: maker.int(0...99), y: maker.int(0...99), width: 320, height: 240))
  }
}

extension Meeting {
  func write(to writer: inout HandWriter) {
    writer.write(id, time.start, time.duration, zone.identifier, locale.identifier)
    writer.write(frame)
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    let (start, duration): (Date, Double) = try (reader.next(), reader.next())
    guard duration >= 0, let zone = TimeZone(identifier: try reader.next()) else {
      throw HandReader.Damaged()
    }
    (time, self.zone) = (DateInterval(start: start, duration: duration), zone)
    locale = try Locale(identifier: reader.next())
    frame = try reader.next()
  }
}

import Foundation

// Dictionaries and sets: hashed here, sorted there.

struct Prices: Shape {
  static let title = "dictionary of five doubles by string"
  var id: Int
  var byShop: [String: Double]

  static func make(_ number: Int, _ maker: inout Maker) -> Prices {
    Prices(id: number, byShop: maker.dictionary(5) { $0.price() })
  }
}

extension Prices {
  func write(to writer: inout HandWriter) { writer.write(id, byShop) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), byShop: reader.next()) }
}

struct Contacts: Shape {
  static let title = "dictionary of three structs by string"
  var id: Int
  var addresses: [String: Shipment.Address]

  static func make(_ number: Int, _ maker: inout Maker) -> Contacts {
    Contacts(
      id: number,
      addresses: maker.dictionary(3) {
        Shipment.Address(street: $0.words(2), city: $0.word(), zip: $0.int(10_000...99_999))
      })
  }
}

extension Contacts {
  func write(to writer: inout HandWriter) { writer.write(id, addresses) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), addresses: reader.next()) }
}

struct Chapters: Shape {
  static let title = "dictionary of four strings by integer"
  var id: Int
  var titles: [Int: String]

  static func make(_ number: Int, _ maker: inout Maker) -> Chapters {
    Chapters(
      id: number,
      titles: Dictionary(uniqueKeysWithValues: (0..<4).map { ($0 * 10 + maker.int(0...9), maker.words(2)) }))
  }
}

extension Chapters {
  func write(to writer: inout HandWriter) { writer.write(id, titles) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), titles: reader.next()) }
}

struct Diary: Shape {
  static let title = "dates as dictionary keys"
  var id: Int
  var weights: [Date: Double]
  var notes: [Date: String]

  static func make(_ number: Int, _ maker: inout Maker) -> Diary {
    let start = maker.date()
    func days<Value>(_ count: Int, _ value: () -> Value) -> [Date: Value] {
      Dictionary(
        uniqueKeysWithValues: (0..<count).map { (start.addingTimeInterval(Double($0) * 86_400), value()) })
    }
    return Diary(id: number, weights: days(5) { maker.price() }, notes: days(3) { maker.words(3) })
  }
}

extension Diary {
  func write(to writer: inout HandWriter) { writer.write(id, weights, notes) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), weights: reader.next(), notes: reader.next())
  }
}

struct Roster: Shape {
  static let title = "UUIDs as dictionary keys"
  var id: Int
  var names: [UUID: String]

  static func make(_ number: Int, _ maker: inout Maker) -> Roster {
    Roster(
      id: number, names: Dictionary(uniqueKeysWithValues: (0..<5).map { _ in (maker.uuid(), maker.words(2)) })
    )
  }
}

extension Roster {
  func write(to writer: inout HandWriter) { writer.write(id, names) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), names: reader.next()) }
}

enum Weekday: String, Codable, HandCase {
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday
  static let caseCount: UInt8 = 7
}

struct OpeningHours: Shape {
  static let title = "enums as dictionary keys"
  var id: Int
  var opens: [Weekday: Int]
  var closes: [Weekday: Int]

  static func make(_ number: Int, _ maker: inout Maker) -> OpeningHours {
    func week(_ hours: ClosedRange<Int>, _ maker: inout Maker) -> [Weekday: Int] {
      Dictionary(uniqueKeysWithValues: Weekday.allCases.prefix(6).map { ($0, maker.int(hours)) })
    }
    return OpeningHours(id: number, opens: week(6...11, &maker), closes: week(15...23, &maker))
  }
}

extension OpeningHours {
  func write(to writer: inout HandWriter) { writer.write(id, opens, closes) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), opens: reader.next(), closes: reader.next())
  }
}

struct Wallet: Shape {
  static let title = "coding keys as dictionary keys"

  /// Coded as a key, where other keys that are no text make a list of keys and values.
  struct Currency: RawRepresentable, CodingKeyRepresentable, Codable, Hashable, HandRaw {
    var rawValue: String
  }

  var id: Int
  var amounts: [Currency: Int]
  var limits: [Currency: Double]

  static func make(_ number: Int, _ maker: inout Maker) -> Wallet {
    func money<Value>(_ codes: [String], _ value: () -> Value) -> [Currency: Value] {
      Dictionary(uniqueKeysWithValues: codes.map { (Currency(rawValue: $0), value()) })
    }
    return Wallet(
      id: number, amounts: money(["EUR", "USD", "GBP", "JPY", "CHF"]) { maker.int(0...99_999) },
      limits: money(["EUR", "USD", "GBP"]) { maker.price() })
  }
}

extension Wallet {
  func write(to writer: inout HandWriter) { writer.write(id, amounts, limits) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), amounts: reader.next(), limits: reader.next())
  }
}

struct Translations: Shape {
  static let title = "nested dictionaries"
  var id: Int
  var byLanguage: [String: [String: String]]

  static func make(_ number: Int, _ maker: inout Maker) -> Translations {
    Translations(
      id: number,
      byLanguage: Dictionary(
        uniqueKeysWithValues: ["de", "en", "fr"].map { ($0, maker.dictionary(4) { $0.words(2) }) }))
  }
}

extension Translations {
  func write(to writer: inout HandWriter) { writer.write(id, byLanguage) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), byLanguage: reader.next())
  }
}

struct BookIndex: Shape {
  static let title = "dictionaries of arrays"
  var id: Int
  var pages: [String: [Int]]
  var names: [String: [String]]

  static func make(_ number: Int, _ maker: inout Maker) -> BookIndex {
    BookIndex(
      id: number, pages: maker.dictionary(4) { $0.array(5) { $0.int(1...900) } },
      names: maker.dictionary(3) { $0.array(3) { $0.word() } })
  }
}

extension BookIndex {
  func write(to writer: inout HandWriter) { writer.write(id, pages, names) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), pages: reader.next(), names: reader.next())
  }
}

struct Glossary: Shape {
  static let title = "dictionary of 100 entries"
  static let count = 200
  var id: Int
  var counts: [String: Int]

  static func make(_ number: Int, _ maker: inout Maker) -> Glossary {
    Glossary(id: number, counts: maker.dictionary(100) { $0.int(0...100_000) })
  }
}

extension Glossary {
  func write(to writer: inout HandWriter) { writer.write(id, counts) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), counts: reader.next()) }
}

struct Labels: Shape {
  static let title = "sets of strings and integers"
  var id: Int
  var names: Set<String>
  var numbers: Set<Int>

  static func make(_ number: Int, _ maker: inout Maker) -> Labels {
    Labels(id: number, names: Set(maker.keys(5)), numbers: Set(maker.array(6) { $0.int(0...9999) }))
  }
}

extension Labels {
  func write(to writer: inout HandWriter) { writer.write(id, names, numbers) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), names: reader.next(), numbers: reader.next())
  }
}

struct Board: Shape {
  static let title = "set of structs"

  struct Square: Codable, Hashable {
    var column: Int
    var row: Int
    var piece: String
  }

  var id: Int
  var squares: Set<Square>

  static func make(_ number: Int, _ maker: inout Maker) -> Board {
    Board(
      id: number,
      squares: Set(maker.array(5) { Square(column: $0.int(0...99), row: $0.int(0...99), piece: $0.word()) }))
  }
}

extension Board {
  func write(to writer: inout HandWriter) { writer.write(id, squares) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), squares: reader.next()) }
}

extension Board.Square: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(column, row, piece) }
  init(reading reader: inout HandReader) throws {
    try self.init(column: reader.next(), row: reader.next(), piece: reader.next())
  }
}

struct Schedule: Shape {
  static let title = "sets of enums, UUIDs, dates"
  var id: Int
  var days: Set<Weekday>
  var people: Set<UUID>
  var holidays: Set<Date>

  static func make(_ number: Int, _ maker: inout Maker) -> Schedule {
    Schedule(
      id: number, days: Set(maker.array(4) { $0.pick() }), people: Set(maker.array(3) { $0.uuid() }),
      holidays: Set(maker.array(3) { $0.date() }))
  }
}

extension Schedule {
  func write(to writer: inout HandWriter) { writer.write(id, days, people, holidays) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), days: reader.next(), people: reader.next(), holidays: reader.next())
  }
}

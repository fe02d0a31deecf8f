import Foundation

// Arrays.

struct Order: Shape {
  static let title = "array of five structs"

  struct Line: Codable, Equatable {
    var product: String
    var quantity: Int
    var price: Double
  }

  var id: Int
  var customer: String
  var lines: [Line]

  static func make(_ number: Int, _ maker: inout Maker) -> Order {
    Order(
      id: number, customer: maker.words(2),
      lines: maker.array(5) { Line.make(&$0) })
  }
}

extension Order {
  func write(to writer: inout HandWriter) { writer.write(id, customer, lines) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), customer: reader.next(), lines: reader.next())
  }
}

extension Order.Line: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(product, quantity, price) }
  init(reading reader: inout HandReader) throws {
    try self.init(product: reader.next(), quantity: reader.next(), price: reader.next())
  }
}

struct Track: Shape {
  static let title = "array of 1 000 small structs"
  static let count = 20

  struct Fix: Codable, Equatable {
    var latitude: Double
    var longitude: Double
    var seconds: Int
  }

  var id: Int
  var name: String
  var fixes: [Fix]

  static func make(_ number: Int, _ maker: inout Maker) -> Track {
    Track(
      id: number, name: maker.words(2),
      fixes: maker.array(1000) {
        Fix(latitude: $0.degrees(), longitude: $0.degrees(), seconds: $0.int(0...100_000))
      })
  }
}

extension Track {
  func write(to writer: inout HandWriter) { writer.write(id, name, fixes) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), name: reader.next(), fixes: reader.next())
  }
}

extension Track.Fix: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(latitude, longitude, seconds) }
  init(reading reader: inout HandReader) throws {
    try self.init(latitude: reader.next(), longitude: reader.next(), seconds: reader.next())
  }
}

struct Series: Shape {
  static let title = "50 integers, 50 doubles"
  var id: Int
  var counts: [Int]
  var values: [Double]

  static func make(_ number: Int, _ maker: inout Maker) -> Series {
    Series(id: number, counts: maker.array(50) { $0.int(0...10_000) }, values: maker.array(50) { $0.price() })
  }
}

extension Series {
  func write(to writer: inout HandWriter) { writer.write(id, counts, values) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), counts: reader.next(), values: reader.next())
  }
}

struct Matrix: Shape {
  static let title = "nested arrays of doubles"
  var id: Int
  var name: String
  var rows: [[Double]]
  var cubes: [[[Int]]]

  static func make(_ number: Int, _ maker: inout Maker) -> Matrix {
    Matrix(
      id: number, name: maker.word(), rows: maker.array(8) { $0.array(8) { $0.price() } },
      cubes: maker.array(2) { $0.array(3) { $0.array(4) { $0.int(0...99) } } })
  }
}

extension Matrix {
  func write(to writer: inout HandWriter) { writer.write(id, name, rows, cubes) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), name: reader.next(), rows: reader.next(), cubes: reader.next())
  }
}

struct Survey: Shape {
  static let title = "arrays of optionals"
  var id: Int
  var answers: [String?]
  var ratings: [Int?]
  var times: [Date?]

  static func make(_ number: Int, _ maker: inout Maker) -> Survey {
    Survey(
      id: number, answers: maker.array(6) { $0.maybe { $0.word() } },
      ratings: maker.array(10) { $0.maybe { $0.int(1...5) } },
      times: maker.array(6) { $0.maybe { $0.date() } })
  }
}

extension Survey {
  func write(to writer: inout HandWriter) { writer.write(id, answers, ratings, times) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), answers: reader.next(), ratings: reader.next(), times: reader.next())
  }
}

struct Playlist: Shape {
  static let title = "arrays of strings, dates, UUIDs, booleans"
  var id: Int
  var titles: [String]
  var played: [Date]
  var songs: [UUID]
  var isLiked: [Bool]

  static func make(_ number: Int, _ maker: inout Maker) -> Playlist {
    Playlist(
      id: number, titles: maker.array(10) { $0.words(2) }, played: maker.array(10) { $0.date() },
      songs: maker.array(10) { $0.uuid() }, isLiked: maker.array(10) { $0.bool() })
  }
}

extension Playlist {
  func write(to writer: inout HandWriter) { writer.write(id, titles, played, songs, isLiked) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), titles: reader.next(), played: reader.next(), songs: reader.next(),
      isLiked: reader.next())
  }
}

struct Draft: Shape {
  static let title = "empty collections"
  var id: Int
  var title: String
  var tags: [String]
  var lines: [Order.Line]
  var prices: [String: Double]
  var readers: Set<Int>
  var attachment: Data
  var note: String

  static func make(_ number: Int, _ maker: inout Maker) -> Draft {
    Draft(
      id: number, title: maker.words(2), tags: [], lines: [], prices: [:], readers: [], attachment: Data(),
      note: "")
  }
}

extension Draft {
  func write(to writer: inout HandWriter) {
    writer.write(id, title, tags, lines)
    writer.write(prices, readers, attachment, note)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), title: reader.next(), tags: reader.next(), lines: reader.next(),
      prices: reader.next(), readers: reader.next(), attachment: reader.next(), note: reader.next())
  }
}

struct Embedding: Shape {
  static let title = "384 floats, 256 bytes as an array"
  static let count = 300
  var id: Int
  var model: String
  var vector: [Float]
  var mask: [UInt8]

  static func make(_ number: Int, _ maker: inout Maker) -> Embedding {
    Embedding(
      id: number, model: maker.word(), vector: maker.array(384) { Float($0.int(-4096...4096)) / 4096 },
      mask: maker.array(256) { $0.bits() })
  }
}

extension Embedding {
  func write(to writer: inout HandWriter) { writer.write(id, model, vector, mask) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), model: reader.next(), vector: reader.next(), mask: reader.next())
  }
}

struct Shift: Shape {
  static let title = "arrays of raw enums"

  enum Duty: Int, Codable, HandCase {
    case off, early, late, night
    static let caseCount: UInt8 = 4
  }

  var id: Int
  var worker: String
  var days: [Weekday]
  var duties: [Duty]

  static func make(_ number: Int, _ maker: inout Maker) -> Shift {
    Shift(
      id: number, worker: maker.words(2), days: maker.array(5) { $0.pick() },
      duties: maker.array(14) { $0.pick() })
  }
}

extension Shift {
  func write(to writer: inout HandWriter) { writer.write(id, worker, days, duties) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), worker: reader.next(), days: reader.next(), duties: reader.next())
  }
}

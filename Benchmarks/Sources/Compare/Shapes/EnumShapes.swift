import Foundation

// Enums with payloads, as the compiler codes them and as one does it by hand.

struct Drawing: Shape {
  static let title = "array of four enums with payloads"

  enum Figure: Codable, Equatable {
    case empty
    case circle(radius: Double)
    case rectangle(width: Double, height: Double)
    case text(String, size: Int)
  }

  var id: Int
  var figures: [Figure]

  static func make(_ number: Int, _ maker: inout Maker) -> Drawing {
    Drawing(
      id: number,
      figures: maker.array(4) { maker in
        switch maker.int(0...3) {
        case 0: .empty
        case 1: .circle(radius: maker.price())
        case 2: .rectangle(width: maker.price(), height: maker.price())
        default: .text(maker.words(2), size: maker.int(8...40))
        }
      })
  }
}

extension Drawing {
  func write(to writer: inout HandWriter) { writer.write(id, figures) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), figures: reader.next()) }
}

extension Drawing.Figure: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .empty: writer.write(0 as UInt8)
    case .circle(let radius): writer.write(1 as UInt8, radius)
    case .rectangle(let width, let height): writer.write(2 as UInt8, width, height)
    case .text(let text, let size): writer.write(3 as UInt8, text, size)
    }
  }

  init(reading reader: inout HandReader) throws {
    switch try reader.tag(below: 4) {
    case 0: self = .empty
    case 1: self = .circle(radius: try reader.next())
    case 2: self = try .rectangle(width: reader.next(), height: reader.next())
    default: self = try .text(reader.next(), size: reader.next())
    }
  }
}

struct Delivery: Shape {
  static let title = "optional enums with payloads"

  enum State: Codable, Equatable {
    case waiting
    case sent(at: Date)
    case failed(reason: String, attempts: Int)
  }

  var id: Int
  var state: State
  var former: State?
  var next: State?

  static func make(_ number: Int, _ maker: inout Maker) -> Delivery {
    func state(_ maker: inout Maker) -> State {
      switch maker.int(0...2) {
      case 0: .waiting
      case 1: .sent(at: maker.date())
      default: .failed(reason: maker.words(3), attempts: maker.int(1...9))
      }
    }
    return Delivery(
      id: number, state: state(&maker), former: maker.maybe { state(&$0) }, next: maker.maybe { state(&$0) })
  }
}

extension Delivery {
  func write(to writer: inout HandWriter) { writer.write(id, state, former, next) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), state: reader.next(), former: reader.next(), next: reader.next())
  }
}

extension Delivery.State: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .waiting: writer.write(0 as UInt8)
    case .sent(let date): writer.write(1 as UInt8, date)
    case .failed(let reason, let attempts): writer.write(2 as UInt8, reason, attempts)
    }
  }

  init(reading reader: inout HandReader) throws {
    switch try reader.tag(below: 3) {
    case 0: self = .waiting
    case 1: self = .sent(at: try reader.next())
    default: self = try .failed(reason: reader.next(), attempts: reader.next())
    }
  }
}

struct Payment: Shape {
  static let title = "enums that hold structs"

  struct Card: Codable, Equatable {
    var holder: String
    var lastDigits: Int
    var expires: Date
  }

  struct Transfer: Codable, Equatable {
    var iban: String
    var reference: String?
  }

  enum Method: Codable, Equatable {
    case card(Card)
    case transfer(Transfer)
    case cash
  }

  var id: Int
  var amount: Double
  var method: Method
  var fallback: Method

  static func make(_ number: Int, _ maker: inout Maker) -> Payment {
    func method(_ maker: inout Maker) -> Method {
      switch maker.int(0...4) {
      case 0, 1: .card(Card(holder: maker.words(2), lastDigits: maker.int(0...9999), expires: maker.date()))
      case 2, 3:
        .transfer(
          Transfer(iban: "DE\(maker.int(10_000_000...99_999_999))", reference: maker.maybe { $0.words(2) }))
      default: .cash
      }
    }
    return Payment(id: number, amount: maker.price(), method: method(&maker), fallback: method(&maker))
  }
}

extension Payment {
  func write(to writer: inout HandWriter) { writer.write(id, amount, method, fallback) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), amount: reader.next(), method: reader.next(), fallback: reader.next())
  }
}

extension Payment.Card: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(holder, lastDigits, expires) }
  init(reading reader: inout HandReader) throws {
    try self.init(holder: reader.next(), lastDigits: reader.next(), expires: reader.next())
  }
}

extension Payment.Transfer: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(iban, reference) }
  init(reading reader: inout HandReader) throws {
    try self.init(iban: reader.next(), reference: reader.next())
  }
}

extension Payment.Method: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .card(let card): writer.write(0 as UInt8, card)
    case .transfer(let transfer): writer.write(1 as UInt8, transfer)
    case .cash: writer.write(2 as UInt8)
    }
  }

  init(reading reader: inout HandReader) throws {
    switch try reader.tag(below: 3) {
    case 0: self = .card(try reader.next())
    case 1: self = .transfer(try reader.next())
    default: self = .cash
    }
  }
}

struct Inbox: Shape {
  static let title = "tagged unions by hand"

  /// An object whose key `type` tells what the others are.
  enum Message: Codable, Equatable {
    case text(body: String)
    case image(url: String, width: Int, height: Int)
    case location(latitude: Double, longitude: Double)
    case typing

    private enum CodingKeys: String, CodingKey { case type, body, url, width, height, latitude, longitude }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      switch try container.decode(String.self, forKey: .type) {
      case "text": self = .text(body: try container.decode(String.self, forKey: .body))
      case "image":
        self = try .image(
          url: container.decode(String.self, forKey: .url), width: container.decode(Int.self, forKey: .width),
          height: container.decode(Int.self, forKey: .height))
      case "location":
        self = try .location(
          latitude: container.decode(Double.self, forKey: .latitude),
          longitude: container.decode(Double.self, forKey: .longitude))
      case "typing": self = .typing
      case let type:
        throw DecodingError.dataCorruptedError(
          forKey: .type, in: container, debugDescription: "There is no message of type \(type).")
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .text(let body):
        try container.encode("text", forKey: .type)
        try container.encode(body, forKey: .body)
      case .image(let url, let width, let height):
        try container.encode("image", forKey: .type)
        try container.encode(url, forKey: .url)
        try container.encode(width, forKey: .width)
        try container.encode(height, forKey: .height)
      case .location(let latitude, let longitude):
        try container.encode("location", forKey: .type)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
      case .typing:
        try container.encode("typing", forKey: .type)
      }
    }
  }

  var id: Int
  var owner: String
  var messages: [Message]

  static func make(_ number: Int, _ maker: inout Maker) -> Inbox {
    Inbox(
      id: number, owner: maker.word(),
      messages: maker.array(5) { maker in
        switch maker.int(0...3) {
        case 0: .text(body: maker.words(5))
        case 1:
          .image(url: maker.url().absoluteString, width: maker.int(10...4000), height: maker.int(10...4000))
        case 2: .location(latitude: maker.degrees(), longitude: maker.degrees())
        default: .typing
        }
      })
  }
}

extension Inbox {
  func write(to writer: inout HandWriter) { writer.write(id, owner, messages) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), owner: reader.next(), messages: reader.next())
  }
}

extension Inbox.Message: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .text(let body): writer.write(0 as UInt8, body)
    case .image(let url, let width, let height): writer.write(1 as UInt8, url, width, height)
    case .location(let latitude, let longitude): writer.write(2 as UInt8, latitude, longitude)
    case .typing: writer.write(3 as UInt8)
    }
  }

  init(reading reader: inout HandReader) throws {
    switch try reader.tag(below: 4) {
    case 0: self = .text(body: try reader.next())
    case 1: self = try .image(url: reader.next(), width: reader.next(), height: reader.next())
    case 2: self = try .location(latitude: reader.next(), longitude: reader.next())
    default: self = .typing
    }
  }
}

import Foundation

// Generic types, alone and in each other.

struct Box<Value: Codable & Equatable & HandCoded>: Codable, Equatable {
  var value: Value
  var changed: Date
}

extension Box: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(value, changed) }
  init(reading reader: inout HandReader) throws {
    try self.init(value: reader.next(), changed: reader.next())
  }
}

struct Sensor: Shape {
  static let title = "generic boxes"
  var id: Int
  var name: Box<String>
  var level: Box<Double>
  var count: Box<Int>
  var isOn: Box<Bool>

  static func make(_ number: Int, _ maker: inout Maker) -> Sensor {
    Sensor(
      id: number, name: Box(value: maker.words(2), changed: maker.date()),
      level: Box(value: maker.price(), changed: maker.date()),
      count: Box(value: maker.int(0...999), changed: maker.date()),
      isOn: Box(value: maker.bool(), changed: maker.date()))
  }
}

extension Sensor {
  func write(to writer: inout HandWriter) { writer.write(id, name, level, count, isOn) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), name: reader.next(), level: reader.next(), count: reader.next(), isOn: reader.next())
  }
}

struct Page<Item: Codable & Equatable & HandCoded>: Codable, Equatable {
  var items: [Item]
  var first: Item?
  var total: Int
}

extension Page: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(items, first, total) }
  init(reading reader: inout HandReader) throws {
    try self.init(items: reader.next(), first: reader.next(), total: reader.next())
  }
}

struct Pair<A: Codable & Equatable & HandCoded, B: Codable & Equatable & HandCoded>: Codable, Equatable {
  var a: A
  var b: B
}

extension Pair: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(a, b) }
  init(reading reader: inout HandReader) throws { try self.init(a: reader.next(), b: reader.next()) }
}

struct Listing: Shape {
  static let title = "generics in generics"
  var id: Int
  var boxes: Page<Box<String>>
  var pairs: Page<Pair<Int, Box<Double>>>

  static func make(_ number: Int, _ maker: inout Maker) -> Listing {
    let boxes = maker.array(3) { Box(value: $0.word(), changed: $0.date()) }
    let pairs = maker.array(3) { Pair(a: $0.int(0...99), b: Box(value: $0.price(), changed: $0.date())) }
    return Listing(
      id: number, boxes: Page(items: boxes, first: boxes.first, total: maker.int(3...500)),
      pairs: Page(items: pairs, first: maker.bool() ? pairs.first : nil, total: maker.int(3...500)))
  }
}

extension Listing {
  func write(to writer: inout HandWriter) { writer.write(id, boxes, pairs) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), boxes: reader.next(), pairs: reader.next())
  }
}

/// What an envelope can hold.
protocol Content: Codable, Equatable, HandCoded {
  static func make(_ maker: inout Maker) -> Self
}

struct Envelope<Inner: Content>: Shape {
  static var title: String { "generic object around a struct" }
  var id: Int
  var content: Inner
  var sent: Date

  static func make(_ number: Int, _ maker: inout Maker) -> Envelope {
    Envelope(id: number, content: Inner.make(&maker), sent: maker.date())
  }
}

extension Envelope {
  func write(to writer: inout HandWriter) { writer.write(id, content, sent) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), content: reader.next(), sent: reader.next())
  }
}

extension Order.Line: Content {
  static func make(_ maker: inout Maker) -> Order.Line {
    Order.Line(product: maker.words(2), quantity: maker.int(1...20), price: maker.price())
  }
}

import Foundation

// Text and bytes of all sizes.

struct Article: Shape {
  static let title = "2 KB of text"
  var id: Int
  var headline: String
  var body: String

  static func make(_ number: Int, _ maker: inout Maker) -> Article {
    Article(id: number, headline: maker.words(6), body: maker.text(2000))
  }
}

extension Article {
  func write(to writer: inout HandWriter) { writer.write(id, headline, body) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), headline: reader.next(), body: reader.next())
  }
}

struct CyrillicArticle: Shape {
  static let title = "2 KB of Cyrillic text"
  var id: Int
  var headline: String
  var body: String

  private static let words = [
    "гараж", "машина", "дорога", "книга", "и", "в", "хранить", "быстрее", "объект", "ёлка",
  ]

  static func make(_ number: Int, _ maker: inout Maker) -> CyrillicArticle {
    CyrillicArticle(id: number, headline: maker.words(6, of: words), body: maker.text(2000, of: words))
  }
}

extension CyrillicArticle {
  func write(to writer: inout HandWriter) { writer.write(id, headline, body) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), headline: reader.next(), body: reader.next())
  }
}

struct ChineseArticle: Shape {
  static let title = "Chinese and Japanese text"
  var id: Int
  var headline: String
  var body: String
  var tags: [String]

  private static let words = ["车库", "図書館", "東京", "はやい", "保存する", "カタログ", "数据库", "。", "物件", "我们"]

  static func make(_ number: Int, _ maker: inout Maker) -> ChineseArticle {
    ChineseArticle(
      id: number, headline: maker.words(6, of: words), body: maker.text(1000, of: words),
      tags: maker.array(4) { $0.pick(words) })
  }
}

extension ChineseArticle {
  func write(to writer: inout HandWriter) { writer.write(id, headline, body, tags) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), headline: reader.next(), body: reader.next(), tags: reader.next())
  }
}

struct Chat: Shape {
  static let title = "short texts with emoji"
  var id: Int
  var sender: String
  var messages: [String]

  private static let words = [
    "hi", "lol 😂", "see you 👋🏽", "👩‍👧‍👦", "café ☕️", "ok", "on my way 🚲", "🎉🎉", "naïve", "🇪🇺",
  ]

  static func make(_ number: Int, _ maker: inout Maker) -> Chat {
    Chat(
      id: number, sender: maker.pick(["Zoë 🦊", "Sam", "Éowyn"]),
      messages: maker.array(8) { $0.words($0.int(1...4), of: words) })
  }
}

extension Chat {
  func write(to writer: inout HandWriter) { writer.write(id, sender, messages) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), sender: reader.next(), messages: reader.next())
  }
}

struct Log: Shape {
  static let title = "strings of varying length"
  static let count = 300
  var id: Int
  var source: String
  var lines: [String]

  static func make(_ number: Int, _ maker: inout Maker) -> Log {
    Log(
      id: number, source: maker.word(),
      lines: maker.array(20) { maker in
        let length = maker.pick([0, 3, 12, 15, 16, 40, 120, 253, 256, 400])
        return length == 0 ? "" : String(maker.text(length).prefix(length))
      })
  }
}

extension Log {
  func write(to writer: inout HandWriter) { writer.write(id, source, lines) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), source: reader.next(), lines: reader.next())
  }
}

/// A name and bytes; those who conform say how many.
protocol Blob: Shape {
  static var byteCount: Int { get }
  var id: Int { get }
  var name: String { get }
  var data: Data { get }
  init(id: Int, name: String, data: Data)
}

extension Blob {
  static func make(_ number: Int, _ maker: inout Maker) -> Self {
    Self(id: number, name: maker.word(), data: maker.data(byteCount))
  }

  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(id, name, data) }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), name: reader.next(), data: reader.next())
  }
}

struct Digest: Blob {
  static let title = "Data of 16 bytes"
  static let byteCount = 16
  var id: Int
  var name: String
  var data: Data
}

struct Thumbnail: Blob {
  static let title = "Data of 1 KB"
  static let byteCount = 1 << 10
  var id: Int
  var name: String
  var data: Data
}

struct Photo: Blob {
  static let title = "Data of 64 KB"
  static let byteCount = 1 << 16
  static let count = 50
  var id: Int
  var name: String
  var data: Data
}

import Foundation
import GarageStorage
import Testing

// Indexes: a type and a row of golden values. Its tag, properties and indexes are stored: they never change.

/// Has values of every kind that an index orders.
struct GoldenWare: Codable, Identifiable, Equatable, TypeTagged, Indexed {
  static var typeTag: String { "golden ware" }
  var id: Int
  var count = -3
  var wide = 1 << 60 | 1
  var weight = -0.5
  var price = Decimal(string: "0.1")!
  var name = "cafe\u{301} \u{0}"
  var nickname: String?
  var isNew = true
  var made = Date(timeIntervalSinceReferenceDate: 123_456_789.25)
  var code = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  var picture = Data([1, 0, 2])
  var tags = ["a", "b", "a"]
  var long = String(repeating: "long", count: 60)

  static var indexes: [Index<GoldenWare>] {
    [
      Index(\.count, .readable), Index(\.wide, .unique, .readable), Index(\.weight, .readable),
      Index(\.price, .readable), Index(\.name, \.nickname, .readable), Index(\.isNew, \.made, .readable),
      Index(\.code, .readable), Index(\.picture, .readable), Index(each: \.tags, .readable),
      Index(\.long, .readable), Index("any", \.name, .caseInsensitive, .readable),
    ]
  }
}

@GoldenRows var goldenIndexes: [GoldenValue] {
  goldenObject("indexes", tag: "golden ware", json: goldenWareJSON, by: { $0 == $1 }) { GoldenWare(id: 1) }
}

private let goldenWareJSON = """
  {"id":1,"count":-3,"wide":1152921504606846977,"weight":-0.5,"price":0.1,"name":"cafe\u{301} \\u0000","isNew":true,\
  "made":123456789.25,"code":"01020304-0506-0708-090A-0B0C0D0E0F10","picture":"AQAC","tags":["a","b","a"],\
  "long":"\(String(repeating: "long", count: 60))"}
  """

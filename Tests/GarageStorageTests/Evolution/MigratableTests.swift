import Foundation
import GarageMemory
import GarageStorage
import Testing

private struct MigratablePlace: Codable, Equatable {
  var city: String
  var since: Date?
  var guest: MigratableGuest?
  var parts: [Int]?
}
private struct MigratableGuest: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "MCGuest" }
  var id: String
}
private struct OrderBefore<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migratable.order" }
  var id = 1
  var place: Value
}
private struct OrderNow: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migratable.order" }
  var id = 1
  @Migratable var place: MigratablePlace
  @Migratable var other: MigratablePlace?
}

/// A property under `@Migratable` reads what GarageStorage stored for it, and is stored as itself from then on.
@Suite struct MigratableTests {
  private static let json = """
    {"city": "Ulm", "parts": [1, 2], "none": null, "guest": {"gs_identifier": "g", "gs_type": "MCGuest"}, \
    "since": {"gs_type": "gs_transformableType", "gs_transformableType": "gs_transformableDate", \
    "gs_transformableData": "2015-07-01T10:00:00Z"}}
    """

  @Test(arguments: Backend.allCases) func readsWhatWasAnAnonymousObject(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    func read() throws -> OrderNow { try #require(try garage.retrieve(OrderNow.self, identifier: 1)) }
    try garage.park(MigratableGuest(id: "g"))
    // Inline, as it stands in a garage.
    try garage.park(OrderBefore(place: ["city": "Ulm"]))
    #expect(try read().place == MigratablePlace(city: "Ulm") && read().other == nil)
    // As GarageStorage left it.
    let legacy = [
      "gs_identifier": "kGSAnonymousObject", "gs_type": "MCPlace", "kGSAnonymousDataKey": Self.json,
    ]
    try garage.park(OrderBefore(place: legacy))
    let since = Date(timeIntervalSince1970: 1_435_744_800)
    let place = MigratablePlace(city: "Ulm", since: since, guest: MigratableGuest(id: "g"), parts: [1, 2])
    var order = try read()
    #expect(order.place == place)
    // Written as itself.
    order.other = place
    try garage.park(order)
    #expect(try garage.retrieve(OrderBefore<MigratablePlace>.self, identifier: 1)?.place == place)
    #expect(try read().other == place)
    try garage.park(OrderBefore(place: ["kGSAnonymousDataKey": "secret"]))
    #expect(throws: DecodingError.self) { try read() }
  }

  /// "Never", as it was written in Berlin, which had a time of its own then.
  @Test func datesOfLongAgo() throws {
    let text = "0001-01-01T00:53:28+00:53:28"
    let date =
      "{\"gs_type\": \"gs_transformableType\", \"gs_transformableType\": \"gs_transformableDate\", "
      + "\"gs_transformableData\": \"\(text)\"}"
    let garage = try Garage(MemoryStorage())
    try garage.park(OrderBefore(place: ["kGSAnonymousDataKey": "{\"city\": \"Ulm\", \"since\": \(date)}"]))
    #expect(try garage.retrieve(OrderNow.self, identifier: 1)?.place.since == .distantPast)
    func decode(_ text: String) throws -> Date? {
      let place = ["kGSAnonymousDataKey": "{\"city\": \"b\", \"since\": \"\(text)\"}"]
      let data = try JSONEncoder().encode(OrderBefore(place: place))
      return try JSONDecoder().decode(OrderNow.self, from: data).place.since
    }
    #expect(try decode(text) == .distantPast && decode("0001-01-01T00:00:00Z") == .distantPast)
    #expect(try decode("2015-07-01T10:00:00Z") == Date(timeIntervalSince1970: 1_435_744_800))
    #expect(throws: DecodingError.self) { try decode("yesterday") }
  }

  @Test func otherCoders() throws {
    var order = OrderNow(place: MigratablePlace(city: "a"), other: nil)
    let data = try JSONEncoder().encode(order)
    #expect(String(decoding: data, as: UTF8.self).contains(#""place":{"city":"a"}"#))
    #expect(!String(decoding: data, as: UTF8.self).contains("other"))
    order = try JSONDecoder().decode(OrderNow.self, from: data)
    #expect(order.place.city == "a" && order.other == nil)
    let old = #"{"id": 1, "place": {"kGSAnonymousDataKey": "{\"city\": \"b\"}"}}"#
    #expect(try JSONDecoder().decode(OrderNow.self, from: Data(old.utf8)).place.city == "b")
  }
}

import Foundation
import Testing

@testable import GarageStorage

/// Types that say that only their own `init(from:)` understands their fields.
@Suite struct OpaqueFieldsTests {
  /// Ends the program on values that do not go together, all of which it keeps.
  struct Booking: Codable, Identifiable, Equatable, OpaqueFields {
    var id: Int
    var start: Date
    var end: Date
    var total: UInt
    var used: UInt
    let rest: UInt
    var name: String

    private enum CodingKeys: CodingKey { case id, start, end, total, used, name }

    init(_ id: Int) {
      self.id = id
      start = Date(timeIntervalSince1970: Double(id * 1000))
      end = start + 10
      (total, used) = (UInt(id) + 5, UInt(id))
      rest = 5
      name = id == 37 ? "" : "name \(id % 3)"
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      start = try container.decode(Date.self, forKey: .start)
      end = try container.decode(Date.self, forKey: .end)
      precondition((start...end).contains(start) && end.timeIntervalSince(start) == 10)
      total = try container.decode(UInt.self, forKey: .total)
      used = try container.decode(UInt.self, forKey: .used)
      rest = total - used
      let name = try container.decode(String.self, forKey: .name)
      self.name = name.isEmpty ? "nobody" : name
    }
  }

  /// Holds one of these, some, and none.
  struct Trip: Codable, Identifiable, Equatable {
    var id: Int
    var title: String
    var span: Span
    var other: Span?
    var all: [Span]
    init(_ id: Int) {
      (self.id, title, span) = (id, "title \(id % 4)", Span(id % 3))
      (other, all) = (id % 2 == 0 ? Span(id) : nil, [Span(1), Span(id)])
    }
  }
  struct Span: Codable, Equatable, OpaqueFields {
    var lower: Int
    var upper: Int
    init(_ number: Int) { (lower, upper) = (number, number + 7) }
    private enum CodingKeys: CodingKey { case lower, upper }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      lower = try container.decode(Int.self, forKey: .lower)
      upper = try container.decode(Int.self, forKey: .upper)
      precondition((lower...upper).count == 8)
    }
  }

  private func decodes<Root: Codable & SendableMetatype>(
    _ condition: Condition<Root>, _ garage: Garage
  ) throws -> Bool {
    try garage.query(Root.self).where(condition).explain().description.contains("decodes")
  }

  @Test(arguments: Backend.allCases)
  func objects(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<40).map(Booking.init))
    let all = try garage.retrieveAll(Booking.self)
    let query = garage.query(Booking.self)
    #expect(try query.where(\.name == "nobody").retrieveAll().map(\.id) == [37])
    #expect(try query.where(\.rest == 5).count() == 40)
    #expect(try query.where(\.used < 10).retrieveAll() == all.filter { $0.used < 10 })
    #expect(try query.where(\.start > all[4].start).count() == 35)
    #expect(try query.values(\.name) == all.map(\.name))
    #expect(try query.sum(\.total) == all.reduce(0) { $0 + $1.total })
    #expect(try query.sorted(by: \.end, .descending).limit(3).values(\.id) == [39, 38, 37])
    #expect(try query.updateAll { $0.name += "!" } == 40)
    #expect(try query.where(\.name == "nobody!").count() == 1)
    #expect(try decodes(\Booking.name == "x", garage))
  }

  @Test(arguments: Backend.allCases)
  func valuesInOthers(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<40).map(Trip.init)
    try garage.parkAll(all)
    let query = garage.query(Trip.self)
    #expect(try query.where(\.title == "title 1").retrieveAll() == all.filter { $0.title == "title 1" })
    #expect(try query.where(\.span.lower == 2).retrieveAll() == all.filter { $0.span.lower == 2 })
    #expect(try query.where(\.other?.upper == 9).retrieveAll() == all.filter { $0.other?.upper == 9 })
    #expect(try query.where(\.other == nil).count() == 20)
    #expect(try query.where(\.span == Span(1)).count() == all.count { $0.span == Span(1) })
    #expect(try !decodes(\Trip.title == "x", garage))
    #expect(try decodes(\Trip.span.lower == 1, garage))
  }

  private struct Indexable: Codable, Identifiable, Indexed, OpaqueFields {
    static var indexes: [Index<Indexable>] { [Index(\.name)] }
    var id: Int
    var name: String
  }

  @Test func haveNoIndexes() throws {
    let garage = try Place(.memory).garage()
    let error = #expect(throws: GarageError.self) {
      try garage.park(Indexable(id: 1, name: "a"))
      try garage.buildIndexes()
    }
    #expect("\(try #require(error))".contains("has OpaqueFields"))
  }
}

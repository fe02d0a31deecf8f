import Synchronization
import Testing

@testable import GarageStorage

/// Nullifying what objects refer to whose `init(from:)` looks at several fields together.
@Suite struct FieldsTogetherTests {
  /// Who refuses; nil where the line was deleted.
  private func refusal(_ garage: Garage, _ id: Int) throws -> String? {
    do {
      try garage.delete(Line.self, identifier: id, referrers: .nullify)
      return nil
    } catch GarageError.stillReferredTo(_, _, let by) {
      return by
    }
  }

  private func line(_ id: Int) -> Reference<Line> { Reference(Line.self, identifier: id) }

  /// One of two optional properties has to be there: neither is needed by itself.
  @Test(arguments: Backend.allCases, [true, false])
  func oneOfTwoStays(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll((1...3).map { Line(id: $0) })
    let contacts = [
      Contact(id: 1, phone: line(1), mobile: line(1)), Contact(id: 2, phone: line(2), mobile: nil),
      Contact(id: 3, phone: line(3), mobile: line(2)),
    ]
    try garage.parkAll(contacts)
    let both = try refusal(garage, 1) ?? ""
    #expect(both.contains("Contact \"1\"") && both.contains("mobile, phone"), "\(both)")
    let alone = try refusal(garage, 2) ?? ""
    #expect(alone.contains("Contact \"2\"") && alone.contains("phone"), "\(alone)")
    #expect(try garage.retrieveAll(Contact.self) == contacts)
    // The third has another one.
    #expect(try refusal(garage, 3) == nil)
    let left = contacts.dropLast() + [Contact(id: 3, phone: nil, mobile: line(2))]
    #expect(try garage.retrieveAll(Contact.self) == Array(left))
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
  }

  /// One that cannot be decoded anyway forbids nothing.
  @Test(arguments: Backend.allCases, [true, false])
  func theUnreadableForbidNothing(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.park(Line(id: 1))
    try garage.park(OldCaller(id: 1, phone: nil, spare: line(1)))
    #expect(throws: (any Error).self) { try garage.retrieve(Caller.self, identifier: 1) }
    #expect(try refusal(garage, 1) == nil)
    #expect(try garage.retrieve(OldCaller.self, identifier: 1)?.spare == nil)
    #expect(try garage.referrers(of: Line.self, identifier: 1).isEmpty)
  }

  /// What many refer to, each of which holds the next one: all are decoded in one go.
  @Test func chainsAreDecodedOnce() throws {
    for backend in Backend.engines {
      let garage = try backend.relations(Place(backend), isIndexed: true)
      let hub = Hub(id: "a")
      var last: Rung?
      for id in (0..<Rung.count).reversed() { last = Rung(id: id, next: last, hub: hub) }
      try garage.park(#require(last))
      let before = Rung.decodeCount.withLock { $0 }
      try garage.delete(hub, referrers: .nullify)
      let count = Rung.decodeCount.withLock { $0 } - before
      #expect(count < 20 * Rung.count, "\(count)")
      let rungs = try garage.retrieveAll(Rung.self)
      #expect(rungs.count == Rung.count && rungs.allSatisfy { $0.hub == nil })
    }
  }

  /// What they link to is not decoded at all.
  @Test func linksAreNotFollowed() throws {
    for backend in Backend.engines {
      let garage = try backend.relations(Place(backend), isIndexed: true)
      let hub = Hub(id: "a")
      let knots = (0..<Knot.count).map { Knot($0) }
      for (id, knot) in knots.enumerated() { knot.next = knots[(id + 1) % Knot.count] }
      knots[0].hub = hub
      knots[7].hub = hub
      try garage.parkAll(knots)
      for knot in knots { knot.next = nil }
      let before = Knot.decodeCount.withLock { $0 }
      try garage.delete(hub, referrers: .nullify)
      let count = Knot.decodeCount.withLock { $0 } - before
      #expect(count < Knot.count, "\(count)")
      #expect(try garage.referrers(of: hub).isEmpty && garage.count(Knot.self) == Knot.count)
    }
  }
}

extension FieldsTogetherTests {
  fileprivate struct Line: Codable, Identifiable { var id: Int }

  /// Can be called in some way.
  fileprivate struct Contact: Codable, Identifiable, Equatable {
    var id: Int
    var phone: Reference<Line>?
    var mobile: Reference<Line>?

    init(id: Int, phone: Reference<Line>?, mobile: Reference<Line>?) {
      (self.id, self.phone, self.mobile) = (id, phone, mobile)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      phone = try container.decodeIfPresent(Reference<Line>.self, forKey: .phone)
      mobile = try container.decodeIfPresent(Reference<Line>.self, forKey: .mobile)
      if phone == nil && mobile == nil {
        throw DecodingError.dataCorruptedError(
          forKey: .phone, in: container, debugDescription: "nobody can be called")
      }
    }
  }

  fileprivate struct OldCaller: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "caller of fields together" }
    var id: Int
    var phone: Reference<Line>?
    var spare: Reference<Line>?
  }

  fileprivate struct Caller: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "caller of fields together" }
    var id: Int
    var phone: Reference<Line>
    var spare: Reference<Line>?
  }

  /// Holds the next one.
  fileprivate final class Rung: Codable, Identifiable {
    static let count = 500
    static let decodeCount = Mutex(0)
    let id: Int
    let next: Rung?
    let hub: Hub?

    init(id: Int, next: Rung?, hub: Hub?) { (self.id, self.next, self.hub) = (id, next, hub) }

    init(from decoder: any Decoder) throws {
      Rung.decodeCount.withLock { $0 += 1 }
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      next = try container.decodeIfPresent(Rung.self, forKey: .next)
      hub = try container.decodeIfPresent(Hub.self, forKey: .hub)
    }
  }

  /// Links to the next one, in a circle.
  fileprivate final class Knot: Codable, Identifiable {
    static let count = 5000
    static let decodeCount = Mutex(0)
    let id: Int
    @Linked var next: Knot?
    var hub: Hub?

    init(_ id: Int) { self.id = id }

    init(from decoder: any Decoder) throws {
      Knot.decodeCount.withLock { $0 += 1 }
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      _next = try container.decode(Linked<Knot?>.self, forKey: .next)
      hub = try container.decodeIfPresent(Hub.self, forKey: .hub)
    }
  }
}

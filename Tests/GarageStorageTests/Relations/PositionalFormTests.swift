import Foundation
import Testing

@testable import GarageStorage

/// Arrays without keys from which references go: what is a collection gets shorter, what has a meaning by its place keeps it.
@Suite struct PositionalFormTests {
  private func garage(_ backend: Backend, _ isIndexed: Bool) throws -> Garage {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try garage.parkAll((1...4).map { Stop(id: $0) })
    return garage
  }

  private func isRefused(_ garage: Garage, _ id: Int) -> Bool {
    do {
      try garage.delete(Stop.self, identifier: id, referrers: .nullify)
      return false
    } catch GarageError.stillReferredTo {
      return true
    } catch {
      Issue.record(error)
      return false
    }
  }

  @Test(arguments: Backend.allCases, [true, false])
  func aPairKeepsItsOrder(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.park(
      Line(id: 1, ends: Ends(from: stop(1), to: stop(2)), spare: Ends(from: stop(2), to: stop(1))))
    #expect(!isRefused(garage, 1))
    #expect(
      try garage.retrieveAll(Line.self) == [
        Line(id: 1, ends: Ends(from: nil, to: stop(2)), spare: Ends(from: stop(2), to: nil))
      ])
    #expect(!isRefused(garage, 2))
    #expect(
      try garage.retrieveAll(Line.self) == [
        Line(id: 1, ends: Ends(from: nil, to: nil), spare: Ends(from: nil, to: nil))
      ])
  }

  /// What stands beside a reference stays where it is.
  @Test(arguments: Backend.allCases, [true, false])
  func aPairOfOtherThingsStays(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.park(Label(id: 1, named: Named(name: "a", stop: stop(1))))
    #expect(!isRefused(garage, 1))
    #expect(try garage.retrieveAll(Label.self) == [Label(id: 1, named: Named(name: "a", stop: nil))])
  }

  /// One that has to be there is not taken out.
  @Test(arguments: Backend.allCases, [true, false])
  func aNeededEndStays(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    let ride = Ride(id: 1, leg: Leg(from: stop(1), via: stop(2)))
    try garage.park(ride)
    #expect(isRefused(garage, 1))
    #expect(try garage.retrieveAll(Ride.self) == [ride])
    #expect(!isRefused(garage, 2))
    #expect(try garage.retrieveAll(Ride.self) == [Ride(id: 1, leg: Leg(from: stop(1), via: nil))])
  }

  @Test(arguments: Backend.allCases, [true, false])
  func anEntryGoesAsAWhole(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    let token = UUID()
    try garage.park(
      Plan(
        id: 1, next: [stop(1): stop(2), stop(2): stop(1), stop(3): stop(4)],
        first: [stop(1): 1, stop(2): 2], byToken: [token: stop(1), UUID(): stop(1)],
        all: [stop(1), stop(2), stop(1)], some: [stop(1), nil, stop(3)],
        sets: [[stop(1)], [stop(2), stop(1)]],
        path: Path(stops: [stop(4), stop(1), stop(3)])))
    #expect(!isRefused(garage, 1))
    #expect(
      try garage.retrieveAll(Plan.self) == [
        Plan(
          id: 1, next: [stop(3): stop(4)], first: [stop(2): 2], byToken: [:], all: [stop(2)],
          some: [nil, stop(3)], sets: [[], [stop(2)]], path: Path(stops: [stop(4), stop(3)]))
      ])
    #expect(!isRefused(garage, 4))
    #expect(try garage.retrieve(Plan.self, identifier: 1)?.next == [:])
  }

  /// Of a type that changes nothing is made up, and its collections are known all the same.
  @Test(arguments: Backend.allCases, [true, false])
  func evolvingTypes(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.park(
      Tour(
        id: 1, stops: [stop(1), stop(2)], next: [stop(1): stop(3), stop(2): stop(3)],
        ends: Ends(from: stop(1), to: stop(2))))
    #expect(!isRefused(garage, 1))
    #expect(
      try garage.retrieveAll(Tour.self) == [
        Tour(id: 1, stops: [stop(2)], next: [stop(2): stop(3)], ends: Ends(from: nil, to: stop(2)))
      ])
  }

  /// What stands in a case of an enum, whichever it is.
  @Test(arguments: Backend.allCases, [true, false])
  func payloads(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    try garage.parkAll([
      Post(id: 1, content: .album([stop(1), stop(2)])),
      Post(id: 2, content: .named(name: "a", stops: [stop(2), stop(1), stop(1)])),
      Post(id: 3, content: .ends(Ends(from: stop(1), to: stop(2)))), Post(id: 4, content: .only(stop(3))),
    ])
    #expect(!isRefused(garage, 1))
    #expect(
      try garage.retrieveAll(Post.self).map(\.content) == [
        .album([stop(2)]), .named(name: "a", stops: [stop(2)]), .ends(Ends(from: nil, to: stop(2))),
        .only(stop(3)),
      ])
    #expect(!isRefused(garage, 2))
    #expect(
      try garage.retrieveAll(Post.self).map(\.content) == [
        .album([]), .named(name: "a", stops: []), .ends(Ends(from: nil, to: nil)), .only(stop(3)),
      ])
    #expect(isRefused(garage, 3))
  }

  /// Values that stand in values of their type, however deep.
  @Test(arguments: Backend.allCases, [true, false])
  func valuesInEachOther(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend, isIndexed)
    func part(_ depth: Int, _ stops: [Reference<Stop>]) -> Part {
      let parts = depth == 0 ? [] : [part(depth - 1, stops), Part(stops: [], parts: [])]
      return Part(stops: stops, goal: stops.first, parts: parts)
    }
    try garage.park(Manual(id: 1, parts: [part(0, []), part(6, [stop(1), stop(2), stop(1)])]))
    #expect(!isRefused(garage, 1))
    var book = try #require(try garage.retrieve(Manual.self, identifier: 1))
    for _ in 0...6 {
      let part = try #require(book.parts.first { !$0.stops.isEmpty })
      #expect(part.stops == [stop(2)] && part.goal == nil)
      book.parts = part.parts
    }
  }
}

private enum Content: Codable, Hashable {
  case none
  case album([Reference<Stop>])
  case named(name: String, stops: [Reference<Stop>])
  case ends(Ends)
  case only(Reference<Stop>)
}

private struct Post: Codable, Identifiable {
  var id: Int
  var content: Content
}

private struct Part: Codable {
  var stops: [Reference<Stop>]
  var goal: Reference<Stop>?
  var parts: [Part]
}

private struct Manual: Codable, Identifiable {
  var id: Int
  var parts: [Part]
}

private struct Stop: Codable, Identifiable {
  var id: Int
}

private func stop(_ id: Int) -> Reference<Stop> { Reference(Stop.self, identifier: id) }

/// Two elements, of which each may be nil and has its meaning.
private struct Ends: Codable, Hashable {
  var (from, to): (Reference<Stop>?, Reference<Stop>?)

  init(from: Reference<Stop>?, to: Reference<Stop>?) { (self.from, self.to) = (from, to) }
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    from = try container.decodeIfPresent(Reference<Stop>.self)
    to = try container.decodeIfPresent(Reference<Stop>.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(from)
    try container.encode(to)
  }
}

private struct Line: Codable, Identifiable, Hashable {
  var id: Int
  var ends: Ends
  var spare: Ends?
}

private struct Named: Codable, Hashable {
  var (name, stop): (String?, Reference<Stop>?)

  init(name: String?, stop: Reference<Stop>?) { (self.name, self.stop) = (name, stop) }
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    name = try container.decodeIfPresent(String.self)
    stop = try container.decodeIfPresent(Reference<Stop>.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(name)
    try container.encode(stop)
  }
}

private struct Label: Codable, Identifiable, Hashable {
  var id: Int
  var named: Named
}

private struct Leg: Codable, Hashable {
  var from: Reference<Stop>
  var via: Reference<Stop>?

  init(from: Reference<Stop>, via: Reference<Stop>?) { (self.from, self.via) = (from, via) }
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    from = try container.decode(Reference<Stop>.self)
    via = try container.decodeIfPresent(Reference<Stop>.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(from)
    try container.encode(via)
  }
}

private struct Ride: Codable, Identifiable, Hashable {
  var id: Int
  var leg: Leg
}

/// A collection of one's own.
private struct Path: Codable, Hashable {
  var stops: [Reference<Stop>]

  init(stops: [Reference<Stop>]) { self.stops = stops }
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    stops = []
    while !container.isAtEnd { stops.append(try container.decode(Reference<Stop>.self)) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for stop in stops { try container.encode(stop) }
  }
}

private struct Plan: Codable, Identifiable, Hashable {
  var id: Int
  var next: [Reference<Stop>: Reference<Stop>]
  var first: [Reference<Stop>: Int]
  var byToken: [UUID: Reference<Stop>]
  var all: [Reference<Stop>]
  var some: [Reference<Stop>?]
  var sets: [Set<Reference<Stop>>]
  var path: Path
}

private struct Tour: Codable, Identifiable, Hashable, Evolving {
  static var propertyAliases: [String: [String]] { ["stops": ["places"]] }
  var id: Int
  var stops: [Reference<Stop>]
  var next: [Reference<Stop>: Reference<Stop>]
  var ends: Ends
}

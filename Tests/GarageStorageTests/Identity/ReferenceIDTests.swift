import Foundation
import GarageStorage
import Testing

// What can be no `id` of a type is refused, and a reference gives its target's `id` back.

private struct Box<ID: Codable & Hashable & Sendable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "Box of \(ID.self)" }
  var id: ID
}

private struct Holder<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
}

private enum Suit: String, Codable { case clubs, spades }
private struct Serial: RawRepresentable, Codable, Hashable { var rawValue: Int }
private struct Coordinate: Codable, Hashable { var x: Int, y: String, z: Double?, tags: Set<String> }
private struct Other: Codable, Hashable { var x = 1 }
private struct Version: LosslessStringConvertible, Codable, Hashable {
  var major: Int, minor: Int
  init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }
  init?(_ text: String) {
    let parts = text.split(separator: ".").compactMap { Int($0) }
    guard parts.count == 2 else { return nil }
    self.init(parts[0], parts[1])
  }
  var description: String { "\(major).\(minor)" }
}

private final class Named: MappableObject {
  var number = 0
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Named.self)
    mapping.add("number", \Named.number)
    mapping.identifyingAttribute = "number"
    return mapping
  }
}

/// A reference is made of an `id` that its type can have, and gives it back.
@Suite struct ReferenceIDTests {
  private func expectUnsuitable(
    _ words: [String], _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    #expect(sourceLocation: location) {
      try body()
    } throws: { error in
      guard case GarageError.unsuitableIdentifier? = error as? GarageError else { return false }
      return words.allSatisfy { "\(error)".contains($0) }
    }
  }

  @Test(arguments: Backend.allCases)
  func whatCanBeNoIDIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Box(id: 7)])
    for text in ["x", "07", "", "7.0"] {
      let words = ["Box", "\"\(text)\"", "Int"]
      expectUnsuitable(words) { _ = try garage.retrieve(Box<Int>.self, identifier: text) }
      expectUnsuitable(words) { _ = try garage.contains(Box<Int>.self, identifier: text) }
      expectUnsuitable(words) { try garage.delete(Box<Int>.self, identifier: text) }
      expectUnsuitable(words) { _ = try garage.retrieve(Reference(Box<Int>.self, identifier: text)) }
    }
    expectUnsuitable(["x"]) { _ = try garage.retrieve(Box<Int>.self, identifier: "x") }
    expectUnsuitable([]) { _ = try garage.retrieve(Box<Int>.self, identifier: UUID()) }
    expectUnsuitable([]) { _ = try garage.retrieve(Reference(Box<Int>.self, identifier: UUID())) }
    expectUnsuitable([]) { _ = try garage.retrieve(Reference(Box<Int>.self, identifier: Other())) }
    expectUnsuitable([]) { _ = try garage.retrieve(Reference(Box<Int>.self, identifier: Int?.none)) }
    expectUnsuitable([]) { _ = try garage.retrieve(Reference(Box<Coordinate>.self, identifier: Other())) }
    expectUnsuitable([]) { _ = try garage.retrieve(Reference(Box<Coordinate>.self, identifier: "x")) }
    expectUnsuitable(["UUID"]) { _ = try garage.retrieve(Box<UUID>.self, identifier: "no UUID") }
    expectUnsuitable(["Date"]) { _ = try garage.retrieve(Box<Date>.self, identifier: "today") }
    expectUnsuitable(["Double"]) { _ = try garage.retrieve(Box<Double>.self, identifier: "x") }
    expectUnsuitable(["Version"]) { _ = try garage.retrieve(Box<Version>.self, identifier: "one") }
    expectUnsuitable(["Serial"]) { _ = try garage.retrieve(Box<Serial>.self, identifier: "one") }
    expectUnsuitable(["Int"]) { _ = try garage.retrieve(Named.self, identifier: "one") }
    // Where it is used, and not only where it is retrieved.
    expectUnsuitable([]) {
      try garage.park(Holder(value: [Reference(Box<Int>.self, identifier: "x")]))
    }
    #expect(try garage.count(Box<Int>.self) == 1)

    // What stands for one.
    #expect(try garage.retrieve(Box<Int>.self, identifier: "7") != nil)
    #expect(try garage.retrieve(Box<Int>.self, identifier: UInt8(7)) != nil)
    #expect(try garage.retrieve(Box<Int>.self, identifier: garage.identifier(for: Box(id: 7))) != nil)
    #expect(
      try garage.retrieve(Reference(Box<Int>.self, identifier: garage.identifier(for: Box(id: 7)))) != nil)
    #expect(try garage.retrieve(Reference(Box<Int>.self, identifier: "7"))?.id == 7)
    #expect(try garage.retrieve(Reference(Box<Int>.self, identifier: AnyHashable(7)))?.id == 7)
    #expect(try garage.retrieve(Box<String>.self, identifier: UUID()) == nil)
    #expect(try garage.retrieve(Box<Double>.self, identifier: 3) == nil)
    #expect(try garage.retrieve(Box<Suit>.self, identifier: "clubs") == nil)
    #expect(try garage.retrieve(Box<Int?>.self, identifier: "7") == nil)
    #expect(try garage.retrieve(Named.self, identifier: 8) == nil)
  }

  private func check<ID: Codable & Hashable & Sendable>(
    _ garage: Garage, _ ids: [ID], _ location: SourceLocation = #_sourceLocation
  ) throws {
    for id in ids {
      let references = [
        Reference(Box<ID>.self, identifier: id), Reference(to: Box(id: id)),
        Reference(Box<ID>.self, identifier: try garage.identifier(for: Box(id: id))),
      ]
      try garage.park(Holder(value: references))
      let found = try #require(try garage.retrieve(Holder<[Reference<Box<ID>>]>.self, identifier: 1))
      for reference in references + found.value {
        #expect(reference.id == id, "\(id)", sourceLocation: location)
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func aReferenceGivesItsIDBack(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try check(garage, [0, 7, -7, Int.max, .min])
    try check(garage, [UInt8(0), .max])
    try check(garage, [Int128.min, .max, 5])
    try check(garage, [UInt128.max, 0])
    try check(
      garage, ["", "Sam", "caf\u{E9}", "cafe\u{301}", "nul\0", String(repeating: "long ", count: 100)])
    try check(garage, [UUID(), UUID()])
    try check(garage, [Date(timeIntervalSinceReferenceDate: -0.25), .distantFuture])
    try check(garage, [1.5, -0.0, .infinity])
    try check(garage, [Suit.clubs, .spades])
    try check(garage, [Serial(rawValue: 3), Serial(rawValue: -3)])
    try check(garage, [Version(1, 10)])
    try check(garage, [true, false])
    try check(garage, [Int?.none, 7])
    try check(garage, [Suit?.none, .clubs])
    try check(garage, [[1, 2], []])
    try check(garage, [["a": 1.5, "b": 2]])
    try check(garage, [URL(fileURLWithPath: "/a")])
    try check(
      garage,
      [
        Coordinate(x: 1, y: "y", z: nil, tags: []),
        Coordinate(x: -1, y: "caf\u{E9}", z: 0.5, tags: ["b", "a", String(repeating: "c", count: 300)]),
      ])
    #expect(Reference(Box<Int>.self, identifier: "7").id == 7)
    #expect(Reference(Box<Double>.self, identifier: Double.nan).id?.isNaN == true)
    #expect(Reference(Box<Int>.self, identifier: "x").id == nil)
    #expect(Reference(Box<Suit>.self, identifier: "hearts").id == nil)
  }
}

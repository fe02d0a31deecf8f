import Foundation
import GarageStorage
import Testing

@testable import GarageChild

/// Refers to its kind, and to Codable objects, by plain properties.
private final class Knot: MappableObject, Hashable {
  var name = ""
  var twin: Knot?
  var next: [Knot] = []
  var byWay: [String: Knot] = [:]
  var byNumber: [Int: [Knot]] = [:]
  var known: Set<Knot> = []
  var rope: Rope?
  init() {}
  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  static func == (a: Knot, b: Knot) -> Bool { a.name == b.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  func cut() { (twin, next, byWay, byNumber, known, rope) = (nil, [], [:], [:], [], nil) }

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Knot.self)
    mapping.add("name", \Knot.name)
    mapping.add("twin", \Knot.twin)
    mapping.add("next", \Knot.next)
    mapping.add("byWay", \Knot.byWay)
    mapping.add("byNumber", \Knot.byNumber)
    mapping.add("known", \Knot.known)
    mapping.add("rope", \Knot.rope)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Between mapped objects, and as plain a Codable class as can be.
private final class Rope: Codable, Identifiable {
  var id: Int
  var ends: [Knot]
  var coil: Coil?
  init(_ id: Int, _ ends: [Knot]) { (self.id, self.ends) = (id, ends) }
}

private struct Coil: Codable {
  var knot: Knot
}

/// A list that is linked both ways.
private final class Carriage: MappableObject {
  var number = 0
  weak var before: Carriage?
  var after: Carriage?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Carriage.self)
    mapping.add("number", \Carriage.number)
    mapping.add("before", \Carriage.before)
    mapping.add("after", \Carriage.after)
    mapping.identifyingAttribute = "number"
    return mapping
  }
}

/// Mapped, and `Identifiable` as well: so it may be named and linked.
private final class Buoy: MappableObject, Identifiable {
  var id = 0
  var lamp: Lamp?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Buoy.self)
    mapping.add("id", \Buoy.id)
    mapping.add("lamp", \Buoy.lamp)
    return mapping
  }
}

private final class Lamp: Codable, Identifiable {
  var id = "lamp"
  @Linked var buoy: Buoy?
  var other: Reference<Buoy>?
  init() {}
}

/// Its second property cannot be read by what was parked as ``Gauge``.
private final class Gauge: MappableObject, TypeTagged {
  class var typeTag: String { "gauge" }
  var name = ""
  var dial: Dial?
  var reading = "text"
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Gauge.self)
    mapping.add("name", \Gauge.name)
    mapping.add("dial", \Gauge.dial)
    mapping.add("reading", \Gauge.reading)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class Dial: Codable, Identifiable {
  var id = 1
  init() {}
}

private final class GaugeOfNumbers: MappableObject, TypeTagged {
  static var typeTag: String { "gauge" }
  var name = ""
  var reading = 0
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: GaugeOfNumbers.self)
    mapping.add("name", \GaugeOfNumbers.name)
    mapping.add("reading", \GaugeOfNumbers.reading)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Mapped objects refer to each other by plain properties, in cycles and in chains of any length.
@Suite struct MappingGraphTests {
  @Test(arguments: Backend.allCases)
  func plainPropertiesCloseCycles(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (a, b, c) = (Knot("a"), Knot("b"), Knot("c"))
    (a.twin, a.next, a.byWay) = (a, [b, c, a], ["b": b, "a": a])
    (b.twin, b.byNumber, b.known) = (a, [1: [a, c], 2: []], [a, b, c])
    (c.next, c.known) = ([b], [c])
    try garage.park(a)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Knot.self, identifier: "a"))
    #expect(found.twin === found && found.next.map(\.name) == ["b", "c", "a"] && found.next[2] === found)
    let (foundB, foundC) = (found.next[0], found.next[1])
    #expect(found.byWay["b"] === foundB && found.byWay["a"] === found)
    #expect(foundB.twin === found && foundB.byNumber[1]?[0] === found && foundB.byNumber[2]?.isEmpty == true)
    #expect(foundB.byNumber[1]?[1] === foundC && foundB.known.count == 3)
    #expect(
      foundB.known.contains { $0 === foundC } && foundC.known.first === foundC && foundC.next[0] === foundB)
    let all = try garage.retrieveAll(Knot.self)
    #expect(all.map(\.name) == ["a", "b", "c"])
    #expect(all[0].next[1] === all[2] && all[1].twin === all[0] && all[2].next[0] === all[1])
    for knot in [a, b, c, found, foundB, foundC] + all { knot.cut() }
  }

  /// The Codable object is complete before the mapped ones that it stands between are handed out.
  @Test(arguments: Backend.allCases)
  func mixedCyclesClose(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (a, b) = (Knot("a"), Knot("b"))
    let rope = Rope(1, [a, b])
    rope.coil = Coil(knot: b)
    (a.rope, b.rope, b.twin) = (rope, rope, a)
    try garage.park(a)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Knot.self, identifier: "a"))
    let foundRope = try #require(found.rope)
    #expect(foundRope.ends[0] === found && foundRope.ends[1].rope === foundRope)
    #expect(foundRope.coil?.knot === foundRope.ends[1] && foundRope.ends[1].twin === found)
    let other = try #require(try garage.retrieve(Rope.self, identifier: 1))
    #expect(other.ends.map(\.name) == ["a", "b"] && other.ends.allSatisfy { $0.rope === other })
    for knot in [a, b, found, foundRope.ends[1]] + other.ends { knot.cut() }
  }

  @Test(arguments: Backend.engines)
  func longListsLinkedBothWaysNeedNoStack(_ backend: Backend) throws {
    let count = runsLongTests ? 20_000 : 5_000
    let place = try Place(backend)
    let garage = try place.garage()
    try onSmallStack {
      let first = Carriage()
      var last = first
      for number in 1..<count {
        let next = Carriage()
        (next.number, next.before, last.after) = (number, last, next)
        last = next
      }
      try garage.park(first)
      MappingGraphTests.takeApart(first)
    }
    try onSmallStack {
      for start in [0, count / 2] {
        let found = try #require(try garage.retrieve(Carriage.self, identifier: start))
        var (seen, next) = (start, found)
        while let after = next.after, seen < count {
          #expect(after.before === next)
          (seen, next) = (seen + 1, after)
        }
        #expect(seen == count - 1)
        MappingGraphTests.takeApart(found)
      }
    }
  }

  private static func takeApart(_ first: Carriage) {
    var next: Carriage? = first
    while let carriage = next {
      next = carriage.after
      carriage.after = nil
    }
  }

  @Test(arguments: Backend.allCases)
  func mappedObjectsCanBeNamedAndLinked(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (buoy, lamp) = (Buoy(), Lamp())
    (buoy.id, buoy.lamp, lamp.buoy) = (7, lamp, buoy)
    lamp.other = Reference(to: buoy)
    try garage.park(buoy)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Buoy.self, identifier: 7))
    #expect(found.lamp?.buoy === found)
    #expect(try garage.retrieve(try #require(found.lamp?.other))?.id == 7)
    #expect(try garage.retrieve(Reference(Buoy.self, identifier: 7))?.id == 7)
    #expect(try garage.retrieve(Buoy.self, identifier: "7")?.id == 7)
    #expect(try garage.retrieve(Lamp.self, identifier: "lamp")?.buoy?.lamp?.id == "lamp")
    for buoy in [buoy, found] { buoy.lamp = nil }
  }

  @Test(arguments: Backend.allCases)
  func whatCannotBeReadIsAnError(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let gauge = Gauge()
    (gauge.name, gauge.dial) = ("g", Dial())
    try garage.park(gauge)
    #expect {
      try garage.retrieve(GaugeOfNumbers.self, identifier: "g")
    } throws: { error in
      guard case .typeMismatch(_, let context)? = error as? DecodingError else { return false }
      return context.codingPath.map(\.stringValue) == ["reading"]
    }
    #expect(try garage.retrieve(Gauge.self, identifier: "g")?.reading == "text")
  }
}

// MARK: - Hierarchies

private class Craft: MappableObject {
  var name = ""
  var partner: Craft?
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Craft.self)
    mapping.add("name", \Craft.name)
    mapping.add("partner", \Craft.partner)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private class SailingCraft: Craft {
  var masts = 1
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: SailingCraft.self)
    mapping.add("masts", \SailingCraft.masts)
    return mapping
  }
}

private final class Frigate: SailingCraft {
  var guns: [Int] = []
  override class var objectMapping: ObjectMapping {
    let mapping = super.objectMapping
    mapping.add("guns", \Frigate.guns)
    return mapping
  }
}

/// Adds nothing.
private final class Raft: Craft {}

private final class Renamed: Craft {
  var number = 0
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Renamed.self)
    mapping.add("number", \Renamed.number)
    mapping.identifyingAttribute = "number"
    return mapping
  }
}

private struct Fleet: Codable, Identifiable {
  var id = "fleet"
  var flagship: Craft
  var all: [Craft]
}

/// A subclass adds to the mapping of its superclass, and keeps its identity.
@Suite struct MappingHierarchyTests {
  private static var types: [any Codable.Type] { [SailingCraft.self, Frigate.self, Raft.self] }

  private func craft<T: Craft>(_ type: T.Type, _ name: String) -> T {
    let craft = type.init()
    craft.name = name
    return craft
  }

  @Test(arguments: Backend.allCases)
  func subclassesAddToTheMapping(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage(MappingHierarchyTests.types)
    let frigate = craft(Frigate.self, "f")
    (frigate.masts, frigate.guns) = (3, [24, 12])
    let raft = craft(Raft.self, "r")
    (frigate.partner, raft.partner) = (raft, frigate)
    try garage.park(Fleet(flagship: frigate, all: [raft, frigate, craft(Craft.self, "c")]))
    garage = try place.reopened(garage, MappingHierarchyTests.types)
    let fleet = try #require(try garage.retrieve(Fleet.self, identifier: "fleet"))
    let found = try #require(fleet.flagship as? Frigate)
    #expect(found.masts == 3 && found.guns == [24, 12] && found.name == "f")
    #expect(fleet.all.map { "\(type(of: $0))" } == ["Raft", "Frigate", "Craft"] && fleet.all[1] === found)
    #expect(found.partner === fleet.all[0] && fleet.all[0].partner === found)
    #expect(try garage.retrieveAll(Craft.self).map(\.name) == ["c", "f", "r"])
    #expect(try garage.retrieveAll(SailingCraft.self).map(\.name) == ["f"])
    #expect(try garage.count(Raft.self) == 1)
    #expect(try garage.retrieve(Craft.self, identifier: "f") is Frigate)
    #expect(try garage.retrieve(Raft.self, identifier: "f") == nil)
    // One identity space.
    try garage.park(craft(Raft.self, "f"))
    #expect(try garage.retrieve(Craft.self, identifier: "f") is Raft)
    for craft in [frigate, raft, found, fleet.all[0]] { craft.partner = nil }

    garage = try place.reopened(garage)
    #expect {
      try garage.retrieve(Craft.self, identifier: "r")
    } throws: { error in
      if case .unregisteredClass? = error as? GarageError { true } else { false }
    }
  }

  @Test(arguments: Backend.allCases)
  func aSubclassKeepsTheIdentifyingAttribute(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    #expect {
      try garage.park(craft(Renamed.self, "x"))
    } throws: { error in
      guard case .invalidMapping("Renamed", let reason)? = error as? GarageError else { return false }
      return reason.contains("by \"number\" and its superclass by \"name\"")
    }
  }
}

// MARK: - Changed mappings

private final class OldForm: MappableObject, TypeTagged {
  static var typeTag: String { "form" }
  var name = ""
  var note: String? = "by init"
  var count: Int?
  var removed = "removed"
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: OldForm.self)
    mapping.add("name", \OldForm.name)
    mapping.add("note", \OldForm.note)
    mapping.add("count", \OldForm.count)
    mapping.add("removed", \OldForm.removed)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class NewForm: MappableObject, TypeTagged {
  static var typeTag: String { "form" }
  var added: String? = "by init"
  var list = ["by", "init"]
  var note: String? = "by init"
  var count = 5
  var title = ""
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: NewForm.self)
    mapping.add("added", \NewForm.added)
    mapping.add("list", \NewForm.list)
    mapping.add("note", \NewForm.note)
    mapping.add("count", \NewForm.count)
    mapping.add("name", \NewForm.title)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Properties are added to a mapping and taken out of it without a migration.
@Suite struct ChangedMappingTests {
  @Test(arguments: Backend.allCases)
  func mappingsChangeWithoutMigration(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let old = OldForm()
    (old.name, old.note) = ("n", nil)
    try garage.park(old)
    garage = try place.reopened(garage)
    let same = try #require(try garage.retrieve(OldForm.self, identifier: "n"))
    // Nil was parked, though init() gives a value.
    #expect(same.note == nil && same.count == nil)
    let new = try #require(try garage.retrieve(NewForm.self, identifier: "n"))
    #expect(new.title == "n" && new.added == "by init" && new.list == ["by", "init"])
    #expect(new.note == nil && new.count == 5)
    (new.added, new.note, new.count) = (nil, "kept", 6)
    try garage.park(new)
    let back = try #require(try garage.retrieve(OldForm.self, identifier: "n"))
    #expect(back.note == "kept" && back.count == 6 && back.removed == "removed")
  }
}

import Foundation
import GarageStorage
import Testing

// Mapped objects without an identity of their own, of subclasses of the class that their property names.

private class RigPart: MappableObject, Hashable {
  var name = ""
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigPart.self)
    mapping.add("name", \RigPart.name)
    return mapping
  }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  static func == (a: RigPart, b: RigPart) -> Bool { a.name == b.name && type(of: a) == type(of: b) }
}
private class RigEngine: RigPart {
  var power = 0
  var spare: RigPart?
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigEngine.self)
    mapping.add("power", \RigEngine.power)
    mapping.add("spare", \RigEngine.spare)
    return mapping
  }
}
private final class RigTurbine: RigEngine, Syncable {
  var blades: [Int] = []
  var syncStatus = SyncStatus.undetermined
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigTurbine.self)
    mapping.add("blades", \RigTurbine.blades)
    return mapping
  }
}
/// Adds nothing.
private final class RigPlain: RigPart {}

private final class RigStation: MappableObject {
  var name = "station"
  var main: RigPart = RigPart()
  var maybe: RigPart?
  var all: [RigPart] = []
  var set: Set<RigPart> = []
  var table: [String: RigPart] = [:]
  var engine: RigEngine?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigStation.self)
    mapping.add("name", \RigStation.name)
    mapping.add("main", \RigStation.main)
    mapping.add("maybe", \RigStation.maybe)
    mapping.add("all", \RigStation.all)
    mapping.add("set", \RigStation.set)
    mapping.add("table", \RigStation.table)
    mapping.add("engine", \RigStation.engine)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}
private struct RigCodableStation: Codable, Identifiable {
  var id = 1
  var main: RigPart
  var maybe: RigPart?
  var all: [RigPart?]
  var nest: Nest
  enum Nest: Codable { case part(RigPart) }
}
private final class RigMachine: MappableObject {
  var part: RigPart?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigMachine.self)
    mapping.add("part", \RigMachine.part)
    return mapping
  }
}

/// An object of a subclass comes back as that subclass where the property names its superclass.
@Suite struct MappedSubclassTests {
  private static var types: [any Codable.Type] {
    [RigPart.self, RigEngine.self, RigTurbine.self, RigPlain.self]
  }

  private func make<P: RigPart>(_ type: P.Type, _ name: String, _ fill: (P) -> Void = { _ in }) -> P {
    let part = type.init()
    part.name = name
    fill(part)
    return part
  }
  private func turbine(_ name: String) -> RigTurbine {
    make(RigTurbine.self, name) {
      $0.blades = [1, 2, 3]
      $0.power = 9
      $0.spare = make(RigEngine.self, "spare of \(name)") { $0.power = 4 }
      $0.syncStatus = .syncing
    }
  }
  private func classes(_ parts: [RigPart?]) -> [String] {
    parts.map { $0.map { "\(type(of: $0))" } ?? "nil" }
  }
  private func check(_ part: RigPart?, _ name: String, _ location: SourceLocation = #_sourceLocation) {
    let found = part as? RigTurbine
    #expect(found?.name == name && found?.blades == [1, 2, 3] && found?.power == 9, sourceLocation: location)
    #expect(found?.syncStatus == .syncing, sourceLocation: location)
    #expect((found?.spare as? RigEngine)?.power == 4, sourceLocation: location)
  }

  @Test(arguments: Backend.allCases)
  func theyComeBackAsTheirOwnClass(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage(MappedSubclassTests.types)
    let plant = RigStation()
    plant.main = turbine("main")
    plant.maybe = make(RigPlain.self, "maybe")
    plant.all = [make(RigPart.self, "a"), make(RigEngine.self, "b") { $0.power = 2 }, turbine("c")]
    plant.set = [make(RigPart.self, "x"), turbine("y")]
    plant.table = ["t": turbine("t"), "p": make(RigPart.self, "p")]
    plant.engine = turbine("e")
    try garage.park(plant)
    try garage.park(
      RigCodableStation(
        main: turbine("m"), maybe: turbine("n"), all: [nil, turbine("o"), make(RigPart.self, "p")],
        nest: .part(turbine("q"))))
    let machine = RigMachine()
    machine.part = turbine("r")
    try garage.park(machine)
    // Twice: what was read is parked again.
    for _ in 0..<2 {
      garage = try place.reopened(garage, MappedSubclassTests.types)
      let found = try #require(try garage.retrieve(RigStation.self, identifier: "station"))
      check(found.main, "main")
      #expect(classes([found.maybe] + found.all) == ["RigPlain", "RigPart", "RigEngine", "RigTurbine"])
      #expect((found.all[1] as? RigEngine)?.power == 2)
      check(found.all[2], "c")
      #expect(classes(found.set.sorted { $0.name < $1.name }) == ["RigPart", "RigTurbine"])
      check(found.set.first { $0.name == "y" }, "y")
      check(found.table["t"], "t")
      check(found.engine, "e")
      let codable = try #require(try garage.retrieve(RigCodableStation.self, identifier: 1))
      check(codable.main, "m")
      check(codable.maybe, "n")
      #expect(classes(codable.all) == ["nil", "RigTurbine", "RigPart"])
      check(codable.all[1], "o")
      if case .part(let part) = codable.nest { check(part, "q") }
      let machines = try garage.retrieveAll(RigMachine.self)
      #expect(machines.count == 1)
      check(machines[0].part, "r")
      try garage.park(found)
      try garage.park(codable)
      try garage.park(machines[0])
      #expect(try garage.count(RigMachine.self) == 1)
    }
  }

  @Test(arguments: Backend.allCases)
  func aClassThatTheGarageDoesNotKnowIsAnError(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let plant = RigStation()
    plant.all = [make(RigPart.self, "a"), turbine("c")]
    try garage.park(plant)
    garage = try place.reopened(garage)
    #expect { try garage.retrieve(RigStation.self, identifier: "station") } throws: { error in
      guard case .unregisteredClass(let tag, "RigPart", let place)? = error as? GarageError else {
        return false
      }
      return tag.contains("RigTurbine") && place.contains("station") && place.contains("all")
        && place.contains("1")
    }
    // Nothing was changed by that.
    garage = try place.reopened(garage, MappedSubclassTests.types)
    check(try garage.retrieve(RigStation.self, identifier: "station")?.all[1], "c")
  }

  /// An object of the property's very class is written as it always was.
  @Test func theClassIsWrittenOnlyWhereItSaysSomething() throws {
    let place = try Place(.memory)
    let garage = try place.garage()
    let plant = RigStation()
    plant.all = [make(RigPart.self, "a")]
    plant.engine = make(RigEngine.self, "e")
    try garage.park(plant)
    let bytes = try Driver.contents(try place.open(), .prefix([0x10])).values.reduce([], +)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("RigEngine"))
    plant.main = make(RigEngine.self, "e")
    try garage.park(plant)
    let now = try Driver.contents(try place.open(), .prefix([0x10])).values.reduce([], +)
    #expect(String(decoding: now, as: UTF8.self).contains("RigEngine"))
  }

  /// As a type that lists its keys, or one that takes all of them, reads it.
  @Test func otherReadersTolerateTheClass() throws {
    struct Reader: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "tolerant" }
      var id: Int
      var part: Content
      struct Content: Codable { var name: String, power: Int }
    }
    struct Writer: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "tolerant" }
      var id: Int
      var part: RigPart
    }
    let garage = try Place(.memory).garage(MappedSubclassTests.types)
    try garage.park(Writer(id: 1, part: make(RigEngine.self, "e") { $0.power = 3 }))
    let read = try #require(try garage.retrieve(Reader.self, identifier: 1))
    #expect(read.part.name == "e" && read.part.power == 3)
  }
}

// MARK: - That change

private class RigWidget: MappableObject, Evolving {
  var name = ""
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigWidget.self)
    mapping.add("name", \RigWidget.name)
    return mapping
  }
  class var version: Int { 1 }
  class var propertyAliases: [String: [String]] { [:] }
  class func upgrade(_ record: inout RecordValue, from version: Int) throws {}
}
private final class RigSlider: RigWidget {
  var value = 0
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigSlider.self)
    mapping.add("value", \RigSlider.value)
    return mapping
  }
  override class var version: Int { 3 }
  override class func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if version < 3, let value = record["value"]?.integerValue {
      record["value"] = .integer(Int64(value * 10))
    }
  }
}
/// The same classes as an older program has them: tags name them.
private class RigOldWidget: MappableObject, Evolving, TypeTagged {
  class var typeTag: String { "widget" }
  var name = ""
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigOldWidget.self)
    mapping.add("name", \RigOldWidget.name)
    return mapping
  }
  class var version: Int { 1 }
}
private final class RigOldSlider: RigOldWidget {
  override class var typeTag: String { "old slider" }
  var value = 0
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigOldSlider.self)
    mapping.add("value", \RigOldSlider.value)
    return mapping
  }
  override class var version: Int { 2 }
}
extension RigWidget: TypeTagged {
  class var typeTag: String { self == RigSlider.self ? "slider" : "widget" }
  class var formerTypeTags: [String] { self == RigSlider.self ? ["old slider"] : [] }
}
private struct RigPanel<W: Codable>: Codable, Identifiable, TypeTagged, Evolving {
  static var typeTag: String { "panel" }
  var id: Int
  var widgets: [W]
  static var version: Int { W.self == RigWidget.self ? 1 : 0 }
  /// Writes the record out of a tree.
  static func upgrade(_ record: inout RecordValue, from version: Int) throws { record["more"] = .integer(1) }
}

@Suite struct ChangingMappedSubclassTests {
  @Test(arguments: Backend.allCases)
  func theyAreUpgradedAsTheirOwnClassUnderItsNewName(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let slider = RigOldSlider()
    (slider.name, slider.value) = ("s", 7)
    let widget = RigOldWidget()
    widget.name = "w"
    try garage.park(RigPanel<RigOldWidget>(id: 1, widgets: [slider, widget]))
    for _ in 0..<2 {
      garage = try place.reopened(garage, [RigSlider.self])
      let panel = try #require(try garage.retrieve(RigPanel<RigWidget>.self, identifier: 1))
      #expect((panel.widgets[0] as? RigSlider)?.value == 70 && panel.widgets[0].name == "s")
      #expect(type(of: panel.widgets[1]) == RigWidget.self && panel.widgets[1].name == "w")
      #expect(try garage.migrateAll(RigPanel<RigWidget>.self).failedCount == 0)
    }
  }

  @Test(arguments: Backend.allCases)
  func theyStandUnderKeysToo(_ backend: Backend) throws {
    enum Board: Namespace { static let id = "board" }
    let place = try Place(backend)
    var garage = try place.garage([RigSlider.self])
    let key = Key<Board, RigWidget?>(id: "widget", defaultValue: nil)
    let slider = RigSlider()
    slider.value = 5
    try garage.set(key, value: slider)
    garage = try place.reopened(garage, [RigSlider.self])
    #expect((try garage.get(key) as? RigSlider)?.value == 5)
    garage = try place.reopened(garage)
    #expect { try garage.get(key) } throws: { error in "\(error)".contains("slider") }
  }
}

// MARK: - Stored once

private class RigSeal: MappableObject, Interned {
  var name = ""
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigSeal.self)
    mapping.add("name", \RigSeal.name)
    return mapping
  }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  static func == (a: RigSeal, b: RigSeal) -> Bool { a.name == b.name }
}
private final class RigRoyalSeal: RigSeal {
  var crowns = 0
  override class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RigRoyalSeal.self)
    mapping.add("crowns", \RigRoyalSeal.crowns)
    return mapping
  }
}
private struct RigLetter: Codable, Identifiable {
  var id: Int
  var seals: [RigSeal]
}

/// Mapped objects that their content identifies come back as their own class, too.
@Suite struct InternedMappedSubclassTests {
  @Test(arguments: Backend.allCases)
  func theyComeBackAsTheirOwnClass(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([RigRoyalSeal.self])
    let (seal, royal) = (RigSeal(), RigRoyalSeal())
    (seal.name, royal.name, royal.crowns) = ("seal", "royal", 3)
    try garage.park(RigLetter(id: 1, seals: [seal, royal, royal]))
    for _ in 0..<2 {
      garage = try place.reopened(garage, [RigRoyalSeal.self])
      let letter = try #require(try garage.retrieve(RigLetter.self, identifier: 1))
      #expect(letter.seals.map(\.name) == ["seal", "royal", "royal"])
      #expect((letter.seals[1] as? RigRoyalSeal)?.crowns == 3 && letter.seals[1] === letter.seals[2])
      #expect(type(of: letter.seals[0]) == RigSeal.self)
      try garage.park(letter)
    }
    garage = try place.reopened(garage)
    #expect { try garage.retrieve(RigLetter.self, identifier: 1) } throws: { error in
      if case .unregisteredClass? = error as? GarageError { true } else { false }
    }
  }
}

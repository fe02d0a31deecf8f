import Foundation
import GarageStorage
import Testing

@testable import GarageChild

private final class FreightWagon: Codable, Identifiable {
  let id: Int
  var name: String
  var crates: [FreightCrate] = []
  var sender: FreightSender?
  /// Towards higher numbers, or lower ones: never around.
  var coupled: [FreightWagon] = []

  init(_ id: Int, _ name: String = "wagon") { (self.id, self.name) = (id, name) }
}

private struct FreightCrate: Codable, Identifiable, Equatable {
  var id: String
  var weight: Int
  var label: FreightLabel?
}

private struct FreightLabel: Codable, Identifiable, Equatable { var id: UUID, text: String }
private final class FreightSender: Codable, Identifiable {
  let id: UUID
  init(_ id: UUID) { self.id = id }
}

/// Links to objects of another type, each of which holds others.
private final class FreightTrain: Codable, Identifiable {
  let id: Int
  @Linked var wagons: [FreightWagon]
  init(_ id: Int, _ wagons: [FreightWagon]) {
    self.id = id
    self.wagons = wagons
  }
}

/// Completes at once what it was decoded with: its property is set by a function.
private final class FreightCrew: MappableObject {
  var name = ""
  var friends: [FreightCrew] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: FreightCrew.self)
    mapping.add("name", \FreightCrew.name)
    mapping.add("friends", \FreightCrew.friends)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class FreightShift: Codable, Identifiable {
  let id: Int
  var note: String
  var crew: FreightCrew
  var crates: [FreightCrate]
  @Linked var wagons: [FreightWagon]
  init(_ id: Int, _ crew: FreightCrew, _ crates: [FreightCrate], _ wagons: [FreightWagon]) {
    (self.id, self.crew, self.crates) = (id, crew, crates)
    note = String(repeating: "note \(id) ", count: 20)
    self.wagons = wagons
  }
}

/// The same objects under a name that was changed later.
private enum FreightBefore {
  struct Truck: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "freight.truck" }
    var id: Int
    var driver: Driver
  }
  struct Driver: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "freight.driver" }
    var id: Int
  }
}
private enum FreightAfter {
  final class Truck: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "freight.lorry" }
    static var formerTypeTags: [String] { ["freight.truck"] }
    let id: Int
    let driver: Driver
    init(_ id: Int, _ driver: Driver) { (self.id, self.driver) = (id, driver) }
  }
  final class Driver: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "freight.trucker" }
    static var formerTypeTags: [String] { ["freight.driver"] }
    let id: Int
    init(_ id: Int) { self.id = id }
  }
}

/// Objects that hold others in plain properties are read together with these by `retrieveAll`. They are those that
/// `retrieve` gives, shared where they are the same.
@Suite struct PlainReferencesOfAllTests {
  private func id(_ number: Int) -> String {
    // Some are longer than a key.
    number % 97 == 0 ? String(repeating: "long ", count: 60) + "\(number)" : "crate \(number)"
  }

  private func uuid(_ number: Int) -> UUID {
    UUID(
      uuid: (
        UInt8(truncatingIfNeeded: number &* 167), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
        UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)
      ))
  }

  private func crate(_ number: Int) -> FreightCrate {
    FreightCrate(
      id: id(number), weight: number,
      label: number % 3 == 0 ? FreightLabel(id: uuid(number / 6), text: "label \(number / 6)") : nil)
  }

  private func wagons(_ count: Int, isDense: Bool, isUp: Bool, _ random: inout SeededGenerator)
    -> [FreightWagon]
  {
    let senders = (0..<20).map { FreightSender(uuid($0)) }
    let wagons = (0..<count).map { FreightWagon($0, "wagon \($0)") }
    let crateCount = isDense ? count : 200 * count
    for wagon in isUp ? wagons.reversed() : wagons {
      wagon.crates = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        crate(Int.random(in: 0..<crateCount, using: &random))
      }
      wagon.sender = Bool.random(using: &random) ? senders.randomElement(using: &random) : nil
      let others = isUp ? wagon.id + 1..<count : 0..<wagon.id
      wagon.coupled = (0..<2).compactMap { _ in others.randomElement(using: &random).map { wagons[$0] } }
    }
    return wagons
  }

  private func isSame(_ one: FreightWagon, _ other: FreightWagon) -> Bool {
    one.id == other.id && one.name == other.name && one.crates == other.crates
      && one.sender?.id == other.sender?.id
      && one.coupled.map(\.id) == other.coupled.map(\.id)
  }

  @Test(arguments: Backend.engines, [true, false])
  func theyAreWhatWasParked(_ backend: Backend, isDense: Bool) throws {
    let seed = UInt64.random(in: 0...9999)
    var random = SeededGenerator(seed: seed)
    let place = try Place(backend)
    var garage = try place.garage()
    for isUp in [true, false] {
      let parked = wagons(600, isDense: isDense, isUp: isUp, &random)
      try garage.write { writer in
        try writer.deleteAll(FreightWagon.self)
        try writer.parkAll(parked)
        // What nobody holds, between what somebody does.
        for number in 0..<300 { try writer.park(FreightCrate(id: "crate \(number)x", weight: 0)) }
      }
      garage = try place.reopened(garage)
      let found = try garage.retrieveAll(FreightWagon.self)
      #expect(found.count == parked.count && zip(found, parked).allSatisfy(isSame), "seed \(seed)")
      var visited: [FreightWagon] = []
      try garage.forEach(FreightWagon.self) { visited.append($0) }
      #expect(visited.count == parked.count && zip(visited, parked).allSatisfy(isSame), "seed \(seed)")
      // Each is one object, wherever it is.
      let byID = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
      #expect(found.allSatisfy { $0.coupled.allSatisfy { byID[$0.id] === $0 } }, "seed \(seed)")
      let senders = found.compactMap(\.sender)
      #expect(Set(senders.map(ObjectIdentifier.init)).count == Set(senders.map(\.id)).count, "seed \(seed)")
    }
  }

  @Test(arguments: Backend.engines, [true, false])
  func whatLinksWaitForIsReadAlike(_ backend: Backend, isDense: Bool) throws {
    let seed = UInt64.random(in: 0...9999)
    var random = SeededGenerator(seed: seed)
    let place = try Place(backend)
    var garage = try place.garage()
    let parked = wagons(300, isDense: isDense, isUp: true, &random)
    let trains = (0..<60).map { number in
      FreightTrain(number, (0..<5).map { parked[isDense ? number * 5 + $0 : (number * 71 + $0 * 13) % 300] })
    }
    try garage.parkAll(trains)
    garage = try place.reopened(garage)
    let found = try garage.retrieveAll(FreightTrain.self)
    #expect(found.count == trains.count)
    for (train, expected) in zip(found, trains) {
      let isRight = train.wagons.count == 5 && zip(train.wagons, expected.wagons).allSatisfy(isSame)
      #expect(isRight, "seed \(seed)")
    }
  }

  /// Links are filled in while roots are held, where something must not wait.
  @Test(arguments: Backend.allCases)
  func whatMustNotWaitLeavesTheOthersAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let crews = (0..<40).map { number in
      let crew = FreightCrew()
      crew.name = "crew \(number)"
      return crew
    }
    for (number, crew) in crews.enumerated() where number > 0 { crew.friends = [crews[number - 1]] }
    let parkedWagons = (0..<900).map { FreightWagon($0, "wagon \($0)") }
    let shifts = (0..<300).map { number in
      FreightShift(
        number, crews[number / 8], [crate(number), crate(number + 1)],
        (0..<3).map { parkedWagons[number * 3 + $0] })
    }
    try garage.parkAll(shifts)
    garage = try place.reopened(garage)
    for found in [try garage.retrieveAll(FreightShift.self), try visited(FreightShift.self, garage)] {
      #expect(found.count == shifts.count)
      for (shift, expected) in zip(found, shifts) {
        #expect(shift.note == expected.note && shift.crates == expected.crates)
        #expect(shift.wagons.map(\.id) == expected.wagons.map(\.id))
        #expect(
          shift.crew.name == expected.crew.name
            && shift.crew.friends.map(\.name) == expected.crew.friends.map(\.name))
      }
    }
  }

  private func visited<T: Codable>(_ type: T.Type, _ garage: Garage) throws -> [T] {
    var all: [T] = []
    try garage.forEach(type) { all.append($0) }
    return all
  }

  /// Many small objects refer to more than there is room for; and to what is too large to be read ahead.
  @Test(arguments: Backend.engines)
  func thereMayBeNoRoomForWhatIsReferredTo(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let crates = (0..<1200).map { number in
      FreightCrate(
        id: String(repeating: "c", count: number % 40 == 0 ? 100_000 : 12_000) + "\(number)", weight: number)
    }
    // Identifiers that long are cut; senders are not.
    let parked = (0..<1200).map { number in
      let wagon = FreightWagon(number)
      wagon.coupled = number % 2 == 0 ? [] : [FreightWagon(10_000 + number, crates[number].id)]
      wagon.crates = number % 100 == 0 ? [crates[number]] : []
      return wagon
    }
    try garage.parkAll(parked)
    let found = try garage.retrieveAll(FreightWagon.self).prefix(1200)
    #expect(found.count == 1200 && zip(found, parked).allSatisfy(isSame))
    #expect(zip(found, parked).allSatisfy { $0.coupled.map(\.name) == $1.coupled.map(\.name) })
  }

  /// Of what is visited one by one only as much is held as before.
  @Test(arguments: Backend.engines)
  func whatIsVisitedIsLetGo(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let count = 4000
    try garage.parkAll(
      (0..<count).map { number in
        let wagon = FreightWagon(number, String(repeating: "x", count: 4000))
        wagon.crates = [crate(number)]
        return wagon
      })
    struct Held { weak var wagon: FreightWagon? }
    var held: [Held] = []
    var largest = 0
    try garage.forEach(FreightWagon.self) { wagon in
      held.append(Held(wagon: wagon))
      if held.count % 100 == 0 { largest = max(largest, held.count { $0.wagon != nil }) }
    }
    // 8 MB of records at a time.
    #expect(held.count == count && largest < 2600)
  }

  /// Beyond what is held at a time, with objects too large to be held.
  @Test(arguments: Backend.engines)
  func thereMayBeMoreThanMemoryIsUsedFor(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let count = 700
    let parked = (0..<count).map { number in
      FreightWagon(number, String(repeating: "x", count: number % 50 == 7 ? 200_000 : 17_000))
    }
    for (number, wagon) in parked.enumerated() {
      if number + 1 < count { wagon.coupled = [parked[number + 1]] }
      wagon.crates = [crate(number), crate(count - number)]
    }
    try garage.parkAll(parked)
    let found = try garage.retrieveAll(FreightWagon.self)
    #expect(found.count == count && zip(found, parked).allSatisfy(isSame))
    #expect((0..<count - 1).allSatisfy { found[$0].coupled[0] === found[$0 + 1] })
  }

  @Test(arguments: Backend.allCases)
  func whatIsMissingOrDamagedIsNamed(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let parked = (0..<50).map { FreightWagon($0) }
    for wagon in parked { wagon.crates = [crate(wagon.id), crate(wagon.id + 1)] }
    try garage.parkAll(parked)
    try garage.park(FreightCrate(id: "crate 10x", weight: 0))
    let driver = try place.open()
    func key(_ id: String) throws -> [UInt8] {
      try #require(
        try Driver.contents(driver).keys.first {
          $0.bytes[0] == 0x10 && $0.bytes.suffix(id.utf8.count).elementsEqual(id.utf8)
        }
      ).bytes
    }
    // Of one that nobody holds nothing is said.
    try Driver.put([1, 2, 3], for: try key("crate 10x"), driver)
    #expect(try garage.retrieveAll(FreightWagon.self).count == 50)

    try garage.delete(FreightCrate.self, identifier: "crate 20")
    #expect {
      _ = try garage.retrieveAll(FreightWagon.self)
    } throws: {
      guard case DecodingError.dataCorrupted(let context) = $0 else { return false }
      return context.debugDescription
        == "Missing Identifiable reference of type: FreightCrate with id: crate 20"
    }
    try garage.park(crate(20))
    try Driver.put([1, 2, 3], for: try key("crate 30"), driver)
    #expect {
      _ = try garage.retrieveAll(FreightWagon.self)
    } throws: {
      guard case GarageError.corruptRecord(let type, let identifier, _) = $0 else { return false }
      return type == "FreightCrate" && identifier == "crate 30"
    }
  }

  @Test(arguments: Backend.allCases)
  func recordsUnderFormerNamesAreFound(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((0..<40).map { FreightBefore.Truck(id: $0, driver: .init(id: $0 % 7)) })
    garage = try place.reopened(garage)
    func check() throws {
      let trucks = try garage.retrieveAll(FreightAfter.Truck.self)
      #expect(trucks.map(\.id) == Array(0..<40) && trucks.map(\.driver.id) == (0..<40).map { $0 % 7 })
      #expect(Set(trucks.map { ObjectIdentifier($0.driver) }).count == 7)
    }
    try check()
    // Some under the new names, others under the old ones.
    try garage.park(FreightAfter.Truck(5, FreightAfter.Driver(5)))
    try check()
    try garage.parkAll(try garage.retrieveAll(FreightAfter.Truck.self))
    try check()
  }
}

import Foundation
import GarageLegacy
import GarageMemory
import GarageStorage
import Testing

/// One of many on a line.
final class LegacyStop: MappableObject {
  var name = ""
  var size = 0
  var next: LegacyStop?
  var previous: LegacyStop?
  var others: [LegacyStop] = []
  /// Asked for only by who follows it.
  var far: Reference<LegacyStop>?
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: LegacyStop.self)
    mapping.add("name", \LegacyStop.name)
    mapping.add("size", \LegacyStop.size)
    mapping.add("next", \LegacyStop.next)
    mapping.add("previous", \LegacyStop.previous)
    mapping.add("others", \LegacyStop.others)
    mapping.add("far", \LegacyStop.far)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

extension LegacyStop: Identifiable {
  var id: String { name }
}

/// How a row can be of no use.
enum LegacyDamage: CaseIterable {
  case cut, wrongType

  func stop(_ name: String) -> String {
    self == .cut ? "{\"name\":\"\(name)" : "{\"name\":\"\(name)\",\"size\":\"large\"}"
  }

  func pilgrim(_ name: String) -> String {
    self == .cut ? "{\"id\":\"\(name)" : "{\"id\":\"\(name)\",\"next\":true}"
  }
}

/// Who needs an object that cannot be taken over is not either, is told on account of which, and costs nothing.
@Suite struct LegacyLossTests {
  private func reference(_ number: Int) -> String { OldJSON.reference("LegacyStop", "S\(number)") }

  /// A store of stops in a line, one of which is of no use.
  private func line(
    _ count: Int, damaged: Int, _ damage: LegacyDamage, _ fields: (Int) -> [String]
  ) throws -> OldStore {
    let store = try OldStore()
    try store.run("BEGIN")
    for number in 0..<count {
      let name = "S\(number)"
      let all = ["\"name\":\"\(name)\""] + fields(number)
      try store.add(
        "LegacyStop", name,
        number == damaged ? damage.stop(name) : "{\(all.joined(separator: ","))}")
    }
    try store.run("COMMIT")
    return store
  }

  /// Imports it; returns also how many payloads were read.
  private func importing(_ store: OldStore, _ garage: Garage) throws -> (GarageStorageImportReport, Int) {
    var reads = 0
    let importer = GarageStorageImporter(storeAt: store.url, types: [LegacyStop.self, Pilgrim.self]) {
      reads += 1
      return Data($0.utf8)
    }
    let report = try importer.importObjects(into: garage)
    return (report, reads)
  }

  private func check(_ report: GarageStorageImportReport, _ type: String, needing damaged: String) {
    for failure in report.failures where failure.identifier != damaged {
      #expect(failure.reason.contains("\(type) \"\(damaged)\" (row "), "\(failure)")
    }
    #expect(report.failures.contains { $0.identifier == damaged })
  }

  @Test(arguments: LegacyDamage.allCases, [0, 700, 1499])
  func aLineBothWaysIsReadOnce(_ damage: LegacyDamage, _ damaged: Int) throws {
    let count = 1500
    let store = try line(count, damaged: damaged, damage) { number in
      var fields: [String] = []
      if number + 1 < count { fields.append("\"next\":\(reference(number + 1))") }
      if number > 0 { fields.append("\"previous\":\(reference(number - 1))") }
      return fields
    }
    let garage = try Garage(MemoryStorage())
    let (report, reads) = try importing(store, garage)
    #expect(report.failures.count == count && report.importedCount == 0)
    check(report, "LegacyStop", needing: "S\(damaged)")
    #expect(reads < 8 * count, "\(reads) payloads were read")
  }

  /// Those on one side of it alone need it.
  @Test(arguments: LegacyDamage.allCases, [false, true])
  func aLineOneWayIsReadOnce(_ damage: LegacyDamage, _ isForward: Bool) throws {
    let (count, damaged) = (1500, 900)
    let store = try line(count, damaged: damaged, damage) { number in
      let other = isForward ? number + 1 : number - 1
      return (0..<count).contains(other) ? ["\"others\":[\(reference(other))]"] : []
    }
    let garage = try Garage(MemoryStorage())
    let (report, reads) = try importing(store, garage)
    let lost = isForward ? 0...damaged : damaged...(count - 1)
    #expect(report.failures.map(\.row) == lost.map { Int64($0 + 1) })
    #expect(report.importedCount == count - lost.count)
    check(report, "LegacyStop", needing: "S\(damaged)")
    #expect(reads < 8 * count, "\(reads) payloads were read")
    for number in [0, damaged - 1, damaged, damaged + 1, count - 1] {
      #expect(
        try garage.contains(LegacyStop.self, identifier: "S\(number)") == !lost.contains(number), "\(number)")
    }
  }

  /// Objects whose references are mere text.
  @Test(arguments: LegacyDamage.allCases) func aChainOfTextsIsReadOnce(_ damage: LegacyDamage) throws {
    let count = 1500
    let store = try OldStore()
    try store.run("BEGIN")
    for number in 0..<count {
      let name = "P\(number)"
      let payload =
        number + 1 < count ? "{\"id\":\"\(name)\",\"next\":\"P\(number + 1)\"}" : damage.pilgrim(name)
      try store.add("Pilgrim", name, payload)
    }
    try store.add("Pilgrim", "alone", "{\"id\":\"alone\"}")
    try store.run("COMMIT")
    let garage = try Garage(MemoryStorage())
    let (report, reads) = try importing(store, garage)
    #expect(report.failures.count == count && report.importedCount == 1)
    check(report, "Pilgrim", needing: "P\(count - 1)")
    #expect(reads < 8 * count, "\(reads) payloads were read")
  }

  /// Who only names a lost object, or has it under a key that is not mapped, is taken over.
  @Test(arguments: LegacyDamage.allCases) func whoDoesNotNeedItComesOver(_ damage: LegacyDamage) throws {
    let store = try line(6, damaged: 5, damage) { number in
      switch number {
      case 0: ["\"next\":\(reference(5))"]
      case 1: ["\"far\":\(reference(5))"]
      case 2: ["\"notMapped\":\(reference(5))"]
      case 3: ["\"next\":\(reference(2))", "\"others\":[\(reference(1))]"]
      default: ["\"others\":[\(reference(3)),\(reference(0))]"]
      }
    }
    let garage = try Garage(MemoryStorage())
    let (report, _) = try importing(store, garage)
    #expect(report.failures.map(\.identifier) == ["S0", "S4", "S5"])
    check(report, "LegacyStop", needing: "S5")
    let third = try #require(try garage.retrieve(LegacyStop.self, identifier: "S3"))
    #expect(third.next?.name == "S2" && third.others.map(\.name) == ["S1"])
  }
}

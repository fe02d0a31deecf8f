import Foundation
import GarageCoding
import GarageDriver
import GarageMemory
import GarageStorage

/// A store whose entries were changed, and into which others were put, under a garage whose verbs of care are called.
final class CareFuzzer: Fuzzer {
  private let entries: [(key: [UInt8], value: [UInt8])]

  var seeds: [[UInt8]] { [] }

  init() throws {
    let driver = MemoryStorage()
    let garage = try Garage(driver, types: [FuzzDog.self], referrers: .indexed)
    let node = Node<[String]>("a", ["b"])
    node.links = [node, Node("c", [])]
    node.next = Node(String(repeating: "long", count: 100), ["d"])
    try garage.park(node)
    try garage.park(FuzzDog("rex"))
    try garage.parkAll((0..<6).map { FuzzErrand(id: $0, group: "\($0 % 2)") })
    try garage.set(FuzzKeys.number, value: 7)
    try garage.set(FuzzKeys.favourite, value: Reference(FuzzErrand.self, identifier: 3))
    var entries: [(key: [UInt8], value: [UInt8])] = []
    try driver.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        entries.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
        return .continue
      }
    }
    self.entries = entries
  }

  func run(_ input: [UInt8]) {
    var random = InputRandom(input)
    var entries = entries
    for _ in 0...random.below(4) {
      if random.once(in: 3) {
        entries.append(foreign(&random))
      } else {
        let index = random.below(entries.count)
        changeEntry(&entries[index], from: self.entries, &random)
        if random.once(in: 10) { entries.remove(at: index) }
      }
    }
    entries = entries.filter { !$0.key.isEmpty && $0.key.count <= 511 }
    let driver = MemoryStorage()
    do {
      try driver.write { transaction in
        for entry in entries { try transaction.put(entry.value.span.bytes, for: entry.key.span.bytes) }
        return .commit(())
      }
    } catch {
      fail("\(error)")
    }
    salvage(entries)
    guard let garage = try? Garage(driver, types: [FuzzDog.self]) else { return }
    look(garage, driver)
    change(garage)
  }

  /// An entry that no garage put there.
  private func foreign(_ random: inout InputRandom) -> (key: [UInt8], value: [UInt8]) {
    let spaces: [UInt8] = [0x00, 0x01, 0x02, 0x10, 0x1E, 0x1F, 0x20, 0x21, 0x30, 0x40]
    let space = random.once(in: 10) ? random.byte() : spaces[random.below(spaces.count)]
    var key = [space] + random.bytes(random.below(random.once(in: 4) ? 500 : 30))
    if random.once(in: 2) {
      // Of a tag that there is.
      let known = entries[random.below(entries.count)].key
      key = [space] + known.dropFirst().prefix(random.below(known.count + 1)) + random.bytes(random.below(20))
    }
    return (key, random.bytes(random.below(60)))
  }

  // MARK: - Verbs

  /// Those that change nothing. A copy has the same entries, and so the same findings.
  private func look(_ garage: Garage, _ driver: MemoryStorage) {
    let before = contents(driver)
    let report = try? garage.verify()
    _ = report?.description
    _ = try? garage.statistics()
    _ = try? garage.typeNames()
    for type in (try? garage.storedTypes()) ?? [] {
      for identifier in (try? garage.identifiers(ofTypeNamed: type.name, limit: 100)) ?? [] {
        _ = try? garage.storedObject(ofTypeNamed: type.name, identifier: identifier)
        _ = try? garage.identity(describedAs: "\(identifier)", ofTypeNamed: type.name)
        _ = try? garage.referrers(of: RecordIdentity(typeNamed: type.name, identifier))
      }
    }
    _ = try? garage.storedKeyValues { _ in }
    var marks = StoreMarks()
    _ = try? garage.differences(from: &marks, limit: 100)
    if let again = try? garage.differences(from: &marks, limit: 100), !again.isEmpty {
      fail("differences from itself: \(again)")
    }
    _ = try? garage.unreachable(from: [.keys, .allNamed(String(reflecting: FuzzErrand.self))])
    let copy = MemoryStorage()
    do { try garage.copy(to: copy) } catch { fail("copy: \(error)") }
    if contents(copy) != before || contents(driver) != before { fail("a copy is another store") }
    guard let report, let other = try? Garage(copy, types: [FuzzDog.self]).verify() else { return }
    if other.findingCounts != report.findingCounts { fail("\(report)\nof the copy: \(other)") }
  }

  /// Those that change something. What was repaired needs no repair.
  private func change(_ garage: Garage) {
    if (try? garage.repair()) != nil, let again = try? garage.repair(), !again.isEmpty {
      fail("repaired, and repaired again: \(again)")
    }
    _ = try? garage.collectGarbage(roots: [.keys])
    for type in (try? garage.storedTypes()) ?? [] {
      for identifier in (try? garage.identifiers(ofTypeNamed: type.name, limit: 100)) ?? [] {
        try? garage.changeStoredObject(ofTypeNamed: type.name, identifier: identifier) { $0["title"] = "x" }
        try? garage.deleteStoredObject(ofTypeNamed: type.name, identifier: identifier)
      }
    }
    _ = try? garage.verify()
  }

  private func salvage(_ entries: [(key: [UInt8], value: [UInt8])]) {
    do {
      let saved = try Garage(MemoryStorage(), types: [FuzzDog.self])
      try GarageSalvage(from: Source(entries: entries), into: saved).run()
      let report = try saved.verify()
      // What it lets in is whole; that a text is missing is the loss of that text.
      let damage = report.findings.filter {
        $0.severity == .damage && $0.place != .text && $0.place != .record
      }
      if !damage.isEmpty { fail("salvage: \(report)") }
    } catch { fail("salvage: \(error)") }
  }

  private func contents(_ driver: MemoryStorage) -> [StorageKey: [UInt8]] {
    var contents: [StorageKey: [UInt8]] = [:]
    do {
      try driver.read { transaction in
        try transaction.scan(.all, .forward) { key, value in
          contents[StorageKey(key)] = [UInt8](copying: value)
          return .continue
        }
      }
    } catch { fail("\(error)") }
    return contents
  }

  func mutate(_ input: [UInt8], _ random: InputRandom) -> [UInt8] {
    var random = random
    return random.bytes(4 + random.below(40))
  }

  private struct Source: SalvageSource {
    var driver: String { "memory" }
    let entries: [(key: [UInt8], value: [UInt8])]

    func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
      for (place, entry) in entries.enumerated() {
        try visit(entry.key.span.bytes, entry.value.span.bytes, place % 7 != 6)
      }
      return []
    }
  }
}

private struct FuzzErrand: Codable, Identifiable, Syncable, Indexed {
  var id: Int
  var group: String
  var syncStatus = SyncStatus.undetermined
  var title = "errand"
  static var indexes: [Index<FuzzErrand>] { [Index(\.group)] }
}

private enum FuzzKeys: Namespace {
  static let id = "fuzz"
  static let number = Key<FuzzKeys, Int>(id: "number", defaultValue: 0)
  static let favourite = Key<FuzzKeys, Reference<FuzzErrand>?>(id: "favourite", defaultValue: nil)
}

import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Stores as they were sealed before: `Tests/Golden/sealed-1` holds every entry, key and value in hexadecimal.
@Suite struct GoldenSealedTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Golden/sealed-1")

  /// Only to make the files anew, which nobody should: they are what older versions wrote.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["GARAGE_WRITE_SEALED_GOLDEN"] != nil))
  func write() throws {
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    for hides in [false, true] {
      let place = try SealedPlace(.memory)
      let garage = try Garage(place.sealed(), hidesIdentifiers: hides)
      try Self.park(in: garage)
      try Self.text(of: place.plain()).write(
        to: Self.folder.appending(path: hides ? "hidden.txt" : "garage.txt"), atomically: true,
        encoding: .utf8)
    }
    let place = try SealedPlace(.memory)
    try place.sealed(InsecureTestSealer(key: 2)).put(["m": "new", "n": "newer"])
    let other = try SealedPlace(.memory)
    try other.sealed(InsecureTestSealer(key: 1)).put(["a": "old", "z": "oldest", "empty": ""])
    try (Self.text(of: place.plain()) + Self.text(of: other.plain())).write(
      to: Self.folder.appending(path: "two-keys.txt"), atomically: true, encoding: .utf8)
  }

  private static let nickname = Key<GlobalNamespace, String>(id: "nickname", defaultValue: "")

  private static func park(in garage: Garage) throws {
    try garage.parkAll(Hidden.people(5))
    try garage.park(Hidden.place)
    try garage.set(nickname, value: "Sammy")
  }

  private static func text(of storage: any StorageDriver) throws -> String {
    try storage.read { transaction in
      var lines = ""
      try transaction.scan(.all, .forward) { key, value in
        lines += "\(hexadecimal(key)) \(hexadecimal(value))\n"
        return .continue
      }
      return lines
    }
  }

  private static func store(_ name: String) throws -> SealedPlace {
    let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    let place = try SealedPlace(.memory)
    try place.plain().put(
      text.split(separator: "\n").map { line in
        let parts = try line.split(separator: " ").map { try [UInt8](hexadecimal: $0) }
        return (StorageKey(parts[0]), parts[1])
      })
    return place
  }

  @Test(arguments: ["garage.txt", "hidden.txt"])
  func garagesSealedBeforeAreRead(_ name: String) throws {
    let garage = try Garage(Self.store(name).sealed())
    #expect(garage.hidesIdentifiers == (name == "hidden.txt"))
    let people = try garage.retrieveAll(HiddenPerson.self).sorted { $0.age < $1.age }
    #expect(people == Hidden.people(5))
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "\(Hidden.mark)-3")?.age == 3)
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .notSynced).map(\.age) == [1])
    #expect(try garage.retrieveAll(HiddenPlace.self) == [Hidden.place])
    #expect(try garage.get(Self.nickname) == "Sammy")
  }

  @Test func aStoreOfTwoKeysIsRead() throws {
    let place = try Self.store("two-keys.txt")
    let storage = try place.sealed(InsecureTestSealer(key: 2), former: [InsecureTestSealer(key: 1)])
    let all = ["a": "old", "z": "oldest", "empty": "", "m": "new", "n": "newer"]
    #expect(try storage.entries() == all)
    #expect(try storage.rekey().resealedCount == 3)
    #expect(try place.sealed(InsecureTestSealer(key: 2)).entries() == all)
  }
}

private func hexadecimal(_ bytes: RawSpan) -> String {
  [UInt8](copying: bytes).map { String(format: "%02x", $0) }.joined()
}

extension [UInt8] {
  fileprivate init(hexadecimal text: Substring) throws {
    self = []
    var rest = text
    while !rest.isEmpty {
      append(try #require(UInt8(rest.prefix(2), radix: 16)))
      rest = rest.dropFirst(2)
    }
  }
}

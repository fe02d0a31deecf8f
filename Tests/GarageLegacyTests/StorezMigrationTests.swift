import Foundation
import GarageLegacy
import GarageStorage
import Testing

private enum Weather: Namespace { static let id = "weather" }
private enum Inner: Namespace {
  typealias parent = Weather
  static let id = "inner"
}
private enum Innermost: Namespace {
  typealias parent = Inner
  static let id = "innermost"
}

private struct City: Codable, Equatable {
  var name: String
  var founded: Date?
}

private struct Plain: KeyType {
  typealias NamespaceType = GlobalNamespace
  typealias ValueType = Int
  var stringValue: String
  var defaultValue = 0
}

/// Entries as Storez 5 writes them.
@Suite struct StorezMigrationTests {
  private func withDefaults(_ body: (UserDefaults) throws -> Void) throws {
    let name = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer {
      defaults.removePersistentDomain(forName: name)
      defaults.synchronize()
    }
    try body(defaults)
  }

  private func json(_ value: some Encodable) throws -> Data { try JSONEncoder().encode([value]) }
  private func archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
  }

  @Test(arguments: ImportTarget.allCases)
  func entriesOfStorezMoveOver(_ target: ImportTarget) throws {
    try target.withGarage { garage throws in try withDefaults { try moveOver(into: garage, from: $0) } }
  }

  private func moveOver(into garage: Garage, from defaults: UserDefaults) throws {
    let founded = City(name: "Kuwait", founded: Date(timeIntervalSinceReferenceDate: 1.5))
    defaults.set(try json(founded), forKey: "weather:city")
    defaults.set(try json(7), forKey: ":count")
    defaults.set(try json(8), forKey: "weather:inner:deep")
    // The grandparent was left out.
    defaults.set(try json(9), forKey: "inner:innermost:deepest")
    defaults.set(try json(10), forKey: "own")
    defaults.set(try archive(NSString("hello")), forKey: "weather:text")
    defaults.set(try archive(NSNumber(value: 4.5)), forKey: "weather:number")
    defaults.set(try archive(NSDate(timeIntervalSinceReferenceDate: 3)), forKey: "weather:date")
    defaults.set(try archive(NSArray(array: [NSString("a"), NSString("b")])), forKey: "weather:list")
    defaults.set(try archive(NSString("fill;in;the")), forKey: "weather:custom")

    let city = Key<Weather, City?>(id: "city", defaultValue: nil)
    let count = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)
    let deep = Key<Inner, Int>(id: "deep", defaultValue: 0)
    let deepest = Key<Innermost, Int>(id: "deepest", defaultValue: 0)
    let own = Plain(stringValue: "own")
    let text = Key<Weather, String>(id: "text", defaultValue: "")
    let number = Key<Weather, Double>(id: "number", defaultValue: 0)
    let date = Key<Weather, Date?>(id: "date", defaultValue: nil)
    let list = Key<Weather, [String]>(id: "list", defaultValue: [])
    let custom = Key<Weather, [String]>(id: "custom", defaultValue: [])
    try garage.migrate([
      KeyMigration(fromStorez: city, in: defaults),
      KeyMigration(fromStorez: count, in: defaults),
      KeyMigration(fromStorez: deep, in: defaults),
      KeyMigration(fromStorez: deepest, in: defaults),
      KeyMigration(fromStorez: own, in: defaults),
      KeyMigration(fromStorez: text, in: defaults),
      KeyMigration(fromStorez: number, in: defaults),
      KeyMigration(fromStorez: date, in: defaults),
      KeyMigration(fromStorez: list, in: defaults),
      KeyMigration(fromStorez: custom, in: defaults) { (old: NSString) in
        old.components(separatedBy: ";")
      },
      KeyMigration(fromStorez: Key<Weather, Int>(id: "absent", defaultValue: 0), in: defaults),
    ])
    #expect(try garage.get(city) == founded)
    #expect(try garage.get(count) == 7)
    #expect(try garage.get(deep) == 8)
    #expect(try garage.get(deepest) == 9)
    #expect(deepest.stringValue == "weather:inner:innermost:deepest")
    #expect(try garage.get(own) == 10)
    #expect(try garage.get(text) == "hello")
    #expect(try garage.get(number) == 4.5)
    #expect(try garage.get(date) == Date(timeIntervalSinceReferenceDate: 3))
    #expect(try garage.get(list) == ["a", "b"])
    #expect(try garage.get(custom) == ["fill", "in", "the"])
    for name in [
      "weather:city", ":count", "weather:inner:deep", "inner:innermost:deepest", "own", "weather:text",
    ] {
      #expect(defaults.object(forKey: name) == nil, "\(name)")
    }
  }

  @Test(arguments: ImportTarget.allCases)
  func whatCannotBeReadMovesNothing(_ target: ImportTarget) throws {
    try target.withGarage { garage throws in try withDefaults { try moveNothing(into: garage, from: $0) } }
  }

  private func moveNothing(into garage: Garage, from defaults: UserDefaults) throws {
    let good = Key<Weather, Int>(id: "good", defaultValue: 0)
    let bad = Key<Weather, Int>(id: "bad", defaultValue: 0)
    defaults.set(try json(1), forKey: "weather:good")
    for entry in [Data([1, 2, 3]), try json("text"), try archive(NSString("text"))] {
      defaults.set(entry, forKey: "weather:bad")
      let error = #expect(throws: GarageError.self) {
        try garage.migrate([
          KeyMigration(fromStorez: good, in: defaults), KeyMigration(fromStorez: bad, in: defaults),
        ])
      }
      guard case .failedToMigrate(_, "weather:bad", _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(try garage.storedKeys().isEmpty)
      #expect(defaults.data(forKey: "weather:good") != nil)
      #expect(defaults.data(forKey: "weather:bad") == entry)
    }
  }
}

import Foundation
import GarageStorage
import Synchronization
import Testing

// What Storez's README shows, as it is written with a garage. Docs/MigratingFromStorez.md names the differences.

private struct Animals: Namespace {
  static let id = "animals"
}

private struct Cats: Namespace {
  typealias parent = Animals
  static let id = "cats"

  static func preCommitHook() { HookNotes.current?.add("pre") }
  static func postCommitHook() { HookNotes.current?.add("post") }
}

/// What hooks did, in the task that a test runs in.
private final class HookNotes: Sendable {
  @TaskLocal static var current: HookNotes?
  private let notes = Mutex<[String]>([])
  func add(_ note: String) { notes.withLock { $0.append(note) } }
  var all: [String] { notes.withLock { $0 } }
}

/// What was `UserDefaultsConvertible` is `Codable`.
private struct CustomObject: Codable {
  var strings: [String]
}

private struct NotificationKey<G: Namespace, V>: KeyType {
  typealias NamespaceType = G
  typealias ValueType = V

  var stringValue: String
  var defaultValue: ValueType

  func didChange(_ oldValue: ValueType, newValue: ValueType) {
    NotificationCenter.default.post(name: Notification.Name(stringValue), object: nil)
  }
}

private final class WeatherService {
  private enum Keys: Namespace {
    static let id = "weather-service"
    static let temperature = Key<Keys, Double>(id: "temp", defaultValue: 0.0)
  }

  private let garage: Garage
  var temperature: Double {
    get throws { try garage.get(Keys.temperature) }
  }

  init(garage: Garage) { self.garage = garage }

  func weatherUpdate(temperature: Double) throws {
    try garage.set(Keys.temperature, value: temperature)
  }
}

/// Everything that Storez's README promises, a garage does.
@Suite struct StorezReadmeTests {
  @Test(arguments: Backend.allCases)
  func aServiceKeepsItsValue(_ backend: Backend) throws {
    let service = WeatherService(garage: try Place(backend).garage())
    try service.weatherUpdate(temperature: 23.5)
    #expect(try service.temperature == 23.5)
  }

  @Test func keysNestInNamespaces() {
    let kingdom = Key<Animals, Void?>(id: "mammals", defaultValue: nil)
    #expect(kingdom.stringValue == "animals:mammals")
    let cat = Key<Cats, Void?>(id: "lion", defaultValue: nil)
    #expect(cat.stringValue == "animals:cats:lion")
  }

  @Test(arguments: Backend.allCases)
  func namespacesHaveHooks(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let notes = HookNotes()
    try HookNotes.$current.withValue(notes) {
      try garage.set(Key<Cats, Int>(id: "lives", defaultValue: 9), value: 8)
    }
    #expect(notes.all == ["pre", "post"])
  }

  @Test(arguments: Backend.allCases)
  func threeSimpleFunctions(_ backend: Backend) throws {
    let store = try Place(backend).garage()
    let key = Key<GlobalNamespace, Int?>(id: "key", defaultValue: nil)
    try store.set(key, value: 8)
    #expect(try store.get(key) == 8)
    try store.clear()
    #expect(try store.get(key) == nil)
  }

  @Test(arguments: Backend.allCases)
  func optionalityIsHonoured(_ backend: Backend) throws {
    let store = try Place(backend).garage()
    let nullable = Key<GlobalNamespace, String?>(id: "nullable", defaultValue: nil)
    #expect(try store.get(nullable)?.isEmpty == nil)
    try store.set(nullable, value: "")
    #expect(try store.get(nullable)?.isEmpty == true)

    let nonnull = Key<GlobalNamespace, String>(id: "nonnull", defaultValue: "!")
    #expect(try !store.get(nonnull).isEmpty)
    try store.set(nonnull, value: "")
    #expect(try store.get(nonnull).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func customObjectsAndChangeBlocks(_ backend: Backend) throws {
    let store = try Place(backend).garage()
    let customObject = CustomObject(strings: ["fill", "in", "the"])
    let customValue = Key<GlobalNamespace, CustomObject?>(id: "custom", defaultValue: nil) {
      var processedValue = $0
      processedValue?.strings.append("blank!")
      return processedValue
    }
    try store.set(customValue, value: customObject)
    #expect(try store.get(customValue)?.strings.joined(separator: " ") == "fill in the blank!")
  }

  @Test(arguments: Backend.allCases)
  func keysOfOnesOwn(_ backend: Backend) throws {
    let store = try Place(backend).garage()
    let name = "notification-\(UUID().uuidString)"
    let key = NotificationKey<GlobalNamespace, Int>(stringValue: name, defaultValue: 0)
    let box = Seen()
    let observer = NotificationCenter.default.addObserver(
      forName: Notification.Name(name), object: nil, queue: nil
    ) { _ in box.add() }
    defer { NotificationCenter.default.removeObserver(observer) }
    try store.set(key, value: 5)
    #expect(box.count == 1)
    #expect(try store.get(key) == 5)
  }

  private final class Seen: Sendable {
    private let number = Mutex(0)
    func add() { number.withLock { $0 += 1 } }
    var count: Int { number.withLock { $0 } }
  }

  @Test(arguments: Backend.allCases)
  func entriesOfUserDefaultsMigrate(_ backend: Backend) throws {
    struct City: Codable, Equatable { var name: String }
    let store = try Place(backend).garage()
    let suite = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    defaults.set("Kuwait", forKey: "CityId")
    let city = Key<Animals, City?>(id: "city", defaultValue: nil)
    try store.migrate([
      KeyMigration(to: city, from: "CityId", in: defaults) { old in (old as? String).map { City(name: $0) } }
    ])
    #expect(try store.get(city) == City(name: "Kuwait"))
    #expect(defaults.object(forKey: "CityId") == nil)
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Testing

enum SettingsSpace: Namespace { static let id = "settings" }
enum AppearanceSpace: Namespace {
  typealias Parent = SettingsSpace
  static let id = "appearance"
}
/// In Storez's spelling.
enum FontSpace: Namespace {
  typealias parent = AppearanceSpace
  static let id = "font"
}
enum OtherSpace: Namespace { static let id = "other" }

enum ThemeChoice: String, Codable { case light, dark }

extension KeyType where Self == Key<AppearanceSpace, ThemeChoice> {
  static var theme: Self { Key(id: "theme", defaultValue: .light) }
}
extension KeyType where Self == Key<SettingsSpace, Int> {
  static var launchCount: Self { Key(id: "launches", defaultValue: 0) }
}
extension KeyType where Self == Key<SettingsSpace, String?> {
  static var nickname: Self { Key(id: "nickname", defaultValue: nil) }
}

@Suite struct KeyTests {
  @Test(arguments: Backend.allCases)
  func valuesAreSetReadAndRemoved(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    #expect(try garage.get(.theme) == .light)
    #expect(try !garage.contains(.theme))
    try garage.set(.theme, value: .dark)
    #expect(try garage.get(.theme) == .dark)
    #expect(try garage.contains(.theme))
    try garage.set(.launchCount, value: 7)
    garage = try place.reopened(garage)
    #expect(try garage.get(.theme) == .dark)
    #expect(try garage.get(.launchCount) == 7)
    try garage.remove(.theme)
    try garage.remove(.theme)
    #expect(try garage.get(.theme) == .light)
    #expect(try garage.get(.launchCount) == 7)
  }

  @Test(arguments: Backend.allCases)
  func nilRemovesAnOptional(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    #expect(try garage.get(.nickname) == nil)
    try garage.set(.nickname, value: "")
    #expect(try garage.get(.nickname)?.isEmpty == true)
    try garage.set(.nickname, value: "Sam")
    #expect(try garage.contains(.nickname))
    try garage.set(.nickname, value: nil)
    #expect(try !garage.contains(.nickname))
    #expect(try garage.get(.nickname) == nil)

    // The default of an optional key is what it has when nothing is stored.
    let size = Key<SettingsSpace, Int?>(id: "size", defaultValue: 12)
    let theme = Key<SettingsSpace, ThemeChoice?>(id: "choice", defaultValue: .dark)
    try garage.set(size, value: 3)
    try garage.set(theme, value: .light)
    #expect(try garage.get(size) == 3)
    #expect(try garage.get(theme) == .light)
    try garage.set(size, value: nil)
    try garage.set(theme, value: nil)
    #expect(try garage.get(size) == 12)
    #expect(try garage.get(theme) == .dark)
    #expect(try garage.storedKeys().isEmpty)
  }

  @Test func namesAreJoinedFromAllNamespaces() {
    #expect(
      Key<AppearanceSpace, ThemeChoice>(id: "theme", defaultValue: .light).stringValue
        == "settings:appearance:theme")
    #expect(Key<FontSpace, Int>(id: "size", defaultValue: 0).stringValue == "settings:appearance:font:size")
    #expect(Key<GlobalNamespace, Int>(id: "size", defaultValue: 0).stringValue == "size")
    #expect(Key<SettingsSpace, Int>(id: "", defaultValue: 0).stringValue == "settings")
    // What is not Codable can be named, too.
    #expect(Key<SettingsSpace, Void?>(id: "x", defaultValue: nil).stringValue == "settings:x")
  }

  @Test(arguments: Backend.allCases)
  func keysAreApartFromEachOther(_ backend: Backend) throws {
    enum Odd: Namespace { static let id = "a:b" }
    enum A: Namespace { static let id = "a" }
    enum B: Namespace { typealias Parent = A; static let id = "b" }
    enum Zero: Namespace { static let id = "a\0b" }
    enum Nameless: Namespace { static let id = "" }
    let garage = try Place(backend).garage()
    try garage.set(Key<Odd, Int>(id: "k", defaultValue: 0), value: 1)
    try garage.set(Key<B, Int>(id: "k", defaultValue: 0), value: 2)
    try garage.set(Key<A, Int>(id: "b:k", defaultValue: 0), value: 3)
    try garage.set(Key<GlobalNamespace, Int>(id: "a:b:k", defaultValue: 0), value: 4)
    try garage.set(Key<Zero, Int>(id: "k\0", defaultValue: 0), value: 5)
    #expect(try garage.get(Key<Odd, Int>(id: "k", defaultValue: 0)) == 1)
    #expect(try garage.get(Key<B, Int>(id: "k", defaultValue: 0)) == 2)
    #expect(try garage.get(Key<A, Int>(id: "b:k", defaultValue: 0)) == 3)
    #expect(try garage.get(Key<GlobalNamespace, Int>(id: "a:b:k", defaultValue: 0)) == 4)
    #expect(try garage.get(Key<Zero, Int>(id: "k\0", defaultValue: 0)) == 5)
    #expect(try garage.get(Key<Nameless, Int>(id: "a:b:k", defaultValue: 0)) == 4)
    #expect(
      try garage.storedKeys().map(\.namespace) == [[], ["a"], ["a", "b"], ["a\0b"], ["a:b"]])
    #expect(
      try garage.storedKeys().map(\.stringValue) == ["a:b:k", "a:b:k", "a:b:k", "a\0b:k\0", "a:b:k"])
    try garage.clear(A.self)
    #expect(try garage.storedKeys().map(\.namespace) == [[], ["a\0b"], ["a:b"]])
  }

  /// Strings that Swift calls equal name one key.
  @Test(arguments: Backend.allCases)
  func equalTextNamesOneKey(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.set(Key<SettingsSpace, Int>(id: "Caf\u{E9}", defaultValue: 0), value: 1)
    #expect(try garage.get(Key<SettingsSpace, Int>(id: "Cafe\u{301}", defaultValue: 0)) == 1)
    #expect(try garage.storedKeys().count == 1)
  }

  @Test(arguments: Backend.allCases)
  func namespacesAreListedAndCleared(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    func fill() throws {
      try garage.write { writer in
        try writer.set(.theme, value: .dark)
        try writer.set(.launchCount, value: 3)
        try writer.set(.nickname, value: "Sam")
        try writer.set(Key<FontSpace, Double>(id: "size", defaultValue: 12), value: 14)
        try writer.set(Key<OtherSpace, Bool>(id: "on", defaultValue: false), value: true)
        try writer.set(Key<GlobalNamespace, Int>(id: "z", defaultValue: 0), value: 1)
        try writer.park(Counter(id: 1))
      }
    }
    try fill()
    #expect(
      try garage.storedKeys().map(\.description) == [
        "z", "other:on", "settings:launches", "settings:nickname", "settings:appearance:theme",
        "settings:appearance:font:size",
      ])
    #expect(
      try garage.storedKeys(in: AppearanceSpace.self) == [
        StoredKey(namespace: ["settings", "appearance"], stringValue: "settings:appearance:theme"),
        StoredKey(
          namespace: ["settings", "appearance", "font"], stringValue: "settings:appearance:font:size"),
      ])
    try garage.clear(AppearanceSpace.self)
    #expect(try garage.storedKeys(in: SettingsSpace.self).count == 2)
    try garage.clear(SettingsSpace.self)
    #expect(try garage.storedKeys().map(\.description) == ["z", "other:on"])

    // Keys and objects do not get in each other's way.
    try fill()
    try garage.deleteAllObjects()
    #expect(try garage.count(Counter.self) == 0)
    #expect(try garage.storedKeys().count == 6)
    try garage.park(Counter(id: 1))
    try garage.clear()
    #expect(try garage.count(Counter.self) == 1)
    #expect(try garage.storedKeys().isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func keysBelongToTransactions(_ backend: Backend) throws {
    struct Stop: Error {}
    let garage = try Place(backend).garage()
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.set(.launchCount, value: 1)
        try writer.set(.theme, value: .dark)
        try writer.park(Counter(id: 1))
        #expect(try writer.get(.launchCount) == 1)
        #expect(try garage.get(.launchCount) == 0)
        throw Stop()
      }
    }
    #expect(try garage.storedKeys().isEmpty)
    try garage.write { writer in
      try writer.set(.launchCount, value: 1)
      try writer.update(.launchCount) { $0 += 1 }
      try writer.park(Counter(id: 1))
      #expect(throws: GarageError.nestedWrite) { try garage.set(.launchCount, value: 9) }
    }
    try garage.read { reader in
      #expect(try reader.get(.launchCount) == 2)
      try garage.set(.launchCount, value: 3)
      #expect(try reader.get(.launchCount) == 2)
    }
    #expect(try garage.get(.launchCount) == 3)
  }

  @Test(arguments: Backend.allCases)
  func updatesReturnWhatTheyMake(_ backend: Backend) throws {
    struct Stop: Error {}
    let garage = try Place(backend).garage()
    let next = try garage.update(.launchCount) { count in
      count += 5
      return "number \(count)"
    }
    #expect(next == "number 5")
    try garage.update(.nickname) { $0 = ($0 ?? "") + "x" }
    try garage.update(.nickname) { $0 = ($0 ?? "") + "y" }
    #expect(try garage.get(.nickname) == "xy")
    #expect(throws: Stop.self) {
      try garage.update(.launchCount) { count in
        count = 100
        throw Stop()
      }
    }
    #expect(try garage.get(.launchCount) == 5)
    try garage.update(.nickname) { $0 = nil }
    #expect(try !garage.contains(.nickname))
  }

  @Test(arguments: Backend.allCases)
  func closedGaragesSaySo(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.close()
    #expect(throws: GarageError.closed) { try garage.get(.launchCount) }
    #expect(throws: GarageError.closed) { try garage.set(.theme, value: .dark) }
    #expect(throws: GarageError.closed) { try garage.clear() }
  }

  @Test(arguments: Backend.allCases)
  func unsavedValuesAreSeenHereAndSavedLater(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    try garage.set(.launchCount, value: 1)
    try garage.withAutosaveDisabled {
      try garage.set(.launchCount, value: 2)
      try garage.set(.theme, value: .dark)
    }
    #expect(try garage.get(.launchCount) == 2)
    #expect(try other.get(.launchCount) == 1)
    #expect(try garage.storedKeys().count == 2)
    try garage.clear(AppearanceSpace.self)
    #expect(try garage.get(.theme) == .light)
    try garage.save()
    #expect(try other.get(.launchCount) == 2)
    #expect(try !other.contains(.theme))
  }
}

// MARK: - Names of any length

/// One namespace more around another.
enum NestedSpace<P: Namespace>: Namespace {
  typealias Parent = P
  static var id: String { "a level with a rather long name" }
}

extension KeyTests {
  private func atDepth<N: Namespace>(
    _ depth: Int, _ namespace: N.Type, _ body: (any Namespace.Type) throws -> Void
  ) throws {
    try body(namespace)
    if depth > 0 { try atDepth(depth - 1, NestedSpace<N>.self, body) }
  }

  @Test(arguments: Backend.allCases)
  func namesMayBeOfAnyLength(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let ids = [0, 1, 100, 440, 441, 442, 462, 463, 464, 465, 466, 480, 511, 512, 5_000, 70_000]
      .map { String(repeating: "k", count: $0) }
    for (number, id) in ids.enumerated() {
      try garage.set(Key<OtherSpace, Int>(id: id, defaultValue: -1), value: number)
      try garage.set(Key<OtherSpace, [Int]>(id: id + "!", defaultValue: []), value: [number])
    }
    garage = try place.reopened(garage)
    for (number, id) in ids.enumerated() {
      #expect(try garage.get(Key<OtherSpace, Int>(id: id, defaultValue: -1)) == number)
      #expect(try garage.get(Key<OtherSpace, [Int]>(id: id + "!", defaultValue: [])) == [number])
    }
    let names = Set(ids.flatMap { ["other:\($0)", "other:\($0)!"] }.map { $0 == "other:" ? "other" : $0 })
    #expect(try Set(garage.storedKeys(in: OtherSpace.self).map(\.stringValue)) == names)
    try garage.remove(Key<OtherSpace, Int>(id: ids[14], defaultValue: -1))
    #expect(try garage.get(Key<OtherSpace, Int>(id: ids[14], defaultValue: -1)) == -1)
    try garage.clear(OtherSpace.self)
    #expect(try garage.storedKeys().isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func namespacesMayBeOfAnyDepth(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let depth = 40
    func set<N: Namespace>(_ namespace: N.Type, _ value: Int) throws {
      try garage.set(Key<N, Int>(id: "depth", defaultValue: -1), value: value)
    }
    func get<N: Namespace>(_ namespace: N.Type) throws -> Int {
      try garage.get(Key<N, Int>(id: "depth", defaultValue: -1))
    }
    func count<N: Namespace>(_ namespace: N.Type) throws -> Int { try garage.storedKeys(in: namespace).count }
    func clear<N: Namespace>(_ namespace: N.Type) throws { try garage.clear(namespace) }
    var number = 0
    try atDepth(depth, SettingsSpace.self) { namespace in
      try set(namespace, number)
      number += 1
    }
    number = 0
    try atDepth(depth, SettingsSpace.self) { namespace in
      let (value, below) = (try get(namespace), try count(namespace))
      #expect(value == number)
      #expect(below == depth + 1 - number)
      number += 1
    }
    // From the inside out: each takes its own key and nothing of those around it.
    var namespaces: [any Namespace.Type] = []
    try atDepth(depth, SettingsSpace.self) { namespaces.append($0) }
    for (left, namespace) in namespaces.enumerated().reversed() {
      try clear(namespace)
      #expect(try garage.storedKeys().count == left)
    }
  }
}

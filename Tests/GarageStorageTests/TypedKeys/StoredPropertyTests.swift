import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// A `@Stored` property is its key: it reads, writes, and reports what fails.
@Suite struct StoredPropertyTests {
  /// As an app has one: made once, and needed from the first line on.
  // swift-format-ignore: NeverUseForceTry
  static let garage = try! Garage(MemoryStorage())

  final class EditorSettings {
    @Stored<Key<AppearanceSpace, ThemeChoice>> var theme: ThemeChoice
    @Stored<Key<SettingsSpace, Int>> var launches: Int
    @Stored<Key<SettingsSpace, String?>> var nickname: String?

    init(_ garage: Garage) {
      _theme = Stored(.theme, in: garage)
      _launches = Stored(.launchCount, in: garage)
      _nickname = Stored(.nickname, in: garage)
    }
  }

  struct StructSettings {
    @Stored(.theme, in: StoredPropertyTests.garage) var theme
    @Stored(Key<OtherSpace, [String]>(id: "recent", defaultValue: []), in: StoredPropertyTests.garage)
    var recent
  }

  @Test(arguments: Backend.allCases)
  func propertiesAreTheirKeys(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let settings = EditorSettings(garage)
    #expect(settings.theme == .light)
    settings.theme = .dark
    settings.launches += 1
    settings.launches += 1
    settings.nickname = "Sam"
    #expect(try garage.get(.theme) == .dark)
    #expect(try garage.get(.launchCount) == 2)
    #expect(try garage.get(.nickname) == "Sam")
    settings.nickname = nil
    #expect(try !garage.contains(.nickname))
    try garage.set(.launchCount, value: 9)
    #expect(settings.launches == 9)
    #expect(EditorSettings(garage).theme == .dark)

    try settings.$theme.set(.light)
    #expect(try settings.$theme.get() == .light)
    let launches = try settings.$launches.update { count in
      count += 1
      return count
    }
    #expect(launches == 10)
    try settings.$launches.remove()
    #expect(settings.launches == 0)
  }

  @Test func structsHaveThemToo() {
    let settings = StructSettings()
    settings.recent.append("a")
    settings.recent.append("b")
    #expect(StructSettings().recent == ["a", "b"])
    settings.theme = .dark
    #expect(StructSettings().theme == .dark)
  }

  /// Damage is reported, and never overwritten by an assignment.
  @Test(arguments: Backend.engines)
  func damageIsReportedAndStays(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    let reported = Reports()
    garage.propertyErrorHandler = { reported.add($0) }
    let settings = EditorSettings(garage)
    settings.launches = 41
    let (key, value) = try #require(try Driver.contents(driver, .prefix([0x30])).first)
    let damaged = value + [0]
    try Driver.put(damaged, for: key.bytes, driver)
    #expect(reported.names == [])
    #expect(settings.launches == 0)
    #expect(reported.names == ["settings:launches"])
    settings.launches += 1
    settings.launches = 7
    #expect(reported.names.count == 4)
    #expect(try Driver.contents(driver)[key] == damaged)
    #expect(throws: GarageError.self) { try settings.$launches.get() }
    try settings.$launches.set(7)
    #expect(settings.launches == 7)
    #expect(reported.names.count == 4)
  }

  @Test func writesThatFailAreReported() throws {
    let garage = try Garage(MemoryStorage())
    let reported = Reports()
    garage.propertyErrorHandler = { reported.add($0) }
    let settings = EditorSettings(garage)
    try garage.write { _ in settings.launches = 1 }
    #expect(reported.errors == [.nestedWrite])
    try garage.close()
    #expect(settings.launches == 0)
    #expect(reported.errors == [.nestedWrite, .closed])
  }

  private final class Reports: Sendable {
    private let all = Mutex<[GarageError]>([])
    func add(_ error: any Error) {
      if let error = error as? GarageError { all.withLock { $0.append(error) } }
    }
    var errors: [GarageError] { all.withLock { $0 } }
    var names: [String] {
      errors.compactMap { if case .corruptValue(let key, _) = $0 { key } else { nil } }
    }
  }
}

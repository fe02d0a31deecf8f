import Foundation
import GarageConformance
import GarageStorage
import Testing

/// Entries of UserDefaults move to keys all together, or not at all.
@Suite struct KeyMigrationTests {
  /// Entries in a suite of their own, which is gone afterwards.
  private func withDefaults(_ body: (UserDefaults) throws -> Void) throws {
    let name = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer {
      defaults.removePersistentDomain(forName: name)
      defaults.synchronize()
    }
    try body(defaults)
  }

  struct Stop: Error {}

  @Test(arguments: Backend.allCases)
  func entriesMoveOver(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withDefaults { defaults throws in
      defaults.set(12, forKey: "Launches")
      defaults.set("dark", forKey: "Theme")
      defaults.set("Sam", forKey: "Nick")
      defaults.set(["a", "b"], forKey: "Recent")
      defaults.set(Date(timeIntervalSince1970: 1000), forKey: "Last")
      defaults.set(Data([1, 2]), forKey: "Blob")
      defaults.set(true, forKey: "On")
      defaults.set(1.5, forKey: "Scale")
      defaults.set("12,7", forKey: "Size")
      defaults.set("keep", forKey: "Unconvertible")
      let recent = Key<OtherSpace, [String]>(id: "recent", defaultValue: [])
      let last = Key<OtherSpace, Date?>(id: "last", defaultValue: nil)
      let blob = Key<OtherSpace, Data>(id: "blob", defaultValue: Data())
      let on = Key<OtherSpace, Bool>(id: "on", defaultValue: false)
      let scale = Key<OtherSpace, Double>(id: "scale", defaultValue: 1)
      let size = Key<OtherSpace, [Int]>(id: "size", defaultValue: [])
      let skipped = Key<OtherSpace, Int?>(id: "skipped", defaultValue: nil)
      let migrations = [
        KeyMigration(to: .launchCount, from: "Launches", in: defaults),
        KeyMigration(to: .theme, from: "Theme", in: defaults),
        KeyMigration(to: .nickname, from: "Nick", in: defaults) { ($0 as? String)?.uppercased() },
        KeyMigration(to: recent, from: "Recent", in: defaults),
        KeyMigration(to: last, from: "Last", in: defaults),
        KeyMigration(to: blob, from: "Blob", in: defaults),
        KeyMigration(to: on, from: "On", in: defaults),
        KeyMigration(to: scale, from: "Scale", in: defaults),
        KeyMigration(to: size, from: "Size", in: defaults) { old in
          (old as? String)?.split(separator: ",").compactMap { Int($0) }
        },
        KeyMigration(to: skipped, from: "Unconvertible", in: defaults) { Int(($0 as? String) ?? "") },
        KeyMigration(to: KeyTests.count, from: "Absent", in: defaults),
      ]
      try garage.migrate(migrations)
      #expect(try garage.get(.launchCount) == 12)
      #expect(try garage.get(.theme) == .dark)
      #expect(try garage.get(.nickname) == "SAM")
      #expect(try garage.get(recent) == ["a", "b"])
      #expect(try garage.get(last) == Date(timeIntervalSince1970: 1000))
      #expect(try garage.get(blob) == Data([1, 2]))
      #expect(try garage.get(on))
      #expect(try garage.get(scale) == 1.5)
      #expect(try garage.get(size) == [12, 7])
      #expect(try !garage.contains(KeyTests.count))
      for name in ["Launches", "Theme", "Nick", "Recent", "Last", "Blob", "On", "Scale", "Size"] {
        #expect(defaults.object(forKey: name) == nil, "\(name)")
      }
      // What a processor makes nothing of is left where it is.
      #expect(try !garage.contains(skipped))
      #expect(defaults.string(forKey: "Unconvertible") == "keep")

      // Again, as at the next start: a value that was changed since is not set back.
      try garage.set(.launchCount, value: 13)
      defaults.set(12, forKey: "Launches")
      try garage.migrate(migrations)
      #expect(try garage.get(.launchCount) == 13)
      #expect(defaults.object(forKey: "Launches") == nil)
    }
  }

  @Test(arguments: Backend.allCases)
  func aFailureMovesNothing(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try withDefaults { defaults throws in
      defaults.set(12, forKey: "Launches")
      defaults.set("no theme", forKey: "Theme")
      let launches = KeyMigration(to: .launchCount, from: "Launches", in: defaults)
      let error = #expect(throws: GarageError.self) {
        try garage.migrate([launches, KeyMigration(to: .theme, from: "Theme", in: defaults)])
      }
      guard case .failedToMigrate("Theme", "settings:appearance:theme", _)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(throws: Stop.self) {
        try garage.migrate([
          launches, KeyMigration(to: .theme, from: "Theme", in: defaults) { _ in throw Stop() },
        ])
      }
      #expect(throws: Stop.self) {
        try garage.write { writer in
          try writer.migrate([launches])
          throw Stop()
        }
      }
      #expect(try garage.storedKeys().isEmpty)
      #expect(defaults.integer(forKey: "Launches") == 12)
      #expect(defaults.string(forKey: "Theme") == "no theme")
    }
  }

  /// The first entry was moved, and removed from the defaults, although the error said that nothing was.
  @Test(arguments: Backend.allCases)
  func aFailureThatIsCaughtInsideAWriteMovesNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withDefaults { defaults throws in
      defaults.set(12, forKey: "Launches")
      defaults.set("no theme", forKey: "Theme")
      defaults.set("Sam", forKey: "Nick")
      let launches = KeyMigration(to: .launchCount, from: "Launches", in: defaults)
      try garage.write { writer in
        #expect(throws: GarageError.self) {
          try writer.migrate([launches, KeyMigration(to: .theme, from: "Theme", in: defaults)])
        }
        try writer.set(.nickname, value: "Nick")
      }
      #expect(try garage.storedKeys().map(\.stringValue) == ["settings:nickname"])
      #expect(defaults.integer(forKey: "Launches") == 12)
      // Of two entries for one key the first one counts, and the second one is not even converted.
      try garage.write { writer in
        try writer.migrate([
          launches,
          KeyMigration(to: .launchCount, from: "Theme", in: defaults) { _ in throw Stop() },
          KeyMigration(to: .nickname, from: "Nick", in: defaults) { _ in throw Stop() },
        ])
      }
      #expect(try garage.get(.launchCount) == 12)
      #expect(try garage.get(.nickname) == "Nick")
      for name in ["Launches", "Theme", "Nick"] { #expect(defaults.object(forKey: name) == nil, "\(name)") }
    }
  }

  @Test(arguments: Backend.faulty)
  func entriesStayUntilTheCommit(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try withDefaults { defaults throws in
      defaults.set(12, forKey: "Launches")
      let launches = KeyMigration(to: .launchCount, from: "Launches", in: defaults)
      place.plan.reset()
      place.plan.fail(.commit, after: 0)
      #expect(throws: GarageError.self) { try garage.migrate([launches]) }
      #expect(defaults.integer(forKey: "Launches") == 12)
      place.plan.reset()

      try garage.withAutosaveDisabled { try garage.migrate([launches]) }
      #expect(try garage.get(.launchCount) == 12)
      #expect(defaults.integer(forKey: "Launches") == 12)
      try garage.save()
      #expect(defaults.object(forKey: "Launches") == nil)

      // An entry whose key has a value already is not kept for a commit that does not come, nor does it come back later.
      defaults.set(11, forKey: "Launches")
      garage.isAutosaveEnabled = false
      try garage.migrate([launches])
      try garage.save()
      #expect(defaults.object(forKey: "Launches") == nil)
      try garage.remove(.launchCount)
      try garage.migrate([launches])
      #expect(try garage.get(.launchCount) == 0)
      garage.discardUnsavedChanges()
    }
  }
}

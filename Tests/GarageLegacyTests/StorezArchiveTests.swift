import Foundation
import GarageLegacy
import GarageMemory
import GarageStorage
import Testing

/// What an app archived with Storez: a class of its own.
final class ArchivedPoint: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let (name, x): (String, Int)
  let children: [ArchivedPoint]
  init(_ name: String, _ x: Int, _ children: [ArchivedPoint] = []) {
    (self.name, self.x) = (name, x)
    self.children = children
  }
  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    (self.name, x) = ("\(name)", coder.decodeInteger(forKey: "x"))
    let children = coder.decodeObject(of: [NSArray.self, ArchivedPoint.self], forKey: "children")
    self.children = children as? [ArchivedPoint] ?? []
  }
  func encode(with coder: NSCoder) {
    coder.encode(NSString(string: name), forKey: "name")
    coder.encode(x, forKey: "x")
    coder.encode(NSArray(array: children), forKey: "children")
  }
}

/// Another, without secure coding.
final class UnsecurePoint: NSObject, NSCoding {
  override init() {}
  init?(coder: NSCoder) {}
  func encode(with coder: NSCoder) {}
}

/// Archives of Storez, whatever they hold: none ends the process.
@Suite struct StorezArchiveTests {
  private func archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
  }

  /// Migrates one entry into a new garage.
  private func migrate<V: Codable>(
    _ entry: Any, _ initial: V, _ migration: (Key<GlobalNamespace, V>, UserDefaults) -> KeyMigration
  ) throws -> V {
    let name = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    defaults.set(entry, forKey: "entry")
    let key = Key<GlobalNamespace, V>(id: "entry", defaultValue: initial)
    let garage = try Garage(MemoryStorage())
    do { try garage.migrate([migration(key, defaults)]) } catch {
      #expect(defaults.object(forKey: "entry") != nil)
      throw error
    }
    return try garage.get(key)
  }

  private func value<V: Codable>(_ object: Any, _ initial: V) throws -> V {
    try migrate(archive(object), initial) { KeyMigration(fromStorez: $0, in: $1) }
  }

  private func reason(_ body: () throws -> Void) -> String {
    do { try body() } catch GarageError.failedToMigrate(_, _, let reason) { return reason } catch {
      Issue.record("\(error)")
    }
    return ""
  }

  @Test func objectsOfFoundationAreRead() throws {
    let uuid = UUID()
    #expect(try value(uuid as NSUUID, UUID()) == uuid)
    #expect(try value(uuid as NSUUID, "") == uuid.uuidString)
    #expect(try value(NSSet(array: [NSString("a"), NSString("b")]), Set<String>()) == ["a", "b"])
    #expect(try value(NSOrderedSet(array: [NSString("b"), NSString("a")]), [String]()) == ["b", "a"])
    #expect(try value(NSURL(string: "http://a.b/c")!, URL?.none) == URL(string: "http://a.b/c"))
    #expect(try value(NSArray(array: [uuid as NSUUID]), [UUID]()) == [uuid])
    #expect(try value(NSMutableString("q"), "") == "q")
    #expect(try value(NSMutableData(data: Data([2])), Data()) == Data([2]))
    #expect(try value(NSNumber(value: -7), 0) == -7)
    #expect(try value(NSNumber(value: Int64.min), Int64(0)) == .min)
    #expect(try value(NSNumber(value: UInt64.max), UInt64(0)) == .max)
    #expect(try value(NSNumber(value: 1.5), Float(0)) == 1.5)
    #expect(try value(NSNumber(value: true), false) == true)
    #expect(try value(NSString("Grüße 👋"), "") == "Grüße 👋")
    #expect(
      try value(
        NSDictionary(object: NSArray(array: [NSNumber(value: 1)]), forKey: NSString("k")), [String: [Int]]())
        == ["k": [1]])
  }

  /// An archive in which "k1" and "key2" are one text, composed and decomposed. They are exchanged among the bytes, because a set or
  /// dictionary of Foundation on Linux may end the process if it gets both.
  private func withOneTextInTwoForms(_ object: Any) throws -> Data {
    var archive = try archive(object)
    let names: [(written: [UInt8], instead: [UInt8])] = [
      ([0x52] + Array("k1".utf8), [0x61, 0, 0xE9]), ([0x54] + Array("key2".utf8), [0x62, 0, 0x65, 3, 1]),
    ]
    for name in names {
      let place = try #require(archive.firstRange(of: Data(name.written)))
      archive.replaceSubrange(place, with: name.instead)
    }
    return archive
  }

  /// Keys that Foundation tells apart on Apple's platforms, and that are one text: one of their values is taken.
  @Test func keysThatAreOneTextDoNotEndTheProcess() throws {
    let urls = ["http://a.b/c", "http://a.b/d"].compactMap { NSURL(string: $0) }
    let dictionary = NSDictionary(objects: urls, forKeys: [NSString("k1"), NSString("key2")])
    let archive = try withOneTextInTwoForms(dictionary)
    // Hashes differ from process to process and dictionary to dictionary.
    for _ in 0..<200 {
      let found = try migrate(archive, [String: URL]()) { KeyMigration(fromStorez: $0, in: $1) }
      #expect(found.count == 1)
      #expect(["http://a.b/c", "http://a.b/d"].contains(found["\u{E9}"]?.absoluteString))
    }
  }

  @Test func elementsThatAreOneTextDoNotEndTheProcess() throws {
    let texts = [NSString("k1"), NSString("key2")]
    let set = try withOneTextInTwoForms(NSSet(array: texts))
    let ordered = try withOneTextInTwoForms(NSOrderedSet(array: texts))
    for _ in 0..<200 {
      let found = try migrate(set, Set<String>()) { KeyMigration(fromStorez: $0, in: $1) }
      #expect(found == ["\u{E9}"])
      let list = try migrate(ordered, [String]()) { KeyMigration(fromStorez: $0, in: $1) }
      #expect(list == ["\u{E9}"])
    }
  }

  @Test func whatIsNoneOfThemIsNamed() throws {
    #expect(reason { _ = try value(NSNull(), "") }.contains("NSNull"))
    #expect(reason { _ = try value(NSArray(array: [NSNull()]), [String]()) }.contains("NSNull"))
    #expect(reason { _ = try value(ArchivedPoint("a", 1), "") }.contains("ArchivedPoint"))
    #expect(
      reason { _ = try value(NSArray(array: [ArchivedPoint("a", 1)]), [String]()) }.contains("ArchivedPoint"))
    #expect(reason { _ = try value(NSUUID(), 0) } != "")
    for number in [Double.nan, .infinity, 1e300, -1, 0.5] {
      #expect(reason { _ = try value(NSNumber(value: number), UInt8(0)) } != "")
    }
  }

  @Test func underlyingIsAClassOfOnesOwn() throws {
    let point = ArchivedPoint("a", 7, [ArchivedPoint("b", 8)])
    let text = try migrate(archive(point), "") { key, defaults in
      KeyMigration(fromStorez: key, in: defaults) { (old: ArchivedPoint) in
        "\(old.name) \(old.x) \(old.children.map(\.name))"
      }
    }
    #expect(text == "a 7 [\"b\"]")
    let uuid = UUID()
    let same = try migrate(archive(uuid as NSUUID), "") { key, defaults in
      KeyMigration(fromStorez: key, in: defaults) { (old: NSUUID) in old.uuidString }
    }
    #expect(same == uuid.uuidString)
    let any = try migrate(archive(NSSet(array: [NSString("a")])), 0) { key, defaults in
      KeyMigration(fromStorez: key, in: defaults) { (old: NSObject) in (old as? NSSet)?.count }
    }
    #expect(any == 1)
    let array = try migrate(archive(NSArray(array: [NSString("a")])), 0) { key, defaults in
      KeyMigration(fromStorez: key, in: defaults) { (old: NSMutableArray) in old.count }
    }
    #expect(array == 1)
  }

  @Test func anotherUnderlyingIsRefused() throws {
    let entries: [Any] = [
      ArchivedPoint("a", 1), UnsecurePoint(), NSUUID(), NSSet(), NSArray(array: [ArchivedPoint("a", 1)]),
      NSArray(array: [UnsecurePoint()]),
    ]
    for entry in entries {
      let text = reason {
        _ = try migrate(archive(entry), "") { key, defaults in
          KeyMigration(fromStorez: key, in: defaults) { (old: NSString) in "\(old)" }
        }
      }
      #expect(text.contains("NSString"), "\(entry): \(text)")
    }
    #expect(
      reason {
        _ = try migrate(archive(UnsecurePoint()), "") { key, defaults in
          KeyMigration(fromStorez: key, in: defaults) { (old: UnsecurePoint) in "" }
        }
      }.contains("UnsecurePoint"))
    for entry in ["text", 7, Data([1]), Data()] as [Any] {
      #expect(
        reason {
          _ = try migrate(entry, "") { key, defaults in
            KeyMigration(fromStorez: key, in: defaults) { (old: ArchivedPoint) in old.name }
          }
        }.contains("no archive"))
    }
  }

  /// Any one bit, and cut anywhere: read as something, or refused.
  @Test func damagedArchivesDoNotEndTheProcess() throws {
    let objects: [NSObject] = [
      NSArray(array: [
        NSString("a"), NSNumber(value: 4.5), NSDictionary(object: NSString("q"), forKey: NSString("k")),
        NSDate(),
        NSURL(string: "http://a.b/c")!, NSUUID(), NSSet(array: [NSString("ü")]), NSNumber(value: true),
      ]),
      ArchivedPoint("a", 7, [ArchivedPoint("b", 8)]),
    ]
    for object in objects {
      let whole = try archive(object)
      var damaged: [Data] = []
      // The lower bits of a byte lead references astray, the upper ones change kinds and lengths.
      for index in whole.indices {
        for bit in [index % 3, 3 + index % 5] {
          var bytes = whole
          bytes[index] ^= 1 << UInt8(bit)
          damaged.append(bytes)
        }
        if index % 7 == 0 { damaged.append(whole.prefix(index)) }
      }
      try tryAll(damaged)
    }
  }

  /// `UserDefaults` takes its time: all of them stand under names of their own.
  private func tryAll(_ entries: [Data]) throws {
    let name = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    defaults.setPersistentDomain(
      Dictionary(uniqueKeysWithValues: entries.enumerated().map { (":\($0.offset)", $0.element) }),
      forName: name)
    let garage = try Garage(MemoryStorage())
    garage.isAutosaveEnabled = false
    for number in entries.indices {
      let key = Key<GlobalNamespace, [String]>(id: "\(number)", defaultValue: [])
      let migrations = [
        KeyMigration(fromStorez: key, in: defaults),
        KeyMigration(fromStorez: key, in: defaults) { (old: ArchivedPoint) in [old.name] },
        KeyMigration(fromStorez: key, in: defaults) { (old: NSArray) in old.compactMap { $0 as? String } },
      ]
      for migration in migrations {
        do { try garage.migrate([migration]) } catch is GarageError {}
        garage.discardUnsavedChanges()
      }
    }
  }
}

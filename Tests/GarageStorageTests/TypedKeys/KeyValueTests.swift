import Foundation
import GarageDriver
import GarageStorage
import Testing

/// What can stand under a key, and what becomes of damage.
@Suite struct KeyValueTests {
  private func expect<V: Codable & Equatable>(_ values: [V], _ place: Place, _ garage: inout Garage) throws {
    func key(_ number: Int) -> Key<OtherSpace, V?> { Key(id: "\(V.self) \(number)", defaultValue: nil) }
    func plain(_ number: Int) -> Key<OtherSpace, V> {
      Key(id: "\(V.self) plain \(number)", defaultValue: values[0])
    }
    for (number, value) in values.enumerated() {
      try garage.set(key(number), value: value)
      try garage.set(plain(number), value: value)
    }
    garage = try place.reopened(garage)
    for (number, value) in values.enumerated() {
      #expect(try garage.get(key(number)) == value)
      #expect(try garage.get(plain(number)) == value)
      // By the coder, whatever wrote it.
      #expect(
        try garage.get(Key<OtherSpace, Box<V>>(id: key(number).id, defaultValue: Box(values[0]))).value
          == value)
    }
  }

  /// Encodes as its value does.
  struct Box<V: Codable & Equatable>: Codable {
    var value: V
    init(_ value: V) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(V.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  struct Window: Codable, Equatable {
    var title: String
    var size: [Double]
    var inner: [String: Window]
    var url: URL?
  }

  @Test(arguments: Backend.allCases)
  func valuesOfAllKinds(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let widths = (0..<63).flatMap { [1 << $0, -(1 << $0), (1 << $0) - 1] } + [Int.min, Int.max]
    try expect(widths, place, &garage)
    try expect([true, false], place, &garage)
    try expect(
      [0.0, -0.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300], place, &garage)
    try expect([Float(1.5), -3], place, &garage)
    try expect([UInt8(3), 255], place, &garage)
    try expect([UInt64.max, 0], place, &garage)
    try expect([Int128.max, -1], place, &garage)
    let texts = ["", "a", "Grüße", "👨‍👩‍👧‍👦", "\0", "Cafe\u{301}"]
    let lengths = [62, 63, 64, 65, 254, 255, 256, 257, 70_000]
    try expect(texts + lengths.map { String(repeating: "x", count: $0) }, place, &garage)
    try expect(lengths.map { String(repeating: "ü", count: $0) }, place, &garage)
    try expect([Date(timeIntervalSince1970: 0.1), .distantPast], place, &garage)
    try expect([Data(), Data([1, 2, 3]), Data(count: 100_000)], place, &garage)
    try expect([UUID(), UUID()], place, &garage)
    try expect([URL(string: "https://swift.org/a?b=c")!], place, &garage)
    try expect([Decimal(string: "1.23456789")!], place, &garage)
    try expect([[1, 2, 3], []], place, &garage)
    try expect([["a": 1, "b": 2], [:]], place, &garage)
    try expect([Set(["a", "b"])], place, &garage)
    try expect([ThemeChoice.dark, .light], place, &garage)
    try expect(
      [Window(title: "a", size: [1, 2], inner: ["b": Window(title: "c", size: [], inner: [:])], url: nil)],
      place, &garage)
  }

  @Test(arguments: Backend.allCases)
  func valuesParkWhatTheyReferTo(_ backend: Backend) throws {
    struct Team: Codable {
      var lead: Person
      var members: [Person]
      var deputy: Person?
      @Linked var founder: Person?
      var scores: [Counter] = []
    }
    let place = try Place(backend)
    var garage = try place.garage()
    let (sam, nick) = (Person("Sam", age: 40), Person("Nick", age: 30))
    sam.brother = nick
    nick.brother = sam
    let key = Key<OtherSpace, Team?>(id: "team", defaultValue: nil)
    var team = Team(lead: sam, members: [sam, nick], deputy: nick, scores: [Counter(id: 1, value: 10)])
    team.founder = nick
    try garage.set(key, value: team)
    let owner = Key<OtherSpace, Person?>(id: "owner", defaultValue: nil)
    try garage.set(owner, value: sam)
    garage = try place.reopened(garage)

    // They are records of their own …
    #expect(try garage.retrieve(Person.self, identifier: "Nick")?.age == 30)
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 10)
    // … shared in the value …
    let read = try #require(try garage.get(key))
    #expect(read.lead === read.members[0])
    #expect(read.deputy === read.members[1])
    #expect(read.founder === read.deputy)
    #expect(read.lead.brother === read.deputy && read.deputy?.brother === read.lead)
    // … and newer there where they were parked again.
    try garage.park(Counter(id: 1, value: 11))
    try garage.park(Person("Sam", age: 41))
    #expect(try garage.get(key)?.scores == [Counter(id: 1, value: 11)])
    #expect(try garage.get(owner)?.age == 41)

    // A missing target is as anywhere else.
    try garage.delete(Person.self, identifier: "Nick")
    #expect {
      try garage.get(key)
    } throws: { error in
      guard case .unreadableValue("other:team", _, let reason)? = error as? GarageError else { return false }
      return reason.contains("Missing Identifiable reference of type: Person with id: Nick")
        && reason.contains("members")
    }
    try garage.delete(Person.self, identifier: "Sam")
    #expect(try garage.get(owner) == nil)
    for person in [sam, nick, read.lead] + read.members { person.brother = nil }
  }

  /// The objects in a value are parked as by `park`, with dates in the garage's form. The value's own dates are exact.
  @Test(arguments: Backend.allCases, ["set", "update", "task"])
  func datesOfObjectsAreInTheFormOfTheGarage(_ backend: Backend, _ way: String) async throws {
    struct DatedTrip: Codable, Identifiable {
      var id: Int
      var start: Date
    }
    struct DatedPlan: Codable {
      var trip: DatedTrip
      var made: Date
    }
    let garage = try Garage(
      Place(backend).open(), dateEncodingStrategy: .iso8601, dateDecodingStrategy: .iso8601)
    let key = Key<OtherSpace, DatedPlan?>(id: "trip", defaultValue: nil)
    let date = Date(timeIntervalSince1970: 1.75)
    let plan = DatedPlan(trip: DatedTrip(id: 1, start: date), made: date)
    func set() throws { try garage.set(key, value: plan) }
    func update() throws { try garage.update(key) { $0 = plan } }
    switch way {
    case "set": try set()
    case "update": try update()
    default: try await garage.set(key, value: plan)
    }
    let trip = try await garage.retrieve(DatedTrip.self, identifier: 1)
    #expect(trip?.start == Date(timeIntervalSince1970: 1))
    let stored = try await garage.get(key)
    #expect(stored?.made == date && stored?.trip.start == trip?.start)
  }

  /// A failure in the graph leaves value and objects as they were.
  @Test(arguments: Backend.allCases)
  func aValueThatDoesNotEncodeChangesNothing(_ backend: Backend) throws {
    struct Stop: Error {}
    struct Failing: Codable {
      var counter: Counter
      init(_ counter: Counter) { self.counter = counter }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(counter)
        if counter.value > 1 { throw Stop() }
      }
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        counter = try container.decode(Counter.self)
      }
    }
    let garage = try Place(backend).garage()
    let key = Key<OtherSpace, Failing?>(id: "failing", defaultValue: nil)
    try garage.set(key, value: Failing(Counter(id: 1, value: 1)))
    #expect(throws: Stop.self) { try garage.set(key, value: Failing(Counter(id: 1, value: 2))) }
    #expect(throws: Stop.self) {
      try garage.write { try $0.set(key, value: Failing(Counter(id: 1, value: 2))) }
    }
    #expect(try garage.get(key)?.counter.value == 1)
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 1)
  }

  /// Reads the garage in both of its coding functions.
  struct ReadingValue: Codable {
    @TaskLocal static var garage: Garage?
    var count = 0
    init() {}
    init(from decoder: any Decoder) throws { count = try Self.garage?.get(.launchCount) ?? -1 }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(try Self.garage?.get(.launchCount))
    }
  }

  @Test(arguments: Backend.allCases)
  func userCodeMayReadTheGarage(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.set(.launchCount, value: 5)
    try ReadingValue.$garage.withValue(garage) {
      let key = Key<OtherSpace, ReadingValue>(id: "reading", defaultValue: ReadingValue())
      try garage.set(key, value: ReadingValue())
      #expect(try garage.get(key).count == 5)
      #expect(try garage.update(key) { $0.count } == 5)
      #expect(try garage.get(Key<OtherSpace, Int>(id: "reading", defaultValue: 0)) == 5)
    }
  }

  // MARK: - Damage

  private static let values = StorageKeyRange.prefix([0x30])

  @Test(arguments: Backend.engines)
  func everyDamagedByteIsAnErrorThatNamesTheKey(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    let (list, count) = (Key<OtherSpace, [String]>(id: "list", defaultValue: []), KeyTests.count)
    try garage.set(list, value: ["a", "b", "c"])
    try garage.set(count, value: 123_456)
    for (key, bytes) in try Driver.contents(driver, Self.values) {
      let isCount = String(decoding: key.bytes, as: UTF8.self).contains("count")
      for position in bytes.indices {
        for bit in [UInt8(1), 128] {
          var damaged = bytes
          damaged[position] ^= bit
          try Driver.put(damaged, for: key.bytes, driver)
          #expect {
            if isCount { _ = try garage.get(count) } else { _ = try garage.get(list) }
          } throws: { error in
            switch error as? GarageError {
            case .corruptValue(let name, _): name == (isCount ? "other:count" : "other:list")
            case .newerRecordFormat("key", let name, _): position == 0 && name.hasPrefix("other:")
            default: false
            }
          }
          // It stays where it is.
          #expect(try Driver.contents(driver, Self.values)[key] == damaged)
        }
      }
      for length in 0..<bytes.count {
        try Driver.put(Array(bytes[..<length]), for: key.bytes, driver)
        #expect(throws: GarageError.self) {
          if isCount { _ = try garage.get(count) } else { _ = try garage.get(list) }
        }
      }
    }
    // Listing reads no values; setting and removing mend it.
    #expect(try garage.storedKeys().count == 2)
    #expect(throws: GarageError.self) { try garage.update(count) { $0 += 1 } }
    try garage.set(count, value: 1)
    #expect(try garage.update(count) { $0 } == 1)
    try garage.remove(list)
    #expect(try garage.get(list) == [])
  }

  /// A value that was moved to another key is no value of that.
  @Test(arguments: Backend.engines)
  func valuesBelongToTheirKeys(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try garage.set(KeyTests.count, value: 1)
    try garage.set(.launchCount, value: 2)
    let contents = try Driver.contents(driver, Self.values).sorted { $0.key < $1.key }
    try Driver.put(contents[0].value, for: contents[1].key.bytes, driver)
    #expect(throws: GarageError.self) { try garage.get(.launchCount) }
    #expect(try garage.get(KeyTests.count) == 1)
  }

  @Test(arguments: Backend.allCases)
  func aValueOfAnotherTypeIsAnErrorThatNamesTheKey(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let text = Key<OtherSpace, String>(id: "count", defaultValue: "")
    try garage.set(text, value: "twelve")
    let error = #expect(throws: GarageError.self) { try garage.get(KeyTests.count) }
    guard case .unreadableValue("other:count", "Int", _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(error!)".contains("other:count"))
    #expect(try garage.get(text) == "twelve")
    let theme = Key<OtherSpace, ThemeChoice>(id: "count", defaultValue: .light)
    #expect(throws: GarageError.self) { try garage.get(theme) }
    // A number is a number, however wide.
    try garage.set(KeyTests.count, value: 300)
    #expect(try garage.get(Key<OtherSpace, Double>(id: "count", defaultValue: 0)) == 300)
    #expect(throws: GarageError.self) { try garage.get(Key<OtherSpace, UInt8>(id: "count", defaultValue: 0)) }
  }
}

extension KeyTests {
  static var count: Key<OtherSpace, Int> { Key(id: "count", defaultValue: 0) }
}

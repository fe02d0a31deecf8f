import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Properties of every kind, given from the bytes of records: each has to be what the object has.
@Suite struct ColumnTests {
  enum Mood: String, Codable, CaseIterable { case calm, merry, grim }
  enum Rank: Int16, Codable, CaseIterable { case first = -300, second = 0, third = 7 }
  /// Reads what older versions wrote, and what is newer than it.
  enum Grade: String, Codable {
    case low, high, unknown
    init(from decoder: any Decoder) throws {
      let raw = try decoder.singleValueContainer().decode(String.self)
      self = raw == "LOW" ? .low : Grade(rawValue: raw) ?? .unknown
    }
  }

  struct Sample: Codable, Identifiable, Equatable {
    var id: Int
    var bool: Bool
    var optionalBool: Bool?
    var twice: Int??
    var int8: Int8
    var int16: Int16?
    var int32: Int32
    var int64: Int64?
    var uint: UInt
    var uint8: UInt8?
    var uint16: UInt16
    var uint32: UInt32?
    var uint64: UInt64
    var float: Float
    var double: Double?
    var decimal: Decimal
    var optionalDecimal: Decimal?
    var text: String?
    var uuid: UUID
    var optionalUUID: UUID?
    var date: Date?
    var data: Data
    var mood: Mood
    var optionalMood: Mood?
    var rank: Rank
    var tags: [String]
    var numbers: [Int]
    var friend: Reference<Counter>?

    init(_ id: Int, _ random: inout SeededGenerator) {
      func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      self.id = id
      bool = pick([true, false])
      optionalBool = pick([nil, true, false])
      twice = pick([nil, .some(nil), 1, 2])
      int8 = pick([.min, -1, 0, 63, 64, .max])
      int16 = pick([nil, .min, 0, 255, .max])
      int32 = pick([.min, 5, .max])
      int64 = pick([nil, .min, 1 << 53, 1 << 53 + 1, .max])
      uint = pick([0, 1 << 40, .max])
      uint8 = pick([nil, 0, .max])
      uint16 = pick([0, .max])
      uint32 = pick([nil, 0, .max])
      uint64 = pick([0, 9, 1 << 63, .max])
      float = pick([0, -0.0, 0.1, .nan, .infinity, -.greatestFiniteMagnitude])
      double = pick([nil, 0.1, .nan, 3])
      decimal = pick([
        0, 1, -1, Decimal(string: "12.34")!, Decimal(string: "12.340001")!, Decimal(string: "-0.5")!, .nan,
        Decimal(string: "99999999999999999999999999999999999999")!, Decimal(string: "1e90")!,
        Decimal(string: "0.000000000000000000000000000001")!, Decimal(string: "123456789012345678")!,
        Decimal(string: "1234567890123456789")!, Decimal(string: "1000")!,
      ])
      optionalDecimal = pick([nil, 5, Decimal(string: "5.5")!])
      text = pick([nil, "", "a", "caf\u{E9}", "cafe\u{301}", String(repeating: "long ", count: 40)])
      let uuids = (0..<4).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, $0)) }
      uuid = pick(uuids)
      optionalUUID = pick([nil] + uuids)
      date = pick([nil, Date(timeIntervalSinceReferenceDate: -1.5), Date(timeIntervalSinceReferenceDate: 9)])
      data = pick([Data(), Data([1, 2])])
      mood = pick(Mood.allCases)
      optionalMood = pick([nil] + Mood.allCases)
      rank = pick(Rank.allCases)
      tags = pick([[], ["a"], ["b", "caf\u{E9}"], ["cafe\u{301}", "a", ""], ["A"]])
      numbers = pick([[], [1], [1 << 40, -1], [7, 8, 9]])
      friend = pick([nil, Reference(Counter.self, identifier: 1), Reference(Counter.self, identifier: 2)])
    }
  }

  private static func samples(_ random: inout SeededGenerator) -> [Sample] {
    (0..<(runsLongTests ? 300 : 100)).map { Sample($0, &random) }
  }

  @Test(arguments: Backend.allCases)
  func givesWhatObjectsHave(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let place = try Place(backend)
    let garage = try Garage(place.open(), hidesIdentifiers: backend.isSealed)
    try garage.parkAll(ColumnTests.samples(&random))
    // As they come back: of an optional in an optional nobody writes down which of the two is nil.
    let samples = try garage.retrieveAll(Sample.self).sorted { $0.id < $1.id }
    let query = garage.query(Sample.self)
    func check<Value: Codable>(_ path: KeyPath<Sample, Value>) throws {
      let hint: Comment = "\(path), seed \(seed)"
      // As text, in which NaN is as good as itself.
      let wanted = samples.map { "\($0[keyPath: path])" }
      #expect(try query.sorted(by: \.id).values(path).map { "\($0)" } == wanted, hint)
      #expect(try query.sorted(by: \.id).values(path, \.id).map { "\($0.0)" } == wanted, hint)
      #expect(
        try query.where(\.bool == true).sorted(by: \.id).limit(40).values(path).map { "\($0)" }
          == Array(samples.filter(\.bool).map { "\($0[keyPath: path])" }.prefix(40)), hint)
    }
    func checkGroups<Value: Codable & Hashable>(_ path: KeyPath<Sample, Value>) throws {
      try check(path)
      let hint: Comment = "\(path), seed \(seed)"
      let values = samples.map { $0[keyPath: path] }
      #expect(try query.countByValue(path) == values.reduce(into: [:]) { $0[$1, default: 0] += 1 }, hint)
      #expect(try Set(query.distinct(path)) == Set(values), hint)
      #expect(try query.distinct(path).count == Set(values).count, hint)
      for value in Set(values).prefix(6) {
        let found = try query.where(path == value).values(\.id)
        #expect(
          Set(found) == Set(samples.filter { $0[keyPath: path] == value }.map(\.id)),
          "\(value), \(hint.rawValue)")
      }
    }
    try checkGroups(\.bool)
    try checkGroups(\.optionalBool)
    try check(\.twice)
    try checkGroups(\.int8)
    try checkGroups(\.int16)
    try checkGroups(\.int32)
    try checkGroups(\.int64)
    try checkGroups(\.uint)
    try checkGroups(\.uint8)
    try checkGroups(\.uint16)
    try checkGroups(\.uint32)
    try checkGroups(\.uint64)
    try check(\.float)
    try check(\.double)
    try checkGroups(\.decimal)
    try checkGroups(\.optionalDecimal)
    try checkGroups(\.text)
    try checkGroups(\.uuid)
    try checkGroups(\.optionalUUID)
    try checkGroups(\.date)
    try checkGroups(\.data)
    try checkGroups(\.mood)
    try checkGroups(\.optionalMood)
    try checkGroups(\.rank)
    try check(\.tags)
    try checkGroups(\.friend)
  }

  @Test(arguments: Backend.allCases)
  func comparesAsObjectsDo(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let samples = ColumnTests.samples(&random)
    let place = try Place(backend)
    let garage = try Garage(place.open(), hidesIdentifiers: backend.isSealed)
    try garage.parkAll(samples)
    let query = garage.query(Sample.self)
    func check(_ condition: Condition<Sample>, _ holds: (Sample) -> Bool) throws {
      #expect(
        try Set(query.where(condition).values(\.id)) == Set(samples.filter(holds).map(\.id)),
        "\(condition), seed \(seed)")
    }
    for bound in Set(samples.map(\.decimal)) {
      try check(\.decimal < bound) { $0.decimal < bound }
      try check(\.decimal >= bound) { $0.decimal >= bound }
      try check(\.optionalDecimal > bound) { $0.optionalDecimal.map { $0 > bound } ?? false }
    }
    for bound in [Float(0), 0.1, .nan, .infinity] {
      try check(\.float < bound) { $0.float < bound }
      try check(\.float >= bound) { $0.float >= bound }
      try check(\.float == bound) { $0.float == bound }
    }
    for bound in [Double.nan, 0.1, 3] {
      try check(\.double <= bound) { $0.double.map { $0 <= bound } ?? false }
    }
    for bound in [UInt64(0), 9, 1 << 63, .max] { try check(\.uint64 >= bound) { $0.uint64 >= bound } }
    for tag in ["", "a", "A", "caf\u{E9}", "cafe\u{301}", "none"] {
      try check(\.tags == .contains(tag)) { $0.tags.contains(tag) }
      try check(!(\.tags == .contains(tag))) { !$0.tags.contains(tag) }
    }
    for number in [1, -1, 1 << 40, 8, 0] {
      try check(\.numbers == .contains(number)) { $0.numbers.contains(number) }
    }
    try check(\.mood == .oneOf([.calm, .grim])) { $0.mood == .calm || $0.mood == .grim }
    try check(\.uuid == .oneOf([samples[0].uuid])) { $0.uuid == samples[0].uuid }
    try check(!(\.optionalBool == true)) { $0.optionalBool != true }
  }

  private struct Graded: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "graded of columns" }
    var id: Int
    var grade: Grade
  }

  /// The same record type, with what another version of the program writes.
  private struct Free: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "graded of columns" }
    var id: Int
    var grade: String
  }

  @Test(arguments: Backend.allCases)
  func casesReadInSeveralWays(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let raws = ["low", "LOW", "high", "higher", "LOW", "low", "lowest"]
    try garage.parkAll(raws.enumerated().map { Free(id: $0, grade: $1) })
    let wanted: [Grade] = [.low, .low, .high, .unknown, .low, .low, .unknown]
    let query = garage.query(Graded.self)
    #expect(try query.sorted(by: \.id).values(\.grade) == wanted)
    #expect(try query.countByValue(\.grade) == [.low: 4, .high: 1, .unknown: 2])
    #expect(try query.distinct(\.grade).count == 3)
    #expect(try query.where(\.grade == .low).count() == 4)
    #expect(try query.where(\.grade == .unknown).count() == 2)
    #expect(try query.where(\.grade == .oneOf([.high, .unknown])).count() == 3)
  }

  /// Reads one older spelling, and refuses all that is no case.
  enum Renamed: String, Codable {
    case low, high
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let raw = try container.decode(String.self)
      guard let known = Renamed(rawValue: raw == "LOW" ? "low" : raw) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(raw) is no grade.")
      }
      self = known
    }
  }

  private struct Regraded: Codable, Identifiable, TypeTagged, Indexed {
    static var typeTag: String { "regraded of columns" }
    static var indexes: [Index<Regraded>] { [Index(\.grade, .readable)] }
    var id: Int
    var grade: Renamed
  }

  private struct Spelling: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "regraded of columns" }
    var id: Int
    var grade: String
  }

  @Test(arguments: Backend.allCases)
  func casesOfOneOlderSpelling(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let raws = ["low", "LOW", "high", "LOW"]
    try garage.parkAll(raws.enumerated().map { Spelling(id: $0, grade: $1) })
    let query = garage.query(Regraded.self)
    #expect(try query.where(\.grade == .low).count() == 3)
    try garage.buildIndexes()
    #expect(try garage.indexes(of: Regraded.self).map(\.entries) == [4])
    #expect(try query.sorted(by: \.id).values(\.grade) == [.low, .low, .high, .low])
    #expect(try query.countByValue(\.grade) == [.low: 3, .high: 1])
    #expect(try query.where(\.grade != .low).count() == 1)
    #expect(try query.where(\.grade == .low).retrieveAll().map(\.id) == [0, 1, 3])
  }

  /// What it has for a mood that it does not know depends on another property.
  private struct Guessing: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "graded of columns" }
    var id: Int
    var grade: Mood

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let guess: Mood = id % 2 == 0 ? .calm : .grim
      grade = (try? container.decode(Mood.self, forKey: .grade)) ?? guess
    }
  }

  @Test(arguments: Backend.allCases)
  func casesThatObjectsGuess(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let raws = ["what", "merry", "what", "what", "merry", "calm", "what"]
    try garage.parkAll(raws.enumerated().map { Free(id: $0, grade: $1) })
    let found = try garage.query(Guessing.self).sorted(by: \.id).values(\.grade)
    #expect(found == [.calm, .merry, .calm, .grim, .merry, .calm, .calm])
    #expect(try garage.query(Guessing.self).where(\.grade == .calm).count() == 4)
    // Who refuses them is decided from bytes.
    for text in ["optionalMood", "mood", "rank"] {
      let query = garage.query(Sample.self)
      let found =
        text == "rank"
        ? query.where(\.rank == .third)
        : text == "mood"
          ? query.where(\.mood == .calm) : query.where(\.optionalMood == .calm)
      #expect(try !found.explain().description.contains("decodes"), "\(text)")
    }
  }
}

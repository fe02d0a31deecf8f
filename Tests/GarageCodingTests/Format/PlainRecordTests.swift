import Foundation
import Testing

@testable import GarageCoding

private struct PlainScalars: Codable, Identifiable {
  var id = 7
  var name = "abc def", age = 70, visits = -70_000, flag = true
  var weight = 1.5, ratio = Float(2), since = Date(timeIntervalSinceReferenceDate: 3.5)
  var choice: Int?, note: String?, huge = UInt64.max
}
private struct PlainValues: Codable, Identifiable {
  var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
  var text = String(repeating: "long ", count: 15), price = Decimal(string: "12.50")!
  var numbers = [1, 2, 300], mixed: [Int?] = [nil, 5], age = 5, name = "é\u{301}x"
}
/// Its records are hardly longer than what stands before their fields.
private struct PlainOne: Codable, Identifiable {
  var id = "one"
  var name: String?
}
private struct PlainSynced: Codable, Identifiable, Syncable {
  var id = 1
  var syncStatus = SyncStatus.syncing
  var age = 5, name = "abc"
}
private struct PlainVersioned: Evolving, Identifiable {
  var id = 1
  var age = 5, name = "abc"
  static var version: Int { 3 }
}
private struct PlainLinked: Codable, Identifiable {
  var id = 1
  var age = 5, node = Node("node"), name = "abc", address: Part? = Part()
  struct Part: Codable { var name = "inner", age = 6 }
}
private struct PlainNested: Codable, Identifiable {
  var id = 1
  var address = Part(), age = 5, parts = [Part(), Part()], name = "abc", note: String?
  struct Part: Codable { var name = "inner", age = 6 }
}
private class PlainBase: Codable, Identifiable {
  var id = 1, age = 5, name = "abc"
}
private final class PlainDerived: PlainBase {
  override init() { super.init() }
  required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}
private struct PlainLarge: Codable, Identifiable {
  var id = 1
  var text = String(repeating: "text", count: 80), age = 5, name = "abc"
}

/// What is told by a glance at a record of the usual form is what the long way tells of it.
@Suite struct PlainRecordTests {
  private final class NoTexts: ShapeTexts {
    func shapeText(_ digest: UInt64) -> [UInt8]? { nil }
  }

  private static let values: [FieldValue] = [
    .number(.integer(5)), .number(.integer(70)), .number(.integer(-70_000)), .number(.double(1.5)),
    .number(.decimal(Decimal(string: "12.5")!)), .text("abc"), .text("é\u{301}x"), .date(3.5), .bool(true),
    .null,
    .uuid([UInt8](repeating: 7, count: 16)),
  ]
  private static let keys = [
    "id", "name", "age", "visits", "flag", "weight", "ratio", "since", "choice", "note", "huge", "text",
    "price",
    "numbers", "mixed", "node", "address", "syncStatus", "none", "address.age",
  ]

  /// How to make a question: each is made twice, because it remembers what it met.
  private static func recipe(_ random: inout SeededGenerator, depth: Int = 0) -> () -> FieldQuestion {
    if depth < 2, Int.random(in: 0..<4, using: &random) == 0 {
      let (left, right) = (recipe(&random, depth: depth + 1), recipe(&random, depth: depth + 1))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return { .both(left(), right()) }
      case 1: return { .either(left(), right()) }
      case 2: return { .not(left()) }
      default: return { .both(left(), .ofAny()) }
      }
    }
    let path = FieldPath(name: keys.randomElement(using: &random)!)
    let constant = FieldConstant(values.randomElement(using: &random)!)
    let orEqual = Bool.random(using: &random)
    let test: FieldTest =
      switch Int.random(in: 0..<11, using: &random) {
      case 0, 1: .equals(constant)
      case 2, 3: .isLess(constant, orEqual: orEqual)
      case 4: .isGreater(constant, orEqual: orEqual)
      case 5: .isNull
      case 6: .isThere
      case 7: .hasPrefix("ab")
      case 8: .isOneOf(OneOfConstants(values.map { FieldConstant($0) }))
      case 9: .text({ $0.contains("b") }, PlainPart("b", isAtEnd: false))
      default: .containsElement(constant)
      }
    let absentIsNull = Bool.random(using: &random)
    return { .of(FieldLookup(path), test, absentIsNull: absentIsNull) }
  }

  /// The records of one type, and what is asked of them.
  private final class Asking {
    let key: [UInt8]
    let record: [UInt8]
    private let tag: UInt64
    private let identifier: [UInt8]
    private let classes: RecordClasses
    private let questions: [(direct: FieldQuestion, whole: RecordQuestion)]
    /// Where fields are, and who asks for them: one by a glance where that is enough, the other never.
    private let columns: [(direct: PropertyLookup, whole: PropertyLookup)]
    private let glancing: RecordQuestion
    private let thorough: RecordQuestion
    private let texts = NoTexts()
    private let memory: EdgeMemory
    private let name: String
    private(set) var quickCount = 0

    init<T: Codable>(_ value: T, _ random: inout SeededGenerator) throws {
      let graph = try GraphEncoder().encode([value])
      (key, record) = graph.recordsByKey[0]
      tag = graph.roots[0].tag
      identifier = Array(key.dropFirst(RecordKey.tagByteCount))
      name = "\(T.self)"
      memory = try EdgeMemory(1 << 16)
      let (tag, name, texts) = (tag, name, texts)
      func classes() -> RecordClasses {
        RecordClasses(TypeFacts.of(T.self).object, ownTags: [tag], .none, isSubclass: { _ in false })
      }
      func question(_ question: FieldQuestion, sharesSpace: Bool = false) -> RecordQuestion {
        RecordQuestion(
          question, classes(), typeName: name, sharesSpaceWithSuperclass: sharesSpace, texts,
          ofSubclass: { _ in .ofAny() })
      }
      self.classes = classes()
      (glancing, thorough) = (question(.ofAny()), question(.ofAny(), sharesSpace: true))
      columns = PlainRecordTests.keys.map { key in
        let field = StoredField(path: FieldPath(name: key), absentIsNull: true)
        return (
          PropertyLookup(field, inSubclass: { _ in nil }), PropertyLookup(field, inSubclass: { _ in nil })
        )
      }
      questions = (0..<80).map { _ in
        let make = PlainRecordTests.recipe(&random)
        let whole = question(make())
        return (make(), whole)
      }
      // What the shape has is known from the first time on.
      for _ in 0..<2 {
        for question in questions { ask(question, record, "whole") }
        for column in columns { look(column, record, "whole") }
      }
    }

    private func outcome<Answer>(_ answer: () throws -> Answer) -> String {
      do { return "\(try answer())" } catch { return "\(error)" }
    }

    /// Asks some of the questions.
    func ask(_ record: [UInt8], _ random: inout SeededGenerator, _ what: @autoclosure () -> String) {
      for _ in 0..<2 { ask(questions.randomElement(using: &random)!, record, what()) }
      look(columns.randomElement(using: &random)!, record, what())
    }

    private func look(
      _ column: (direct: PropertyLookup, whole: PropertyLookup), _ record: [UInt8],
      _ what: @autoclosure () -> String
    ) {
      let identifier = identifier
      func values(_ question: RecordQuestion, _ property: PropertyLookup, _ record: RawSpan) -> [String] {
        [
          outcome {
            try question.value(property, tag: tag, keyIdentifier: identifier.span.bytes, record: record)
          },
          outcome {
            try question.integer(property, tag: tag, keyIdentifier: identifier.span.bytes, record: record)
          },
        ]
      }
      memory.lend(record) { bytes in
        let (whole, long) = (
          values(glancing, column.whole, bytes.bytes), values(thorough, column.direct, bytes.bytes)
        )
        if whole != long { Issue.record("\(name), \(what()): \(whole), and by the long way \(long)") }
      }
    }

    private func ask(
      _ question: (direct: FieldQuestion, whole: RecordQuestion), _ record: [UInt8],
      _ what: @autoclosure () -> String
    ) {
      let identifier = identifier
      memory.lend(record) { bytes in
        // The quick way first: the long one makes the question remember other shapes.
        let quick = PlainRecord(bytes).flatMap { question.direct.quickAnswer($0) }
        let isRight = key.withUnsafeBytes { key in
          record.count > RecordHead.byteCount && RecordChecksum.isRight(bytes, under: RecordKey(key).checked)
        }
        let long = outcome { () -> FieldAnswer in
          try FieldRecord.with(
            tag: tag, keyIdentifier: identifier.span.bytes, record: bytes.bytes, typeName: name, texts
          ) { fields in
            switch classes.member(fields) {
            case .own: try question.direct.answer(fields)
            case .stranger: .no
            case .subclass, .unknown: .unknown
            }
          }
        }
        let whole = outcome {
          try question.whole.answer(tag: tag, keyIdentifier: identifier.span.bytes, record: bytes.bytes)
        }
        if whole != long { Issue.record("\(name), \(what()): \(whole), and by the long way \(long)") }
        guard let quick, isRight, classes.haveNoVersion else { return }
        quickCount += 1
        if "\(quick)" != long { Issue.record("\(name), \(what()): \(quick), and by the long way \(long)") }
      }
    }
  }

  /// The records of a type as they are, and damaged in all ways.
  private func check<T: Codable>(_ value: T, _ seed: UInt64, isQuick: Bool?) throws {
    var random = SeededGenerator(seed)
    let asking = try Asking(value, &random)
    if let isQuick { #expect((asking.quickCount > 0) == isQuick, "seed \(seed), \(T.self)") }
    let (key, record) = (asking.key, asking.record)
    /// With a checksum that fits, and also without.
    func ask(_ record: [UInt8], alsoUnsealed: Bool = false, _ what: @autoclosure () -> String) {
      if alsoUnsealed { asking.ask(record, &random, "seed \(seed), \(what())") }
      asking.ask(sealed(record, key: key), &random, "seed \(seed), \(what()), sealed")
    }
    for index in record.indices {
      var changed = record
      changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      ask(changed, alsoUnsealed: true, "a bit of byte \(index)")
      changed[index] = UInt8.random(in: 0...255, using: &random)
      ask(changed, "byte \(index) is \(changed[index])")
      ask(Array(record.prefix(index)), "\(index) bytes")
    }
    for flags in 0...255 as ClosedRange<UInt8> {
      var changed = record
      changed[1] = flags
      ask(changed, "flags \(flags)")
    }
    for version in [0, 2, 3, 0x41, 255] as [UInt8] {
      var changed = record
      changed[0] = version
      ask(changed, "version \(version)")
    }
    for count in [1, 2, 8, 300] { ask(record + [UInt8](repeating: 1, count: count), "\(count) bytes more") }
    for round in 0..<150 { ask(damaged(record, &random), "damage \(round)") }
  }

  @Test(arguments: [1, .random(in: 0 ... .max)] as [UInt64]) func agreesWithTheLongWay(_ seed: UInt64)
    throws
  {
    try check(PlainScalars(), seed, isQuick: true)
    try check(PlainScalars(choice: 300, note: "note"), seed, isQuick: true)
    try check(PlainValues(), seed, isQuick: true)
    try check(PlainOne(), seed, isQuick: nil)
    try check(PlainOne(name: "abc"), seed, isQuick: nil)
    try check(PlainSynced(), seed, isQuick: true)
    try check(PlainVersioned(), seed, isQuick: false)
    try check(PlainLinked(), seed, isQuick: false)
    try check(PlainNested(), seed, isQuick: true)
    try check(PlainBase(), seed, isQuick: true)
    try check(PlainDerived(), seed, isQuick: false)
    try check(PlainLarge(), seed, isQuick: false)
  }

  /// Where values end that the table tells is what stands in the format.
  @Test func theTableOfTagsIsThatOfTheFormat() {
    var expected: [UInt8: Int] = [
      BodyTag.absent: 0, BodyTag.null: 0, BodyTag.false: 0, BodyTag.true: 0, BodyTag.int8: 1,
      BodyTag.int16: 2,
      BodyTag.int32: 4, BodyTag.int64: 8, BodyTag.int128: 16, BodyTag.uint64: 8, BodyTag.uint128: 16,
      BodyTag.float: 4, BodyTag.double: 8, BodyTag.date: 8, BodyTag.uuid: 16, BodyTag.reference8: 1,
      BodyTag.reference32: 4,
    ]
    for number in 0..<64 as Range<UInt8> {
      expected[BodyTag.smallInteger + number] = 0
      expected[BodyTag.shortString + number] = Int(number)
    }
    for number in 0..<32 as Range<UInt8> { expected[BodyTag.smallReference + number] = 0 }
    for tag in 0...255 as ClosedRange<UInt8> {
      [tag].withUnsafeBytes { bytes in
        let told = BodyScanner.byteCount(bytes.baseAddress!, 0)
        #expect(told == expected[tag].map { $0 + 1 } ?? 0, "tag \(tag)")
      }
    }
  }
}

/// Whether a condition holds for a record, as far as its bytes tell.
package enum FieldAnswer: UInt8, Sendable {
  case no
  case yes
  /// The object has to be decoded to find out.
  case unknown

  init(_ answer: Bool?) {
    switch answer {
    case false?: self = .no
    case true?: self = .yes
    case nil: self = .unknown
    }
  }
}

/// A condition in a form that can be checked quickly against the bytes of many records.
///
/// Conditions are trees of objects, and not of enum values: walking through enum values copies their payloads and counts
/// references to them, which takes several times as long as a comparison. A question must be used by one thread only.
package class FieldQuestion {
  /// A question that no record can answer: the object always has to be decoded.
  package static func ofObject() -> FieldQuestion { FieldQuestion() }

  /// Asks whether one field passes a test.
  ///
  /// - Parameter absentIsNull: whether a field that a record does not have counts as nil.
  package static func of(_ lookup: FieldLookup, _ test: FieldTest, absentIsNull: Bool) -> FieldQuestion {
    let field = FieldQuestion.Field(lookup, test, absentIsNull)
    switch test {
    case .equals(let constant):
      if let integer = constant.integer { return IntegerQuestion(field, least: integer, most: integer) }
      return OrderQuestion(field, constant, less: false, equal: true, more: false)
    case .isLess(let constant, let orEqual):
      if let integer = constant.integer {
        if orEqual { return IntegerQuestion(field, least: .min, most: integer) }
        return integer == .min
          ? IntegerQuestion(field, least: 1, most: 0) : IntegerQuestion(field, least: .min, most: integer - 1)
      }
      return OrderQuestion(field, constant, less: true, equal: orEqual, more: false)
    case .isGreater(let constant, let orEqual):
      if let integer = constant.integer {
        if orEqual { return IntegerQuestion(field, least: integer, most: .max) }
        return integer == .max
          ? IntegerQuestion(field, least: 1, most: 0) : IntegerQuestion(field, least: integer + 1, most: .max)
      }
      return OrderQuestion(field, constant, less: false, equal: orEqual, more: true)
    case .hasPrefix(let text): return PrefixQuestion(field, text)
    case .isNull: return NullQuestion(field)
    case .isThere, .isOneOf, .equalsIgnoringCase, .text, .containsElement:
      return PlainQuestion.of(test, field) ?? AnyFieldQuestion(field)
    }
  }

  /// Asks whether both conditions hold.
  package static func both(_ left: FieldQuestion, _ right: FieldQuestion) -> FieldQuestion {
    if let left = left as? IntegerQuestion, let right = right as? IntegerQuestion,
      let merged = left.merged(with: right)
    {
      return merged
    }
    return BothQuestion(left, right)
  }

  /// Asks whether at least one of the conditions holds.
  package static func either(_ left: FieldQuestion, _ right: FieldQuestion) -> FieldQuestion {
    EitherQuestion(left, right)
  }

  /// Asks whether a condition does not hold.
  package static func not(_ inner: FieldQuestion) -> FieldQuestion { NotQuestion(inner) }

  /// A condition that every object satisfies.
  package static func ofAny() -> FieldQuestion { AnyQuestion() }

  /// Checks the condition against a record.
  ///
  /// - Throws: `DamagedBytes`, to which the caller adds the name of the record.
  func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer { .unknown }

  /// Gives the same answer as ``answer(_:)``, faster, for a record of the usual form. Nil means that ``answer(_:)`` has to be
  /// called; also if that will throw.
  func quickAnswer(_ record: PlainRecord) -> FieldAnswer? { nil }

  /// A field with its test, which is evaluated in full if a question has no faster way to the answer.
  final class Field {
    let lookup: FieldLookup
    let test: FieldTest
    private let absentIsNull: Bool
    /// The answer of every record without a value, or with a nil. It is at hand, because many properties are nil in most objects.
    let answerForAbsent: FieldAnswer

    init(_ lookup: FieldLookup, _ test: FieldTest, _ absentIsNull: Bool) {
      (self.lookup, self.test, self.absentIsNull) = (lookup, test, absentIsNull)
      answerForAbsent = FieldAnswer(test.answerForAbsent(isNull: absentIsNull))
    }

    @inline(__always)
    func answer(_ place: FieldLookup.Place) throws -> FieldAnswer {
      if case .absent = place { return answerForAbsent }
      return try answerByTest(place)
    }

    @inline(never)
    private func answerByTest(_ place: FieldLookup.Place) throws -> FieldAnswer {
      FieldAnswer(try test.answer(place, absentIsNull: absentIsNull))
    }

    /// Nil if the place is undecided, or if ``answer(_:)`` throws.
    @inline(__always)
    func quickAnswer(_ place: FieldLookup.Place) -> FieldAnswer? {
      if case .absent = place { return answerForAbsent }
      return quickAnswerByTest(place)
    }

    @inline(never)
    private func quickAnswerByTest(_ place: FieldLookup.Place) -> FieldAnswer? {
      if case .undecided = place { return nil }
      return try? answerByTest(place)
    }
  }
}

private final class AnyQuestion: FieldQuestion {
  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer { .yes }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? { .yes }
}

// MARK: - Combinations

private final class BothQuestion: FieldQuestion {
  private let left: FieldQuestion
  private let right: FieldQuestion

  init(_ left: FieldQuestion, _ right: FieldQuestion) { (self.left, self.right) = (left, right) }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    let first = try left.answer(record)
    if first == .no { return .no }
    let second = try right.answer(record)
    return second == .no ? .no : first == .unknown ? .unknown : second
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let first = left.quickAnswer(record) else { return nil }
    if first == .no { return .no }
    guard let second = right.quickAnswer(record) else { return nil }
    return second == .no ? .no : first == .unknown ? .unknown : second
  }
}

private final class EitherQuestion: FieldQuestion {
  private let left: FieldQuestion
  private let right: FieldQuestion

  init(_ left: FieldQuestion, _ right: FieldQuestion) { (self.left, self.right) = (left, right) }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    let first = try left.answer(record)
    if first == .yes { return .yes }
    let second = try right.answer(record)
    return second == .yes ? .yes : first == .unknown ? .unknown : second
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let first = left.quickAnswer(record) else { return nil }
    if first == .yes { return .yes }
    guard let second = right.quickAnswer(record) else { return nil }
    return second == .yes ? .yes : first == .unknown ? .unknown : second
  }
}

private final class NotQuestion: FieldQuestion {
  private let inner: FieldQuestion

  init(_ inner: FieldQuestion) { self.inner = inner }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    opposite(of: try inner.answer(record))
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    inner.quickAnswer(record).map { opposite(of: $0) }
  }

  private func opposite(of answer: FieldAnswer) -> FieldAnswer {
    switch answer {
    case .no: .yes
    case .yes: .no
    case .unknown: .unknown
    }
  }
}

// MARK: - Questions about one field

/// Applies any test, without a faster way for values of a certain kind.
private final class AnyFieldQuestion: FieldQuestion {
  private let field: Field

  init(_ field: Field) { self.field = field }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    try field.answer(field.lookup.place(in: record))
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    field.lookup.near.flatMap { field.quickAnswer($0.find(record)) }
  }
}

/// Asks whether a field has no value.
private final class NullQuestion: FieldQuestion {
  private let field: Field
  @exclusivity(unchecked) private var near: FieldLookup.Near?

  init(_ field: Field) { self.field = field }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    if let near {
      let place = try near.find(record)
      if let answer = quickAnswer(place) { return answer }
    }
    let place = try field.lookup.place(in: record)
    near = field.lookup.near
    return try field.answer(place)
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let near else { return nil }
    return quickAnswer(near.find(record))
  }

  /// Nil where the place is undecided.
  @inline(__always)
  private func quickAnswer(_ place: FieldLookup.Place) -> FieldAnswer? {
    switch place {
    case .undecided: nil
    case .absent: field.answerForAbsent
    // A reference to an object that is not there is nil, too.
    case .value(let value): value.isNull ? field.answerForAbsent : value.isReference ? .unknown : .no
    }
  }
}

/// Asks whether a number is in a range of integers. If the value is an integer of up to 64 bits, two comparisons decide.
private final class IntegerQuestion: FieldQuestion {
  private let field: Field
  /// The field and test of the second question, if two questions were merged into this one. A value that is no such integer has
  /// to pass both tests.
  private let other: Field?
  private let least: Int64
  private let most: Int64
  /// A copy of what the lookup remembers of the last shape, so that it can be read without counting references to the lookup.
  @exclusivity(unchecked) private var near: FieldLookup.Near?

  init(_ field: Field, _ other: Field? = nil, least: Int64, most: Int64) {
    (self.field, self.other, self.least, self.most) = (field, other, least, most)
  }

  /// One question that replaces this one and another one about the same field. Nil if they are about different fields, or if one
  /// of them was merged already.
  func merged(with question: IntegerQuestion) -> IntegerQuestion? {
    guard other == nil, question.other == nil, field.lookup.path == question.field.lookup.path else {
      return nil
    }
    return IntegerQuestion(
      field, question.field, least: max(least, question.least), most: min(most, question.most))
  }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    if let near {
      let place = try near.find(record)
      if case .value(let value) = place, let integer = value.narrowInteger {
        return least <= integer && integer <= most ? .yes : .no
      }
      if case .absent = place { return try answer(place) }
    }
    return try answerSlowly(record)
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let near else { return nil }
    let place = near.find(record)
    if case .value(let value) = place, let integer = value.narrowInteger {
      return least <= integer && integer <= most ? .yes : .no
    }
    return quickAnswer(place)
  }

  @inline(never)
  private func quickAnswer(_ place: FieldLookup.Place) -> FieldAnswer? {
    if case .undecided = place { return nil }
    return try? answer(place)
  }

  @inline(never)
  private func answerSlowly(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    let place = try field.lookup.place(in: record)
    near = field.lookup.near
    if case .value(let value) = place, let integer = value.narrowInteger {
      return least <= integer && integer <= most ? .yes : .no
    }
    return try answer(place)
  }

  @inline(never)
  private func answer(_ place: FieldLookup.Place) throws -> FieldAnswer {
    let first = try field.answer(place)
    guard let other, first != .no else { return first }
    let second = try other.answer(place)
    return second == .no ? .no : first == .unknown ? .unknown : second
  }
}

/// Asks whether a value is less than, equal to, or more than a constant.
private final class OrderQuestion: FieldQuestion {
  private let field: Field
  private let plainText: [UInt8]?
  private let plain: PlainConstant?
  private let less: Bool
  private let equal: Bool
  private let more: Bool
  @exclusivity(unchecked) private var near: FieldLookup.Near?

  init(_ field: Field, _ constant: FieldConstant, less: Bool, equal: Bool, more: Bool) {
    (self.field, plainText, plain) = (field, constant.plainText, constant.plain)
    (self.less, self.equal, self.more) = (less, equal, more)
  }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    if let near {
      let place = try near.find(record)
      if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
      if case .absent = place { return try field.answer(place) }
    }
    let place = try field.lookup.place(in: record)
    near = field.lookup.near
    if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
    return try field.answer(place)
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let near else { return nil }
    let place = near.find(record)
    if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
    return field.quickAnswer(place)
  }

  @inline(__always)
  private func quickAnswer(_ value: FieldPlace) -> FieldAnswer? {
    if let plain {
      switch plain.order(of: value) {
      case .less: return less ? .yes : .no
      case .equal: return equal ? .yes : .no
      case .more: return more ? .yes : .no
      case .none: return .no
      case .unknown: return nil
      }
    }
    guard let plainText, let utf8 = value.utf8, isSurelyComposed(utf8) else { return nil }
    let order = plainText.withUnsafeBytes { compareBytes(utf8, $0) }
    return (order < 0 ? less : order == 0 ? equal : more) ? .yes : .no
  }
}

/// Asks whether a text begins with another one. If both are ASCII as far as they have to be compared, their bytes decide.
private final class PrefixQuestion: FieldQuestion {
  private let field: Field
  /// The bytes of the prefix. Nil if only Swift's own comparison decides: if the prefix is not ASCII, or contains a CR, which
  /// together with an LF behind it is one character.
  private let prefix: [UInt8]?
  @exclusivity(unchecked) private var near: FieldLookup.Near?

  init(_ field: Field, _ text: String) {
    self.field = field
    prefix = text.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D } ? Array(text.utf8) : nil
  }

  override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    if let near {
      let place = try near.find(record)
      if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
      if case .absent = place { return try field.answer(place) }
    }
    let place = try field.lookup.place(in: record)
    near = field.lookup.near
    if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
    return try field.answer(place)
  }

  override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let near else { return nil }
    let place = near.find(record)
    if case .value(let value) = place, let answer = quickAnswer(value) { return answer }
    return field.quickAnswer(place)
  }

  @inline(__always)
  private func quickAnswer(_ value: FieldPlace) -> FieldAnswer? {
    guard let prefix, let utf8 = value.utf8, let answer = PrefixQuestion.answer(prefix, utf8) else {
      return nil
    }
    return answer ? .yes : .no
  }

  /// Nil if the text is not ASCII as far as it has to be compared, because such a scalar may be a part of the character before
  /// it.
  @inline(__always)
  private static func answer(_ prefix: [UInt8], _ text: UnsafeRawBufferPointer) -> Bool? {
    var isSame = prefix.count <= text.count
    for index in 0..<min(prefix.count, text.count) {
      if text[index] >= 0x80 { return nil }
      if text[index] != prefix[index] {
        isSame = false
        // Even if a combining mark follows in the text, its character is not that of the prefix.
        break
      }
    }
    if isSame, prefix.count < text.count, text[prefix.count] >= 0x80 { return nil }
    return isSame
  }
}

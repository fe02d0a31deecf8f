/// A test of one field that a look at the bytes of most values decides: no text is made of them, and nothing is counted.
///
/// What is in it is copied for each record where it is asked of a ``FieldTest``.
class PlainQuestion: FieldQuestion {
  private let field: Field
  @exclusivity(unchecked) private var near: FieldLookup.Near?

  init(_ field: Field) { self.field = field }

  /// The question of a test; nil where there is no shorter way than to ask that.
  static func of(_ test: FieldTest, _ field: Field) -> FieldQuestion? {
    switch test {
    case .text(_, let part?): PartQuestion(field, part)
    case .equalsIgnoringCase(let text): IgnoringCaseQuestion(field, text)
    case .isOneOf(let constants): oneOf(constants, field)
    default: nil
    }
  }

  /// What the bytes of a value tell, which is not nil; nil where they tell nothing.
  func plainAnswer(_ place: FieldPlace) -> Bool? { nil }

  final override func answer(_ record: borrowing FieldRecord) throws -> FieldAnswer {
    if let near {
      let place = try near.find(record)
      if case .value(let value) = place, let answer = plainAnswer(value) { return answer ? .yes : .no }
      if case .absent = place { return try field.answer(place) }
    }
    let place = try field.lookup.place(in: record)
    near = field.lookup.near
    if case .value(let value) = place, let answer = plainAnswer(value) { return answer ? .yes : .no }
    return try field.answer(place)
  }

  final override func quickAnswer(_ record: PlainRecord) -> FieldAnswer? {
    guard let near else { return nil }
    let place = near.find(record)
    if case .value(let value) = place, let answer = plainAnswer(value) { return answer ? .yes : .no }
    return field.quickAnswer(place)
  }
}

/// Whether text has a part.
private final class PartQuestion: PlainQuestion {
  private let part: PlainPart

  init(_ field: Field, _ part: PlainPart) {
    self.part = part
    super.init(field)
  }

  override func plainAnswer(_ place: FieldPlace) -> Bool? { place.utf8.flatMap { part.isIn($0) } }
}

/// Whether text is another, where no difference is made between upper and lower case.
private final class IgnoringCaseQuestion: PlainQuestion {
  /// The text that is looked for; nil where it is no ASCII, however it is composed: no ASCII is equal to it then.
  private let lower: [UInt8]?

  /// - Parameter text: in lower case.
  init(_ field: Field, _ text: String) {
    // A few other characters are the same as one of ASCII, such as U+037E as a semicolon.
    let utf8 = Array(composed(text).utf8)
    lower = utf8.withUnsafeBytes { isASCII($0) } ? utf8 : nil
    super.init(field)
  }

  override func plainAnswer(_ place: FieldPlace) -> Bool? {
    guard let utf8 = place.utf8 else { return nil }
    guard let lower else { return isASCII(utf8) ? false : nil }
    return lower.withUnsafeBytes { IgnoringCaseQuestion.isSame(utf8, $0) }
  }

  /// Nil where the text has something else than ASCII before the first difference.
  @inline(__always)
  private static func isSame(_ text: UnsafeRawBufferPointer, _ lower: UnsafeRawBufferPointer) -> Bool? {
    for place in 0..<min(text.count, lower.count) {
      let byte = text[place]
      if byte >= 0x80 { return nil }
      let isUpper = byte &- UInt8(ascii: "A") < 26
      // A mark that follows makes another character of it, which is not the one that is looked for either.
      if (isUpper ? byte | 0x20 : byte) != lower[place] { return false }
    }
    if text.count <= lower.count { return text.count == lower.count }
    return text[lower.count] < 0x80 ? false : nil
  }
}

// MARK: - One of some values

extension PlainQuestion {
  /// Nil where they are neither integers alone nor texts alone, beside nil.
  private static func oneOf(_ constants: OneOfConstants, _ field: Field) -> FieldQuestion? {
    var (integers, texts): ([Int64], [[UInt8]]) = ([], [])
    for constant in constants.all {
      if let integer = constant.integer {
        integers.append(integer)
      } else if let text = constant.plainText {
        texts.append(text)
      } else if constant.value != .null {
        return nil
      }
    }
    if integers.isEmpty == texts.isEmpty { return nil }
    return integers.isEmpty ? OneOfTextsQuestion(field, texts) : OneOfIntegersQuestion(field, integers)
  }

  /// So many are compared one after another sooner than one is looked for.
  fileprivate static var fewCount: Int { 8 }
}

private final class OneOfIntegersQuestion: PlainQuestion {
  private let few: [Int64]
  private let many: Set<Int64>

  init(_ field: Field, _ integers: [Int64]) {
    let isFew = integers.count <= PlainQuestion.fewCount
    (few, many) = isFew ? (integers, []) : ([], Set(integers))
    super.init(field)
  }

  override func plainAnswer(_ place: FieldPlace) -> Bool? {
    guard let integer = place.narrowInteger else { return nil }
    if few.isEmpty { return many.contains(integer) }
    for other in few where other == integer { return true }
    return false
  }
}

private final class OneOfTextsQuestion: PlainQuestion {
  private let few: [[UInt8]]
  private let many: PlainTexts?

  init(_ field: Field, _ texts: [[UInt8]]) {
    let isFew = texts.count <= PlainQuestion.fewCount
    (few, many) = isFew ? (texts, nil) : ([], PlainTexts(texts))
    super.init(field)
  }

  override func plainAnswer(_ place: FieldPlace) -> Bool? {
    guard let utf8 = place.utf8, isSurelyComposed(utf8) else { return nil }
    if let many { return many.contains(utf8) }
    for index in few.indices where few[index].count == utf8.count {
      if few[index].withUnsafeBytes({ compareBytes(utf8, $0) }) == 0 { return true }
    }
    return false
  }
}

/// Texts that are found by their bytes: their own composed forms.
private final class PlainTexts {
  private struct Place {
    var hash = 0
    var start = 0
    /// Less than 0 where there is none.
    var count = -1
  }

  private let bytes: [UInt8]
  /// Each text at the place that its hash names, or behind it. More than half of them are free.
  private let places: [Place]
  private let mask: Int

  init(_ texts: [[UInt8]]) {
    var size = 16
    while size < 2 * texts.count + 1 { size *= 2 }
    var bytes: [UInt8] = []
    var places = [Place](repeating: Place(), count: size)
    for text in texts {
      let hash = text.withUnsafeBytes { PlainTexts.hash($0) }
      var index = hash & (size - 1)
      while places[index].count >= 0 { index = (index + 1) & (size - 1) }
      places[index] = Place(hash: hash, start: bytes.count, count: text.count)
      bytes += text
    }
    (self.bytes, self.places, mask) = (bytes, places, size - 1)
  }

  // Seeded: who names the texts cannot name those that have the same one.
  private static func hash(_ text: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: text)
    return hasher.finalize()
  }

  func contains(_ text: UnsafeRawBufferPointer) -> Bool {
    let hash = PlainTexts.hash(text)
    return bytes.withUnsafeBytes { bytes in
      var index = hash & mask
      while places[index].count >= 0 {
        let place = places[index]
        if place.hash == hash, place.count == text.count {
          let found = UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count])
          if compareBytes(found, text) == 0 { return true }
        }
        index = (index + 1) & mask
      }
      return false
    }
  }
}

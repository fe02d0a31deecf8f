/// A question to one field, answered from the bytes of its record.
package enum FieldTest: Sendable {
  case equals(FieldConstant)
  /// Has no value, whatever kind of values it may have.
  case isNull
  /// Has a value.
  case isThere
  case isLess(FieldConstant, orEqual: Bool)
  case isGreater(FieldConstant, orEqual: Bool)
  case isOneOf(OneOfConstants)
  case hasPrefix(String)
  /// Is this text, where no difference is made between upper and lower case. The text is in lower case.
  case equalsIgnoringCase(String)
  /// Any other question to text; with the part, if the question is whether that part is in it.
  case text(@Sendable (String) -> Bool, PlainPart?)
  /// A collection has this element.
  case containsElement(FieldConstant)

  /// Whether the answer is yes; nil where it takes the object.
  ///
  /// What the comparison operators of Swift say: nil is equal to nil alone and neither less nor more than anything, and
  /// so is NaN, which is not even equal to itself.
  package func answer(_ place: FieldLookup.Place, absentIsNull: Bool) throws -> Bool? {
    switch place {
    case .undecided: nil
    case .absent: answerForAbsent(isNull: absentIsNull)
    // A type that reads a nil as a value of its own does so where there is no value, too.
    case .value(let place): place.isNull ? answerForAbsent(isNull: absentIsNull) : try answer(place)
    }
  }

  /// The answer where there is no value, or a nil.
  ///
  /// - Parameter isNull: whether the property is nil then.
  func answerForAbsent(isNull: Bool) -> Bool? { isNull ? answerForNull : nil }

  private var answerForNull: Bool {
    switch self {
    case .equals(let constant): constant.value == .null
    case .isOneOf(let constants): constants.hasNull
    case .isNull: true
    default: false
    }
  }

  @inline(__always)
  private func answer(_ place: FieldPlace) throws -> Bool? {
    switch self {
    case .equals(let constant): try FieldTest.isEqual(place, constant)
    // A reference to an object that is not there is nil, too.
    case .isNull: place.isReference ? nil : false
    case .isThere: true
    case .isLess(let constant, let orEqual):
      try FieldTest.order(place, constant) { orEqual ? $0 <= 0 : $0 < 0 }
    case .isGreater(let constant, let orEqual):
      try FieldTest.order(place, constant) { orEqual ? $0 >= 0 : $0 > 0 }
    case .isOneOf(let constants): try FieldTest.isOneOf(place, constants)
    case .hasPrefix(let text): try FieldTest.text(place) { $0.hasPrefix(text) }
    case .equalsIgnoringCase(let text): try FieldTest.text(place) { $0.lowercased() == text }
    case .text(let isWanted, let part): try FieldTest.text(place, part, isWanted)
    case .containsElement(let constant): try FieldTest.contains(place, constant)
    }
  }

  @inline(__always)
  private static func order(
    _ place: FieldPlace, _ constant: FieldConstant, _ isWanted: (Int) -> Bool
  ) throws -> Bool? {
    if let order = try constant.order(of: place) { return isWanted(order) }
    return try place.isNaN(beside: constant) ? false : nil
  }

  @inline(__always)
  private static func isEqual(_ place: FieldPlace, _ constant: FieldConstant) throws -> Bool? {
    if let order = try constant.order(of: place) { return order == 0 }
    if case .null = constant.value { return false }
    return try place.isNaN(beside: constant) ? false : nil
  }

  private static func isOneOf(_ place: FieldPlace, _ constants: OneOfConstants) throws -> Bool? {
    if let search = constants.search { return try search.contains(place) }
    var answer: Bool? = false
    for constant in constants.all {
      switch try isEqual(place, constant) {
      case true?: return true
      case nil: answer = nil
      case false?: break
      }
    }
    return answer
  }

  private static func text(_ place: FieldPlace, _ isWanted: (String) -> Bool) throws -> Bool? {
    guard case .text(let text)? = try place.value() else { return nil }
    return isWanted(text)
  }

  @inline(__always)
  private static func text(
    _ place: FieldPlace, _ part: PlainPart?, _ isWanted: (String) -> Bool
  ) throws -> Bool? {
    if let part, let utf8 = place.utf8, let isThere = part.isIn(utf8) { return isThere }
    return try text(place, isWanted)
  }

  private static func contains(_ place: FieldPlace, _ constant: FieldConstant) throws -> Bool? {
    if let isThere = try place.containsPlainly(constant) { return isThere }
    var (isThere, isSure) = (false, true)
    let isArray = try place.forEachElement { element in
      guard let element else {
        isSure = false
        return true
      }
      if let order = constant.order(of: element) {
        isThere = order == 0
      } else if !element.isNaN && !constant.value.isNaN && element != .null && constant.value != .null {
        isSure = false
      }
      return !isThere
    }
    return isArray && (isThere || isSure) ? isThere : nil
  }
}

extension FieldPlace {
  /// Whether this or the constant is NaN, and both are numbers or dates.
  @inline(never)
  fileprivate func isNaN(beside constant: FieldConstant) throws -> Bool {
    guard let value = try value() else { return false }
    return value.isComparable(to: constant.value) && (value.isNaN || constant.value.isNaN)
  }
}

/// A part that is looked for in text by its bytes: ASCII, in which each character is one byte.
package struct PlainPart: Sendable {
  private let utf8: [UInt8]
  private let isAtEnd: Bool

  /// - Parameter isAtEnd: whether it is to be the end of the text.
  /// - Returns: nil for a part that takes Swift's own comparison: an empty one, and one with other than printable characters.
  ///   CR and LF are one character, and Foundation ignores NUL.
  package init?(_ part: String, isAtEnd: Bool) {
    utf8 = Array(part.utf8)
    self.isAtEnd = isAtEnd
    if utf8.isEmpty || !utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return nil }
  }

  /// Whether the part is there; nil for text that is not ASCII, because its scalars may belong to characters of the part.
  func isIn(_ text: UnsafeRawBufferPointer) -> Bool? {
    if !isASCII(text) { return nil }
    let last = text.count - utf8.count
    if last < 0 { return false }
    return utf8.withUnsafeBytes { part in
      for place in (isAtEnd ? last : 0)...last where text[place] == part[0] {
        let found = UnsafeRawBufferPointer(rebasing: text[place..<place + part.count])
        if compareBytes(found, part) == 0 { return true }
      }
      return false
    }
  }
}

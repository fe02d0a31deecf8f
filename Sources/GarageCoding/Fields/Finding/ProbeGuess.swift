/// What a type finds when it decodes itself. Some types accept only a certain number of elements, one of several cases, or text
/// of a certain form.
struct ProbeGuess {
  /// How many elements an array has: a range has two, a vector as many as dimensions.
  var elementCount = 1
  /// Which case an enum is whose only key tells its case.
  var caseIndex = 0
  /// Which form its values have (``MadeUpValue``).
  var form = 0

  /// What a guess is about.
  struct Matter: OptionSet {
    let rawValue: UInt8
    static let elements = Matter(rawValue: 1)
    static let cases = Matter(rawValue: 2)
    static let values = Matter(rawValue: 4)
  }

  /// The guesses that differ in something that a type asked for, in the order in which they are tried. An array is empty if no
  /// element can be made up.
  static func all(_ asked: Matter) -> [ProbeGuess] {
    var guesses: [ProbeGuess] = []
    if asked.contains(.cases) { guesses += (1..<8).map { ProbeGuess(caseIndex: $0) } }
    if asked.contains(.elements) {
      guesses += [2, 3, 4, 6, 8, 9, 12, 16, 20, 32, 64, 0].map { ProbeGuess(elementCount: $0) }
    }
    if asked.contains(.values) { guesses += (1..<MadeUpValue.formCount).map { ProbeGuess(form: $0) } }
    return guesses
  }
}

internal import GarageCoding

/// Stretches of an index in which all entries stand that satisfy a condition. They are sorted, and none touches another.
struct ValueRanges {
  struct Range {
    var lower: [UInt8]
    /// The bytes behind the stretch.
    var upper: [UInt8]
    /// Whether everything in the stretch satisfies the condition, so that no record need be tested.
    var isExact: Bool
    /// Whether it is the stretch of one value.
    var isPoint = false
  }

  var ranges: [Range]

  init(_ ranges: [Range]) { self.ranges = ranges }

  /// No stretches, for a condition that no value satisfies.
  static let none = ValueRanges([])

  /// Bytes behind every kind of value.
  private static let end: [UInt8] = [IndexBatch.hashKind + 1]

  /// Everything that begins with these bytes.
  static func beginning(with bytes: [UInt8], isExact: Bool, isPoint: Bool = false) -> Range {
    Range(lower: bytes, upper: behind(bytes), isExact: isExact, isPoint: isPoint)
  }

  /// The least bytes behind everything that begins with these. No value begins with FF.
  static func behind(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    while bytes.last == 0xFF { bytes.removeLast() }
    if !bytes.isEmpty { bytes[bytes.count - 1] += 1 }
    return bytes
  }

  // MARK: - Combining

  /// Everything that is in both.
  func intersection(_ other: ValueRanges) -> ValueRanges {
    var found: [Range] = []
    var (place, otherPlace) = (0, 0)
    while place < ranges.count, otherPlace < other.ranges.count {
      let (left, right) = (ranges[place], other.ranges[otherPlace])
      let endsFirst = ValueRanges.isLess(left.upper, right.upper)
      let lower = ValueRanges.isLess(left.lower, right.lower) ? right.lower : left.lower
      let upper = endsFirst ? left.upper : right.upper
      if ValueRanges.isLess(lower, upper) {
        found.append(
          Range(
            lower: lower, upper: upper, isExact: left.isExact && right.isExact,
            isPoint: left.isPoint || right.isPoint))
      }
      // Both are in order, so the stretch that ends first meets none of the later ones.
      if endsFirst { place += 1 } else { otherPlace += 1 }
    }
    return ValueRanges(found)
  }

  /// Everything that is in one of them.
  func union(_ other: ValueRanges) -> ValueRanges {
    if other.ranges.isEmpty,
      zip(ranges, ranges.dropFirst()).allSatisfy({ !ValueRanges.isLess($1.lower, $0.upper) })
    {
      return self
    }
    var merged: [Range] = []
    let all = (ranges + other.ranges).sorted {
      $0.lower == $1.lower
        ? ValueRanges.isLess($0.upper, $1.upper) : ValueRanges.isLess($0.lower, $1.lower)
    }
    for range in all {
      guard let last = merged.last, ValueRanges.isLess(range.lower, last.upper) else {
        merged.append(range)
        continue
      }
      if last.lower == range.lower && last.upper == range.upper {
        merged[merged.count - 1].isExact = last.isExact || range.isExact
      } else {
        merged[merged.count - 1].isExact = last.isExact && range.isExact
        merged[merged.count - 1].isPoint = false
        if ValueRanges.isLess(last.upper, range.upper) { merged[merged.count - 1].upper = range.upper }
      }
    }
    return ValueRanges(merged)
  }

  /// All but what surely satisfies the condition.
  ///
  /// - Parameter isSure: whether what stands nowhere here surely does not satisfy it, so that no record need be asked.
  func complement(isSure: Bool) -> ValueRanges {
    var found: [Range] = []
    var lower: [UInt8] = [OrderedBytes.Kind.null]
    for range in ranges {
      if ValueRanges.isLess(lower, range.lower) {
        found.append(Range(lower: lower, upper: range.lower, isExact: isSure))
      }
      if !range.isExact { found.append(range) }
      lower = range.upper
    }
    if ValueRanges.isLess(lower, ValueRanges.end) {
      found.append(Range(lower: lower, upper: ValueRanges.end, isExact: isSure))
    }
    return ValueRanges(found)
  }

  /// Whether it ends behind all values, as what is left of them by a few does.
  var isToTheEnd: Bool { ranges.last.map { $0.upper == ValueRanges.end } ?? false }

  /// The same stretches, with every record to be asked.
  var inexact: ValueRanges {
    ValueRanges(
      ranges.map { Range(lower: $0.lower, upper: $0.upper, isExact: false, isPoint: $0.isPoint) })
  }

  static func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}

// MARK: - For a comparison

extension ValueRanges {
  /// The ranges of the values for which a test is true, or may be; nil if they may be anywhere.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of values that the field of the index may have.
  ///   - field: the place of the field in the index.
  init?(
    _ test: FieldTest, absentIsNull: Bool, _ component: IndexedFields.Component, isEach: Bool,
    _ kinds: IndexedFields.Kinds, _ field: Int
  ) {
    // Only an index of elements serves tests of elements, and only one that ignores case serves tests that do.
    if case .containsElement = test { if !isEach { return nil } } else if isEach { return nil }
    if case .equalsIgnoringCase = test {
      if !component.ignoresCase { return nil }
    } else if component.ignoresCase {
      return nil
    }
    var ranges: ValueRanges
    let kind: UInt8
    switch test {
    case .equals(let constant), .containsElement(let constant):
      (ranges, kind) = (
        ValueRanges.equal(to: constant.value, absentIsNull && !isEach), ValueRanges.kind(constant.value)
      )
    case .isNull:
      (ranges, kind) = (ValueRanges.equal(to: .null, absentIsNull && !isEach), OrderedBytes.Kind.null)
    case .isLess(let constant, let orEqual):
      (ranges, kind) = (ValueRanges.less(than: constant.value, orEqual), ValueRanges.kind(constant.value))
    case .isGreater(let constant, let orEqual):
      (ranges, kind) = (ValueRanges.greater(than: constant.value, orEqual), ValueRanges.kind(constant.value))
    case .isOneOf(let constants):
      let kindsOfConstants = Set(constants.map { ValueRanges.kind($0.value) }).subtracting([
        OrderedBytes.Kind.null
      ])
      if kindsOfConstants.count > 1 { return nil }
      kind = kindsOfConstants.first ?? OrderedBytes.Kind.null
      ranges = ValueRanges(
        constants.flatMap { ValueRanges.equal(to: $0.value, absentIsNull).ranges }.sorted {
          ValueRanges.isLess($0.lower, $1.lower)
        }
      ).union(.none)
    case .hasPrefix(let text): (ranges, kind) = (ValueRanges.beginning(with: text), OrderedBytes.Kind.text)
    case .equalsIgnoringCase(let text):
      ranges = ValueRanges.equal(to: .text(text), false)
      kind = OrderedBytes.Kind.text
    case .isThere, .text: return nil
    }
    if case .isNull = test, kinds.has(OrderedBytes.Kind.reference, in: field) {
      // A reference to an object that is not there is nil, too.
      let references = ValueRanges.beginning(with: [OrderedBytes.Kind.reference], isExact: false)
      ranges = ranges.union(ValueRanges([references]))
    }
    self = ranges.union(ValueRanges.undecided(kind, absentIsNull: absentIsNull && !isEach, kinds, field))
  }

  /// The ranges of values that cannot be compared with one of a kind by their bytes.
  private static func undecided(
    _ kind: UInt8, absentIsNull: Bool, _ kinds: IndexedFields.Kinds, _ field: Int
  ) -> ValueRanges {
    var ranges: [Range] = []
    if kinds.hasAbsent(in: field) && !absentIsNull {
      ranges.append(beginning(with: [OrderedBytes.Kind.null], isExact: false))
    }
    // Only nil is equal to nil, whatever the kind is.
    let first = kind == OrderedBytes.Kind.null ? OrderedBytes.Kind.other : OrderedBytes.Kind.false
    for other in first...OrderedBytes.Kind.other where kinds.has(other, in: field) && !isSame(other, kind) {
      ranges.append(beginning(with: [other], isExact: false))
    }
    return ValueRanges(ranges)
  }

  private static func isSame(_ left: UInt8, _ right: UInt8) -> Bool {
    left == right || isBool(left) && isBool(right)
  }

  private static func isBool(_ kind: UInt8) -> Bool {
    kind == OrderedBytes.Kind.false || kind == OrderedBytes.Kind.true
  }

  static func bytes(_ value: FieldValue) -> [UInt8] {
    var bytes = OrderedBytes()
    bytes.append(value)
    return bytes.bytes
  }

  static func kind(_ value: FieldValue) -> UInt8 { OrderedBytes.kind(of: value) }

  private static func equal(to value: FieldValue, _ absentIsNull: Bool) -> ValueRanges {
    if value.isNaN { return .none }
    let isDecimalNaN = if case .number(let number) = value { number.isNaN } else { false }
    let isExact = value == .null ? absentIsNull : !isDecimalNaN
    return ValueRanges([beginning(with: bytes(value), isExact: isExact, isPoint: true)])
  }

  /// Where text stands that begins with another one, or may.
  private static func beginning(with text: String) -> ValueRanges {
    // Without its end.
    let bytes = Array(ValueRanges.bytes(.text(text)).dropLast())
    let isPrintable = !text.isEmpty && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    // Characters may be made of several scalars: what follows may belong to the last one, so the record is asked.
    if !isPrintable { return ValueRanges([beginning(with: bytes, isExact: false)]) }
    // Not what is ASCII, too, or the end of the text. The first line break of two that are one character is not printable.
    let other = bytes + [0x80]
    return ValueRanges([
      Range(lower: bytes, upper: other, isExact: true),
      Range(lower: other, upper: behind(bytes), isExact: false),
    ])
  }

  /// What comes before all numbers and dates: NaN.
  private static func nan(_ kind: UInt8) -> [UInt8] {
    let bytes = [kind] + [UInt8](repeating: 0, count: 8)
    return kind == OrderedBytes.Kind.number ? bytes + [0] : bytes
  }

  private static func less(than value: FieldValue, _ orEqual: Bool) -> ValueRanges {
    if value.isNaN { return .none }
    let bytes = bytes(value)
    let upper = orEqual ? behind(bytes) : bytes
    switch bytes[0] {
    case OrderedBytes.Kind.number:
      // A decimal that is NaN is less than all others; a double that is NaN is not.
      let nan = beginning(with: nan(OrderedBytes.Kind.number), isExact: false)
      let rest = Range(lower: nan.upper, upper: upper, isExact: true)
      return ValueRanges([nan, rest].filter { isLess($0.lower, upper) })
    case OrderedBytes.Kind.date:
      return ValueRanges([Range(lower: behind(nan(OrderedBytes.Kind.date)), upper: upper, isExact: true)])
    default: return ValueRanges([Range(lower: [bytes[0]], upper: upper, isExact: true)])
    }
  }

  private static func greater(than value: FieldValue, _ orEqual: Bool) -> ValueRanges {
    if value.isNaN { return .none }
    let bytes = bytes(value)
    let isNumber = if case .number(let number) = value { !number.isNaN } else { true }
    return ValueRanges([
      Range(lower: orEqual ? bytes : behind(bytes), upper: [bytes[0] + 1], isExact: isNumber)
    ])
  }
}

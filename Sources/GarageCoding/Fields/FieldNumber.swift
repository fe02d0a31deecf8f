#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A number of any type, compared exactly with those of all others: 2⁶³ is more than the `Double` before it, and
/// `0.1` as a decimal is less than as a `Double`. NaN is equal to itself and less than all others; -0.0 is 0.0.
package enum FieldNumber: Sendable {
  case integer(Int64)
  case double(Double)
  /// An integer that `Int64` does not hold.
  case wide(WideInteger)
  case decimal(Decimal)

  /// An integer of up to 128 bits with its sign apart. (An enum with 16-byte alignment is miscompiled by Swift 6.3 on
  /// Linux, so the halves stand for themselves.)
  package struct WideInteger: Hashable, Sendable {
    package var isNegative: Bool
    var high: UInt64
    var low: UInt64

    init(isNegative: Bool, magnitude: UInt128) {
      self.isNegative = isNegative
      high = UInt64(truncatingIfNeeded: magnitude >> 64)
      low = UInt64(truncatingIfNeeded: magnitude)
    }

    package var magnitude: UInt128 { UInt128(high) << 64 | UInt128(low) }
  }

  init(_ value: Int128) {
    if let narrow = Int64(exactly: value) {
      self = .integer(narrow)
    } else {
      self = .wide(WideInteger(isNegative: value < 0, magnitude: value.magnitude))
    }
  }

  init(_ value: UInt128) {
    if let narrow = Int64(exactly: value) {
      self = .integer(narrow)
    } else {
      self = .wide(WideInteger(isNegative: false, magnitude: value))
    }
  }

  package var isNaN: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    case .integer, .wide: false
    }
  }

  /// The nearest `Double`.
  package var approximation: Double {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .wide(let value): value.isNegative ? -Double(value.magnitude) : Double(value.magnitude)
    case .decimal(let value): value.isNaN ? .nan : Double("\(value)") ?? .nan
    }
  }
}

// MARK: - For bytes that sort as numbers do

extension FieldNumber {
  /// The greatest `Double` that is not more than the number.
  var floor: Double {
    let near = approximation
    if near.isNaN { return .nan }
    return self < .double(near) ? near.nextDown : near
  }

  /// The decimal digits, the first other than 0 and the last, too, and how many of them stand before the point.
  var decimalDigits: (isNegative: Bool, digits: [UInt8], pointPlace: Int) {
    let exact = ExactDecimal(self)
    return (exact.isNegative, exact.digits, exact.pointPlace)
  }
}

// MARK: - Order

extension FieldNumber: Comparable, Hashable {
  package static func == (left: FieldNumber, right: FieldNumber) -> Bool { order(left, right) == 0 }

  package static func < (left: FieldNumber, right: FieldNumber) -> Bool { order(left, right) < 0 }

  /// Equal numbers have equal approximations.
  package func hash(into hasher: inout Hasher) {
    let value = approximation
    hasher.combine(value.isNaN ? .nan : value == 0 ? 0 : value)
  }

  /// Less than 0 where the left number is less, more where it is more.
  private static func order(_ left: FieldNumber, _ right: FieldNumber) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.double(let left), .double(let right)) where !left.isNaN && !right.isNaN:
      return left < right ? -1 : left > right ? 1 : 0
    default: break
    }
    if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : -1) : 1 }
    if case .decimal = left { return decimalOrder(left, right) }
    if case .decimal = right { return decimalOrder(left, right) }
    return wholeOrder(left, right)
  }

  /// The order of integers and doubles, none of them NaN: by sign and whole part, and then by what a double has behind the
  /// point.
  private static func wholeOrder(_ left: FieldNumber, _ right: FieldNumber) -> Int {
    let (left, right) = (Parts(left), Parts(right))
    if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
    let sign = left.isNegative ? -1 : 1
    if left.isInfinite || right.isInfinite {
      return left.isInfinite == right.isInfinite ? 0 : left.isInfinite ? sign : -sign
    }
    if left.whole != right.whole { return left.whole < right.whole ? -sign : sign }
    if left.fraction == right.fraction { return 0 }
    return left.fraction < right.fraction ? -sign : sign
  }

  /// The parts of a number. Doubles beyond 128 bits are treated as infinite, because no integer is as large; two of them are
  /// compared as doubles.
  private struct Parts {
    var isNegative = false
    var isInfinite = false
    var whole: UInt128 = 0
    var fraction = 0.0

    init(_ number: FieldNumber) {
      switch number {
      case .integer(let value): (isNegative, whole) = (value < 0, UInt128(value.magnitude))
      case .wide(let value): (isNegative, whole) = (value.isNegative, value.magnitude)
      case .double(let value):
        isNegative = value < 0
        let magnitude = value.magnitude
        if magnitude >= 0x1p128 {
          isInfinite = true
        } else {
          whole = UInt128(magnitude)
          fraction = magnitude - magnitude.rounded(.down)
        }
      case .decimal: break
      }
    }
  }

  // MARK: Decimals

  /// The order of two numbers one of which is a decimal: by their digits, of which every double has finitely many.
  private static func decimalOrder(_ left: FieldNumber, _ right: FieldNumber) -> Int {
    if case .decimal(let left) = left, case .decimal(let right) = right {
      return left < right ? -1 : left > right ? 1 : 0
    }
    // If they are far apart, as they mostly are, their approximations decide.
    let (nearLeft, nearRight) = (left.approximation, right.approximation)
    if nearLeft.isInfinite || nearRight.isInfinite {
      return nearLeft < nearRight ? -1 : nearLeft > nearRight ? 1 : 0
    }
    if nearLeft.nextUp < nearRight { return -1 }
    if nearRight.nextUp < nearLeft { return 1 }
    let (exactLeft, exactRight) = (ExactDecimal(left), ExactDecimal(right))
    return exactLeft.order(exactRight)
  }
}

/// A number as its decimal digits, of which there may be any count.
private struct ExactDecimal {
  var isNegative = false
  /// The digits, the first other than 0; none of zero.
  var digits: [UInt8] = []
  /// How many of them stand before the point; may be negative.
  var pointPlace = 0

  init(_ number: FieldNumber) {
    switch number {
    case .integer(let value): self.init(text: "\(value)")
    case .wide(let value): self.init(text: (value.isNegative ? "-" : "") + "\(value.magnitude)")
    case .decimal(let value): self.init(text: "\(value)")
    case .double(let value): self.init(value)
    }
  }

  private init(text: String) {
    var sawPoint = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "."): sawPoint = true
      default:
        digits.append(byte - UInt8(ascii: "0"))
        if !sawPoint { pointPlace += 1 }
      }
    }
    normalize()
  }

  /// Significand · 2^exponent: the significand's digits, doubled or halved as often as it takes.
  private init(_ value: Double) {
    isNegative = value < 0
    if value == 0 { return }
    var exponent = Int(value.exponent) - Double.significandBitCount
    let significand = value.isNormal ? value.significandBitPattern | 1 << 52 : value.significandBitPattern
    if !value.isNormal { exponent = -1074 }
    digits = "\(significand)".utf8.map { $0 - UInt8(ascii: "0") }
    pointPlace = digits.count
    while exponent > 0 {
      double()
      exponent -= 1
    }
    while exponent < 0 {
      halve()
      exponent += 1
    }
    normalize()
  }

  private mutating func double() {
    var carry: UInt8 = 0
    for index in digits.indices.reversed() {
      let doubled = digits[index] * 2 + carry
      digits[index] = doubled % 10
      carry = doubled / 10
    }
    if carry > 0 {
      digits.insert(carry, at: 0)
      pointPlace += 1
    }
  }

  private mutating func halve() {
    var rest: UInt8 = 0
    for index in digits.indices {
      let value = rest * 10 + digits[index]
      digits[index] = value / 2
      rest = value % 2
    }
    if rest > 0 { digits.append(5) }
  }

  private mutating func normalize() {
    let zeros = digits.prefix { $0 == 0 }.count
    digits.removeFirst(zeros)
    pointPlace -= zeros
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty { (pointPlace, isNegative) = (0, false) }
  }

  func order(_ other: ExactDecimal) -> Int {
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let sign = isNegative ? -1 : 1
    if digits.isEmpty || other.digits.isEmpty {
      return digits.isEmpty == other.digits.isEmpty ? 0 : digits.isEmpty ? -sign : sign
    }
    if pointPlace != other.pointPlace { return pointPlace < other.pointPlace ? -sign : sign }
    if digits == other.digits { return 0 }
    return digits.lexicographicallyPrecedes(other.digits) ? -sign : sign
  }
}

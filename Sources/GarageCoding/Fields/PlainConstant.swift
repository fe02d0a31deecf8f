/// A constant of a kind whose values are compared as they stand in records. Plain bits, to be read for each record without
/// counting references.
struct PlainConstant: Sendable, BitwiseCopyable {
  private enum Kind: BitwiseCopyable { case integer, double, date, bool, uuid, decimal }

  private let kind: Kind
  /// An integer, whether a bool is true, the digits of a decimal, the first half of a UUID.
  private let low: Int64
  /// The places of a decimal behind the point, the other half of a UUID.
  private let high: Int64
  private let double: Double

  private init(_ kind: Kind, low: Int64 = 0, high: Int64 = 0, double: Double = 0) {
    (self.kind, self.low, self.high, self.double) = (kind, low, high, double)
  }

  /// Nil for text, for values without an order of their own, and for numbers that take more than 64 bits.
  init?(_ value: FieldValue) {
    switch value {
    case .number(.integer(let integer)): self.init(.integer, low: integer)
    case .number(.double(let double)): self.init(.double, double: double)
    case .date(let seconds): self.init(.date, double: seconds)
    case .bool(let bool): self.init(.bool, low: bool ? 1 : 0)
    case .uuid(let bytes):
      let halves = bytes.withUnsafeBytes { PlainConstant.halves(UnsafeRawBufferPointer($0)) }
      guard let halves else { return nil }
      self.init(.uuid, low: halves.first, high: halves.last)
    case .number(.decimal(let number)):
      let text = Array(DecimalText.text(of: number).utf8)
      guard let decimal = text.withUnsafeBytes({ ShortDecimal($0) }) else { return nil }
      self.init(.decimal, low: decimal.digits, high: Int64(decimal.placeCount))
    case .null, .number(.wide), .text, .data, .reference: return nil
    }
  }

  /// The answer of a comparison.
  enum Order {
    case less, equal, more
    /// One is NaN: nothing is true of them.
    case none
    /// It takes more than a look at the bits.
    case unknown
  }

  /// How the value that stands at a place compares with this one.
  @inline(__always)
  func order(of place: FieldPlace) -> Order {
    switch kind {
    case .integer: return place.narrowInteger.map { PlainConstant.order($0, low) } ?? .unknown
    case .double:
      if place.tag == BodyTag.double { return PlainConstant.order(place.double, double) }
      return place.tag == BodyTag.float ? PlainConstant.order(Double(place.float), double) : .unknown
    case .date: return place.tag == BodyTag.date ? PlainConstant.order(place.double, double) : .unknown
    case .bool:
      guard place.tag == BodyTag.true || place.tag == BodyTag.false else { return .unknown }
      return PlainConstant.order(place.tag == BodyTag.true ? 1 : 0, low)
    case .uuid:
      guard place.tag == BodyTag.uuid, let found = PlainConstant.halves(place.payload) else {
        return .unknown
      }
      return found.first == low
        ? PlainConstant.order(UInt64(bitPattern: found.last), UInt64(bitPattern: high))
        : PlainConstant.order(UInt64(bitPattern: found.first), UInt64(bitPattern: low))
    case .decimal:
      guard place.tag == BodyTag.decimal, let found = ShortDecimal(place.decimalText) else { return .unknown }
      return PlainConstant.order(found.order(ShortDecimal(digits: low, placeCount: Int(high))), 0)
    }
  }

  @inline(__always)
  private static func order<T: Comparable>(_ left: T, _ right: T) -> Order {
    left < right ? .less : left == right ? .equal : left > right ? .more : .none
  }

  /// The halves of a UUID, which sort as its bytes do where they are taken for unsigned.
  @inline(__always)
  private static func halves(_ bytes: UnsafeRawBufferPointer) -> (first: Int64, last: Int64)? {
    guard bytes.count == 16 else { return nil }
    return (
      Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)),
      Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
    )
  }
}

/// A decimal number of up to 18 digits, as prices are: digits without a point, and how many of them stand behind it.
struct ShortDecimal {
  let digits: Int64
  let placeCount: Int

  private static let maximumCount = 18

  init(digits: Int64, placeCount: Int) { (self.digits, self.placeCount) = (digits, placeCount) }

  /// Nil for text of any other form.
  @inline(__always)
  init?(_ text: UnsafeRawBufferPointer) {
    var (digits, count, pointPlace) = (0 as Int64, 0, -1)
    let isNegative = text.first == UInt8(ascii: "-")
    for place in (isNegative ? 1 : 0)..<text.count {
      let byte = text[place]
      let digit = byte &- UInt8(ascii: "0")
      if digit < 10 {
        digits = digits &* 10 &+ Int64(digit)
        count &+= 1
        if count > Self.maximumCount { return nil }
      } else if byte == UInt8(ascii: "."), pointPlace < 0 {
        pointPlace = count
      } else {
        return nil
      }
    }
    if count == 0 { return nil }
    self.init(digits: isNegative ? -digits : digits, placeCount: pointPlace < 0 ? 0 : count - pointPlace)
  }

  /// Less than 0 where this is less than another, more where it is more.
  func order(_ other: ShortDecimal) -> Int {
    let places = max(placeCount, other.placeCount)
    let (left, right) = (scaled(to: places), other.scaled(to: places))
    return left < right ? -1 : left == right ? 0 : 1
  }

  /// The digits with so many of them behind the point: at most twice as many as there are.
  private func scaled(to places: Int) -> Int128 {
    var scaled = Int128(digits)
    for _ in placeCount..<places { scaled &*= 10 }
    return scaled
  }
}

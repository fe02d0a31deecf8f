/// Strings of at most 15 ASCII characters, which stand in the string's own sixteen bytes without further memory. They are read
/// and made there, without a branch on their length, which a processor could not predict.
///
/// Swift keeps such a string as its text, then zeros, and in the last byte 0xE0 plus the length (`StringObject.swift` of the
/// standard library). That is part of the stable ABI of Apple's systems, and not guaranteed on others. So it is checked once.
/// If the check fails, all strings are handled in the usual way.
struct ShortStrings {
  static let maximumByteCount = 15
  /// How many bytes are read or written for each.
  static let room = 16
  private static let discriminator: UInt64 = 0xE0 << 56
  private static let mask: UInt64 = 0xF0 << 56

  /// Whether the strings of this program have that form. Stored beside its use, because looking up a global takes a call.
  let areKnown = ShortStrings.areAsExpected

  private static let areAsExpected: Bool = {
    guard MemoryLayout<String>.size == 16, UInt64(1).littleEndian == 1 else { return false }
    func bits(_ text: [UInt8]) -> UInt128 {
      Reinterpretation.bits(of: String(decoding: text, as: UTF8.self), as: Halves.self).wide
    }
    let isAsExpected = (0...maximumByteCount).allSatisfy { count in
      let text = (0..<count).map { UInt8(0x61 + $0) }
      let expected = text.reversed().reduce(0) { $0 << 8 | UInt128($1) }
      return bits(text) == expected | UInt128(discriminator) << 64 | UInt128(count) << 120
    }
    // A longer string, or one that is not ASCII, must not look like a short one.
    let others = [[UInt8](repeating: 0x61, count: 16), Array("é".utf8), [UInt8](repeating: 0x61, count: 300)]
    return isAsExpected && others.allSatisfy { UInt64(bits($0) >> 64) & mask != discriminator }
  }()

  /// A string's sixteen bytes.
  struct Halves {
    var low: UInt64
    var high: UInt64

    @inline(__always)
    init(_ wide: UInt128) {
      low = UInt64(truncatingIfNeeded: wide)
      high = UInt64(truncatingIfNeeded: wide &>> 64)
    }

    var wide: UInt128 { UInt128(high) << 64 | UInt128(low) }
  }

  /// The string of the `count` bytes before `end`, where `count` is 1 to 15; nil if they are not all ASCII.
  ///
  /// - Parameter end: the end of at least 16 readable bytes. All 16 are read, and those before the text are shifted out.
  @inline(__always)
  func string(_ count: Int, before end: UnsafeRawPointer) -> String? {
    let text =
      (end - ShortStrings.room).loadUnaligned(as: UInt128.self)
      &>> UInt128(truncatingIfNeeded: 128 &- count &* 8)
    if text & 0x8080_8080_8080_8080_8080_8080_8080_8080 != 0 { return nil }
    var halves = Halves(text)
    halves.high |= ShortStrings.discriminator | UInt64(truncatingIfNeeded: count) &<< 56
    return Reinterpretation.bits(of: halves, as: String.self)
  }

  /// The bytes of a string, and how many of them are text; -1 if it is no short ASCII string.
  @inline(__always)
  func bytes(of string: String) -> (halves: Halves, count: Int) {
    guard areKnown else { return (Halves(0), -1) }
    let halves = Reinterpretation.bits(of: string, as: Halves.self)
    guard halves.high & ShortStrings.mask == ShortStrings.discriminator else { return (halves, -1) }
    return (halves, Int(truncatingIfNeeded: halves.high &>> 56) & 0x0F)
  }
}

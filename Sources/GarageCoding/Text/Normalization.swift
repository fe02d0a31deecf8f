/// The composed form (Unicode normalization form C, UAX #15) of a string. Strings that are equal in Swift have the same
/// composed form, and its UTF-8 bytes sort as Swift's `<` does.
///
/// It is made here and not by Foundation, because it is part of the stored format and must be the same on every platform.
/// (Foundation on Linux also composes U+10041 with U+0323 to "Ạ", which would give two strings one identifier.) Swift 6.3
/// itself has an error: it does not reorder U+0F73, U+0F75 and U+0F81 after a mark of another script. This code follows the
/// Unicode Standard.
func composed(_ string: String) -> String {
  let isSure = string.utf8.withContiguousStorageIfAvailable { isSurelyComposed(UnsafeRawBufferPointer($0)) }
  if isSure == true || Normalization.isComposed(string) { return string }
  return Normalization.compose(Normalization.decompose(string))
}

/// Whether the bytes of UTF-8 text alone tell that it is composed. That is so if it has no scalar from U+0300 on, where
/// combining marks begin and first bytes are 0xCC and above. Some blocks beyond are allowed, because they have no combining
/// marks and their scalars compose with none.
@inline(__always)
func isSurelyComposed(_ utf8: UnsafeRawBufferPointer) -> Bool {
  guard let base = utf8.baseAddress else { return true }
  let count = utf8.count
  var offset = 0
  while offset + 8 <= count {
    let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if word & 0x8080_8080_8080_8080 != 0 { break }
    offset += 8
  }
  while offset < count {
    switch base.load(fromByteOffset: offset, as: UInt8.self) {
    // Latin; Cyrillic up to U+047F; ideographs from U+5000 to U+9FFF; Hangul syllables from U+B000 to U+CFFF.
    case 0...0xCB, 0xD0...0xD1, 0xE5...0xE9, 0xEB...0xEC: break
    default: return false
    }
    offset += 1
  }
  return true
}

/// The algorithms of the Unicode Standard, sections 3.11 and 3.12.
enum Normalization {
  private struct Tables {
    /// The two parts of a scalar that is composed again from them.
    var parts: [UInt32: (UInt32, UInt32)] = [:]
    /// The full decomposition of a scalar that never occurs in composed text.
    var excluded: [UInt32: [UInt32]] = [:]
    /// The composite of two scalars. The first stands in the upper half of the key, the second in the lower half.
    var composites: [UInt64: UInt32] = [:]
    /// The scalars that may compose with one before them.
    var seconds: Set<UInt32> = []

    init() {
      for entry in Tables.entries(CanonicalDecompositions.composites) {
        parts[entry[0]] = (entry[1], entry[2])
        composites[UInt64(entry[1]) << 32 | UInt64(entry[2])] = entry[0]
        seconds.insert(entry[2])
      }
      for entry in Tables.entries(CanonicalDecompositions.excluded) {
        excluded[entry[0]] = Array(entry[1...])
      }
    }

    private static func entries(_ text: String) -> [[UInt32]] {
      text.utf8.split(separator: UInt8(ascii: ",")).map { entry in
        entry.split(separator: UInt8(ascii: " ")).map { number in
          number.reduce(0) { $0 << 4 | UInt32($1 < 0x3A ? $1 - 0x30 : $1 - 0x37) }
        }
      }
    }
  }
  private static let tables = Tables()

  /// Hangul syllables, which are computed (section 3.12).
  private enum Hangul {
    static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3
    static let leading: ClosedRange<UInt32> = 0x1100...0x1112
    static let vowels: ClosedRange<UInt32> = 0x1161...0x1175
    static let trailing: ClosedRange<UInt32> = 0x11A8...0x11C2
  }

  /// Whether a string is surely composed: no scalar has another form or composes with those before it, whatever these are,
  /// and marks are in order (the quick check of UAX #15). So text in scripts with marks, such as Hindi or Thai, need not be
  /// taken apart.
  static func isComposed(_ string: String) -> Bool {
    var last: UInt8 = 0
    return string.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      // Latin, Cyrillic, ideographs, Hangul syllables, emoji: these need not be looked up.
      case 0...0x2FF, 0x400...0x482, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0x1F000...0x1FAFF:
        last = 0
        return true
      case Hangul.vowels, Hangul.trailing: return false
      case let value:
        if tables.excluded[value] != nil || tables.seconds.contains(value) { return false }
        let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
        defer { last = combiningClass }
        return combiningClass == 0 || combiningClass >= last
      }
    }
  }

  /// A decomposed scalar and its combining class: 0 for a starter.
  typealias Decomposed = (value: UInt32, combiningClass: UInt8)

  /// The canonical decomposition, in canonical order.
  static func decompose(_ string: String) -> [Decomposed] {
    var result: [Decomposed] = []
    result.reserveCapacity(string.utf8.count)
    for scalar in string.unicodeScalars { decompose(scalar.value, into: &result) }
    // Sorts the marks after each starter by class, stably.
    var start = 0
    while start < result.count {
      guard result[start].combiningClass != 0 else { start += 1; continue }
      let end = result[start...].firstIndex { $0.combiningClass == 0 } ?? result.count
      if end - start > 1 {
        let sorted = result[start..<end].enumerated().sorted {
          ($0.element.combiningClass, $0.offset) < ($1.element.combiningClass, $1.offset)
        }
        result.replaceSubrange(start..<end, with: sorted.map(\.element))
      }
      start = end
    }
    return result
  }

  private static func decompose(_ value: UInt32, into result: inout [Decomposed]) {
    if value < 0xC0 {
      // ASCII and signs: a starter without parts.
      result.append((value, 0))
    } else if let (first, second) = tables.parts[value] {
      decompose(first, into: &result)  // the tables nest four deep at most
      append(second, to: &result)
    } else if let whole = tables.excluded[value] {
      for part in whole { append(part, to: &result) }
    } else if Hangul.syllables.contains(value) {
      let index = value - Hangul.syllables.lowerBound
      append(Hangul.leading.lowerBound + index / 588, to: &result)
      append(Hangul.vowels.lowerBound + index % 588 / 28, to: &result)
      if index % 28 > 0 { append(Hangul.trailing.lowerBound + index % 28 - 1, to: &result) }
    } else {
      append(value, to: &result)
    }
  }

  private static func append(_ value: UInt32, to result: inout [Decomposed]) {
    // Every value comes from a string or from a table of scalars.
    let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
    result.append((value, scalar.properties.canonicalCombiningClass.rawValue))
  }

  /// Composes each starter with the scalars behind it that are not blocked. A mark is blocked if a scalar of its class or a
  /// higher one stands in between.
  static func compose(_ decomposed: [Decomposed]) -> String {
    var result: [UInt32] = []
    result.reserveCapacity(decomposed.count)
    var starter: Int?
    var lastClass = -1  // of the scalar behind the starter; -1: none
    for (value, combiningClass) in decomposed {
      if let starter, lastClass < Int(combiningClass), let whole = composite(result[starter], value) {
        result[starter] = whole
        continue
      }
      if combiningClass == 0 {
        starter = result.count
        lastClass = -1
      } else {
        lastClass = Int(combiningClass)
      }
      result.append(value)
    }
    // Not by appending to a view of scalars, which takes most of a microsecond for each.
    var utf8: [UInt8] = []
    utf8.reserveCapacity(3 * result.count)
    for scalar in result.lazy.compactMap(Unicode.Scalar.init) {
      if let units = UTF8.encode(scalar) { for unit in units { utf8.append(unit) } }
    }
    return String(decoding: utf8, as: UTF8.self)
  }

  private static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
    // Nothing below the combining marks is a second part.
    if second < 0x300 { return nil }
    if Hangul.leading.contains(first), Hangul.vowels.contains(second) {
      let (l, v) = (first - Hangul.leading.lowerBound, second - Hangul.vowels.lowerBound)
      return Hangul.syllables.lowerBound + (l * 21 + v) * 28
    }
    if Hangul.syllables.contains(first), Hangul.trailing.contains(second) {
      guard (first - Hangul.syllables.lowerBound) % 28 == 0 else { return nil }
      return first + second - Hangul.trailing.lowerBound + 1
    }
    return tables.composites[UInt64(first) << 32 | UInt64(second)]
  }
}

// MARK: - Text that is equal

// Keys of maps are compared by bytes where there are many, and by this where they are not found so.

/// Whether other UTF-8 may be the same text. Of ASCII it may where a letter or sign has a second scalar, as K has the sign of
/// the unit kelvin.
func mayBeComposedOtherwise(_ utf8: UnsafeRawBufferPointer) -> Bool {
  utf8.contains { byte in
    switch byte {
    case 0x80...0xFF, UInt8(ascii: "K"), UInt8(ascii: ";"), UInt8(ascii: "`"): true
    default: false
    }
  }
}

/// Whether UTF-8 text is its own composed form.
func isComposed(_ utf8: UnsafeRawBufferPointer) -> Bool {
  if isSurelyComposed(utf8) { return true }
  var form = composed(String(decoding: utf8, as: UTF8.self))
  return form.withUTF8 { compareBytes(UnsafeRawBufferPointer($0), utf8) == 0 }
}

/// Whether two pieces of UTF-8 are equal as Swift compares text.
func isSameText(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  if left.count == right.count, compareBytes(left, right) == 0 { return true }
  guard mayBeComposedOtherwise(left), mayBeComposedOtherwise(right) else { return false }
  return String(decoding: left, as: UTF8.self) == String(decoding: right, as: UTF8.self)
}

// MARK: - Text in keys

/// Copies the UTF-8 of a string in normalization form C, the form of text in keys, to the beginning of `room`, as far as it
/// fits. Returns the length of all of it, in bytes.
package func copyComposedUTF8(_ string: String, to room: UnsafeMutableRawBufferPointer) -> Int {
  let count = string.utf8.withContiguousStorageIfAvailable { utf8 in
    let utf8 = UnsafeRawBufferPointer(utf8)
    return isSurelyComposed(utf8) ? copy(utf8, to: room) : -1
  }
  if let count, count >= 0 { return count }
  var string = composed(string)
  return string.withUTF8 { copy(UnsafeRawBufferPointer($0), to: room) }
}

private func copy(_ utf8: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) -> Int {
  if let source = utf8.baseAddress, let target = room.baseAddress {
    target.copyMemory(from: source, byteCount: min(utf8.count, room.count))
  }
  return utf8.count
}

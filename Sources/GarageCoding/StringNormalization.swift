import Foundation

/// The composed form (Unicode normalization form C, UAX #15) of a string. Strings that Swift calls equal
/// have the same one, and its UTF-8 bytes sort as Swift's `<` does.
func composed(_ string: String) -> String {
  isComposed(string) ? string : string.precomposedStringWithCanonicalMapping
}

/// Whether all scalars are below U+0300, where the first combining mark stands: such text is its own
/// composed form, with no need to look it up. `false` says nothing.
private func isComposed(_ string: String) -> Bool {
  var string = string
  return string.withUTF8 { isBelowCombiningMarks(UnsafeRawBufferPointer($0)) }
}

/// Whether UTF-8 text holds no scalar from U+0300 on: their first bytes are 0xCC and above.
@inline(__always)
func isBelowCombiningMarks(_ utf8: UnsafeRawBufferPointer) -> Bool {
  guard let base = utf8.baseAddress else { return true }
  let count = utf8.count
  var offset = 0
  while offset + 8 <= count {
    let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if word & 0x8080_8080_8080_8080 != 0 { break }
    offset += 8
  }
  while offset < count {
    if base.load(fromByteOffset: offset, as: UInt8.self) >= 0xCC { return false }
    offset += 1
  }
  return true
}

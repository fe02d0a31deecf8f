internal import Synchronization

/// The ordered keys of a map, stored once and named by a digest of its text, so that a record's bytes depend
/// on no store, order or process.
///
/// Shapes are immutable and live as long as the process: coders hold them without counting references.
final class Shape: @unchecked Sendable {
  // @unchecked: everything is set in init and never again.
  let keys: [String]
  /// The keys as they are stored: for each its length as a varint and its UTF-8.
  let text: [UInt8]
  let digest: UInt64
  /// The last position of each key: a key that was encoded twice has its last value.
  let positions: [String: Int]
  /// Of keys that stand more than once, a subclass's and its superclass's, the other positions, the later first.
  let earlierPositions: [String: [Int]]

  fileprivate init(keys: [String], text: [UInt8], digest: UInt64) {
    self.keys = keys
    self.text = text
    self.digest = digest
    var positions: [String: Int] = [:]
    var earlier: [String: [Int]] = [:]
    for (position, key) in keys.enumerated() {
      if let before = positions.updateValue(position, forKey: key) {
        earlier[key, default: []].insert(before, at: 0)
      }
    }
    self.positions = positions
    earlierPositions = earlier
  }
}

/// Every shape this process has met.
enum ShapeRegistry {
  private struct Contents {
    var byDigest: [UInt64: Unmanaged<Shape>] = [:]
  }
  private static let contents = Mutex<Contents>(Contents())

  /// The shape with these keys.
  static func shape(keys: [String]) throws -> Unmanaged<Shape> {
    var text: [UInt8] = []
    for key in keys {
      appendVarint(UInt64(key.utf8.count), to: &text)
      text.append(contentsOf: key.utf8)
    }
    return try shape(keys: keys, text: text)
  }

  /// The shape that a store keeps under `digest`; nil where the text is damaged.
  static func shape(text: [UInt8], digest: UInt64) throws -> Unmanaged<Shape>? {
    guard text.withUnsafeBytes({ ContentDigest.digest8(of: $0) }) == digest else { return nil }
    var keys: [String] = []
    var offset = 0
    while offset < text.count {
      guard let length = readVarint(text, &offset), length <= UInt64(text.count - offset) else { return nil }
      let end = offset + Int(length)
      guard let key = String(validating: text[offset..<end], as: UTF8.self) else { return nil }
      keys.append(key)
      offset = end
    }
    return try shape(keys: keys, text: text)
  }

  /// The shape with that digest, where this process has met it.
  static func shape(digest: UInt64) -> Unmanaged<Shape>? {
    contents.withLock { $0.byDigest[digest] }
  }

  private static func shape(keys: [String], text: [UInt8]) throws -> Unmanaged<Shape> {
    let digest = text.withUnsafeBytes { ContentDigest.digest8(of: $0) }
    return try contents.withLock { contents in
      if let known = contents.byDigest[digest] {
        guard known.takeUnretainedValue().text == text else {
          throw GraphCodingError.digestCollision(what: "the coding keys \(keys)")
        }
        return known
      }
      let shape = Unmanaged.passRetained(Shape(keys: keys, text: text, digest: digest))
      contents.byDigest[digest] = shape
      return shape
    }
  }
}

/// Appends a number in groups of seven bits, lowest first, the top bit set on all but the last (LEB128).
func appendVarint(_ number: UInt64, to bytes: inout [UInt8]) {
  var rest = number
  while rest >= 0x80 {
    bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
    rest >>= 7
  }
  bytes.append(UInt8(rest))
}

/// Reads what ``appendVarint(_:to:)`` wrote; nil where it is cut or longer than 64 bits.
func readVarint(_ bytes: [UInt8], _ offset: inout Int) -> UInt64? {
  var result: UInt64 = 0
  var shift: UInt64 = 0
  while offset < bytes.count, shift < 64 {
    let byte = bytes[offset]
    offset += 1
    if shift == 63 && byte > 1 { return nil }
    result |= UInt64(byte & 0x7F) << shift
    if byte < 0x80 { return result }
    shift += 7
  }
  return nil
}

internal import Synchronization

/// The ordered keys of a map. They are stored once and named by a digest of their text, so that a record's bytes depend on no
/// store, order or process.
///
/// Shapes are immutable and live as long as the process. Coders hold them without counting references.
final class Shape: @unchecked Sendable {
  // @unchecked: everything is set in init and never changed.
  let keys: [String]
  /// The keys as they are stored: for each key its length as a varint, and its UTF-8.
  let text: [UInt8]
  let digest: UInt64
  /// The last position of each key. If a key was encoded twice, its last value counts.
  let positions: [String: Int]
  /// For keys that stand more than once (a subclass's and its superclass's): the other positions, the later ones first.
  let earlierPositions: [String: [Int]]

  /// Whether one of the keys is this one. It compares each key, which for few keys is faster, and makes no string.
  func hasKey(_ wanted: UnsafeRawBufferPointer) -> Bool {
    text.withUnsafeBytes { text in
      guard let base = text.baseAddress else { return false }
      var at = 0
      while at < text.count,
        let range = try? Varint.readCounted(base, &at, end: text.count, reason: "a key is cut")
      {
        if range.count == wanted.count,
          compareBytes(UnsafeRawBufferPointer(rebasing: text[range]), wanted) == 0
        {
          return true
        }
      }
      return false
    }
  }

  /// Whether two of the keys are the same text in other bytes.
  var hasTwins: Bool {
    earlierPositions.contains { key, places in
      let last = positions[key].map { keys[$0] } ?? key
      return places.contains { !keys[$0].utf8.elementsEqual(last.utf8) }
    }
  }

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
    var byDigest: [UInt64: Permanent<Shape>] = [:]
  }
  private static let contents = Mutex<Contents>(Contents())

  /// The shape with these keys.
  static func shape(keys: [String]) throws -> Permanent<Shape> {
    try shape(keys: keys, text: ShapeText.write(keys))
  }

  /// The shape that a store keeps under `digest`; nil if the text is damaged.
  static func shape(text: [UInt8], digest: UInt64) throws -> Permanent<Shape>? {
    guard text.withUnsafeBytes({ ContentDigest.digest8(of: $0) }) == digest else { return nil }
    guard let keys = ShapeText.read(text) else { return nil }
    return try shape(keys: keys, text: text)
  }

  /// The shape with that digest, if this process has met it.
  static func shape(digest: UInt64) -> Permanent<Shape>? {
    contents.withLock { $0.byDigest[digest] }
  }

  private static func shape(keys: [String], text: [UInt8]) throws -> Permanent<Shape> {
    let digest = text.withUnsafeBytes { ContentDigest.digest8(of: $0) }
    return try contents.withLock { contents in
      if let known = contents.byDigest[digest] {
        guard known.object.text == text else {
          throw GraphCodingError.digestCollision(what: "the coding keys \(keys)")
        }
        return known
      }
      let shape = Permanent(keeping: Shape(keys: keys, text: text, digest: digest))
      contents.byDigest[digest] = shape
      return shape
    }
  }
}

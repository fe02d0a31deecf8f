internal import GarageDriver

/// The keys that a commit changed, in their order, as a list of few bytes. One thread makes it and another one releases it; the
/// less memory passes between them, the less work both have.
struct ChangedKeys: Sendable {
  /// For each key a head, and those of the key's bytes that it does not share with the key before it.
  private var bytes: [UInt8] = []

  /// How many bytes it takes.
  var byteCount: Int { bytes.count }

  // MARK: Writing

  @inline(__always)
  mutating func append(_ key: RawSpan, isRemoved: Bool) {
    if bytes.isEmpty { bytes.reserveCapacity(64) }
    withUnsafeBytes(of: Head(key.byteCount, 0, isRemoved).word) { bytes.append(contentsOf: $0) }
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Appends the keys of entries that begin alike, as records of one type do. Their common beginning is listed once.
  mutating func append(_ placed: ArraySlice<PlacedEntry>, in source: RawSpan, isRemoved: Bool) {
    let most = placed.reduce(ChangedKeys.wordByteCount) { $0 &+ Head.byteCount &+ $1.key.count }
    let appended = [UInt8](unsafeUninitializedCapacity: most) { room, count in
      let start = UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped)
      var place = start
      var shared = 0
      for entry in placed {
        let ownCount = entry.key.count &- shared
        place.storeBytes(of: Head(ownCount, shared, isRemoved).word, as: UInt32.self)
        place += Head.byteCount
        ChangedKeys.copy(entry.key.lowerBound &+ shared, ownCount, of: source, to: place)
        place += ownCount
        shared = min(ChangedKeys.beginningByteCount, entry.key.count)
      }
      count = place - start
    }
    if bytes.isEmpty { bytes = appended } else { bytes += appended }
  }

  /// Copies a few bytes to a place that has room for two words.
  @inline(__always)
  private static func copy(
    _ start: Int, _ count: Int, of source: RawSpan, to place: UnsafeMutableRawPointer
  ) {
    // Most keys are integers with one byte in front. Moving two words takes less time than copying nine bytes.
    if count <= wordByteCount, start &+ wordByteCount <= source.byteCount {
      let words = source.unsafeLoadUnaligned(
        fromUncheckedByteOffset: start, as: SIMD2<UInt64>.self)
      place.storeBytes(of: words, as: SIMD2<UInt64>.self)
    } else {
      source.withUnsafeBytes { source in
        let bytes = source.baseAddress.unsafelyUnwrapped + start
        place.copyMemory(from: bytes, byteCount: count)
      }
    }
  }

  private static var wordByteCount: Int { MemoryLayout<SIMD2<UInt64>>.size }

  /// Whether two keys begin alike: with the same space, and for records with the same tag.
  @inline(__always)
  static func beginAlike(_ key: RawSpan, _ other: RawSpan) -> Bool {
    if key.byteCount < beginningByteCount || other.byteCount < beginningByteCount { return false }
    func word(_ key: RawSpan, at place: Int) -> UInt64 {
      key.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self)
    }
    let end = beginningByteCount - MemoryLayout<UInt64>.size
    return word(key, at: 0) == word(other, at: 0) && word(key, at: end) == word(other, at: end)
  }

  private static var beginningByteCount: Int { KeyLayout.identifierOffset }

  // MARK: Reading

  /// Visits the keys in the order in which they were changed, until `visit` returns false.
  func forEach(_ visit: (_ key: RawSpan, _ isRemoved: Bool) -> Bool) {
    let bytes = bytes.span.bytes
    var key: [UInt8] = []
    var place = 0
    while place < bytes.byteCount {
      let head = Head(word: bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self))
      place += Head.byteCount
      key.removeLast(key.count - head.sharedCount)
      bytes.extracting(place..<place + head.ownCount).withUnsafeBytes { key.append(contentsOf: $0) }
      place += head.ownCount
      if !visit(key.span.bytes, head.isRemoved) { return }
    }
  }

  /// The head in front of a key's own bytes.
  private struct Head {
    static var byteCount: Int { MemoryLayout<UInt32>.size }

    /// The lower half holds the number of the key's own bytes. Above stands the number of bytes that it shares with the key
    /// before it. The highest bit says whether the key was removed. Keys are far shorter than these parts allow.
    let word: UInt32

    init(word: UInt32) { self.word = word }

    @inline(__always)
    init(_ ownCount: Int, _ sharedCount: Int, _ isRemoved: Bool) {
      word =
        UInt32(truncatingIfNeeded: ownCount) | UInt32(truncatingIfNeeded: sharedCount) << 16
        | (isRemoved ? 1 << 31 : 0)
    }

    var ownCount: Int { Int(word & 0xffff) }
    var sharedCount: Int { Int(word >> 16 & 0x7fff) }
    var isRemoved: Bool { word >> 31 != 0 }
  }
}

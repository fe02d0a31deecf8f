// An index is built from millions of entries. Nearly all of them hold only numbers, dates and short text. Such entries are
// written to memory for which room was made before.

extension OrderedBytes {
  /// The bytes in front of the values in every entry of one index.
  package struct EntryPrefix: BitwiseCopyable {
    let space: UInt8
    let tag: UInt64
    let index: UInt64

    package init(space: UInt8, tag: UInt64, index: UInt64) {
      (self.space, self.tag, self.index) = (space, tag, index)
    }

    static let byteCount = 17
  }

  /// Writes one entry into memory that has room for its largest size.
  package struct PlainEntryWriter {
    fileprivate let start: UnsafeMutableRawPointer
    fileprivate var at: UnsafeMutableRawPointer
    /// The largest size of a value: its kind, as much text as is not cut, and a zero. Text is copied by whole words.
    fileprivate static let largestValue = uncutByteCount + 10

    /// Appends a value and returns its kind. Returns nil if it is of another kind, or too long.
    @inline(__always)
    mutating func append(_ place: FieldPlace) -> UInt8? {
      if let integer = place.narrowInteger {
        guard integer.magnitude <= 1 << 53 else { return nil }
        return append(Kind.number, Double(integer), endsInZero: true)
      }
      if let utf8 = place.utf8 {
        guard utf8.count < uncutByteCount, copyPlain(utf8, to: at + 1) else { return nil }
        at.storeBytes(of: Kind.text, as: UInt8.self)
        at.storeBytes(of: 0, toByteOffset: utf8.count + 1, as: UInt8.self)
        at += utf8.count + 2
        return Kind.text
      }
      switch place.tag {
      case BodyTag.double: return append(Kind.number, place.double, endsInZero: true)
      case BodyTag.date: return append(Kind.date, place.double, endsInZero: false)
      case BodyTag.uuid: return append(Kind.uuid, place.payload)
      case BodyTag.false: return append(Kind.false)
      case BodyTag.true: return append(Kind.true)
      case BodyTag.null, BodyTag.absent: return append(Kind.null)
      default: return nil
      }
    }

    /// Appends a kind that is a whole value.
    @inline(__always)
    mutating func append(_ kind: UInt8) -> UInt8 {
      at.storeBytes(of: kind, as: UInt8.self)
      at += 1
      return kind
    }

    @inline(__always)
    private mutating func append(_ kind: UInt8, _ uuid: UnsafeRawBufferPointer) -> UInt8? {
      guard uuid.count == 16, let bytes = uuid.baseAddress else { return nil }
      at.storeBytes(of: kind, as: UInt8.self)
      (at + 1).copyMemory(from: bytes, byteCount: 16)
      at += 17
      return kind
    }

    @inline(__always)
    private mutating func append(_ kind: UInt8, _ value: Double, endsInZero: Bool) -> UInt8 {
      at.storeBytes(of: kind, as: UInt8.self)
      at.storeBytes(of: sortable(value).bigEndian, toByteOffset: 1, as: UInt64.self)
      at.storeBytes(of: 0, toByteOffset: 9, as: UInt8.self)
      at += endsInZero ? 10 : 9
      return kind
    }

    /// Ends the entry. Returns how many bytes its values have; nil if that is more than a key has room for.
    @inline(__always)
    mutating func end(_ identifier: RawSpan) -> Int? {
      let valuesCount = at - start - EntryPrefix.byteCount
      if valuesCount > uncutByteCount { return nil }
      identifier.withUnsafeBytes { identifier in
        if let bytes = identifier.baseAddress { at.copyMemory(from: bytes, byteCount: identifier.count) }
      }
      at += identifier.byteCount
      at.storeBytes(of: UInt8(valuesCount), as: UInt8.self)
      at += 1
      return valuesCount
    }

    /// Copies ASCII text without the characters 0 and 1, which is composed and needs no escapes. Returns false if the text is
    /// different.
    @inline(__always)
    private func copyPlain(_ text: UnsafeRawBufferPointer, to memory: UnsafeMutableRawPointer) -> Bool {
      let count = text.count
      if count < 8 {
        for place in 0..<count {
          guard 0x02...0x7F ~= text[place] else { return false }
          memory.storeBytes(of: text[place], toByteOffset: place, as: UInt8.self)
        }
        return true
      }
      var place = 0
      while true {
        let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        guard word & 0x8080_8080_8080_8080 == 0, !OrderedBytes.mayHaveLowByte(word) else { return false }
        memory.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
        if place &+ 8 == count { return true }
        // The last word overlaps the one before.
        place = min(place &+ 8, count &- 8)
      }
    }
  }

  /// Begins an entry behind all bytes. ``endPlainEntry(_:)`` appends it, and nothing else may be appended before.
  @inline(__always)
  mutating func beginPlainEntry(_ prefix: EntryPrefix, fieldCount: Int, identifierCount: Int)
    -> PlainEntryWriter
  {
    arena.reserve(EntryPrefix.byteCount + fieldCount * PlainEntryWriter.largestValue + identifierCount + 1)
    let start = UnsafeMutableRawPointer(arena.base + arena.count)
    start.storeBytes(of: prefix.space, as: UInt8.self)
    start.storeBytes(of: prefix.tag.bigEndian, toByteOffset: 1, as: UInt64.self)
    start.storeBytes(of: prefix.index.bigEndian, toByteOffset: 9, as: UInt64.self)
    return PlainEntryWriter(start: start, at: start + EntryPrefix.byteCount)
  }

  @inline(__always)
  mutating func endPlainEntry(_ writer: PlainEntryWriter) {
    arena.append(atMost: 0) { writer.at - $0 }
  }
}

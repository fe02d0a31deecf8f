#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Arrays of one plain type, written without a tag for each element.

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Writes the array of a packed kind at an address.
  func writePacked(at array: UnsafeRawPointer, _ kind: ValueKind) throws {
    switch kind {
    case .strings: try writePacked(strings: array.assumingMemoryBound(to: [String].self).pointee)
    case .dates: try writeDates(array.assumingMemoryBound(to: [Date].self).pointee)
    case .doubles: try writeDoubles(array.assumingMemoryBound(to: [Double].self).pointee)
    case .floats: try writeFloats(array.assumingMemoryBound(to: [Float].self).pointee)
    case .bools:
      try writePacked(.bool, array.assumingMemoryBound(to: [Bool].self).pointee) { $0 ? 1 : 0 as UInt8 }
    case .uint8s: try writePacked(.uint8, array.assumingMemoryBound(to: [UInt8].self).pointee) { $0 }
    case .ints: try writeIntegers(array.assumingMemoryBound(to: [Int].self).pointee)
    case .int8s: try writeIntegers(array.assumingMemoryBound(to: [Int8].self).pointee)
    case .int16s: try writeIntegers(array.assumingMemoryBound(to: [Int16].self).pointee)
    case .int32s: try writeIntegers(array.assumingMemoryBound(to: [Int32].self).pointee)
    case .int64s: try writeIntegers(array.assumingMemoryBound(to: [Int64].self).pointee)
    case .uints: try writeIntegers(array.assumingMemoryBound(to: [UInt].self).pointee)
    case .uint16s: try writeIntegers(array.assumingMemoryBound(to: [UInt16].self).pointee)
    case .uint32s: try writeIntegers(array.assumingMemoryBound(to: [UInt32].self).pointee)
    case .uint64s: try writeIntegers(array.assumingMemoryBound(to: [UInt64].self).pointee)
    default: break
    }
  }

  /// An empty array of any type is the same.
  private func writeEmptyArray() { append(BodyTag.arraySmall, UInt16(0)) }

  private func writePackedHeader(_ kind: PackedKind, byteCount: Int) throws {
    if byteCount < 256 {
      append(BodyTag.packedSmall, UInt8(truncatingIfNeeded: byteCount))
      append(kind.rawValue)
    } else {
      guard let length = UInt32(exactly: byteCount) else { throw tooLarge(byteCount) }
      append(BodyTag.packedLarge, length.littleEndian)
      reserve(4)
      append(kind.rawValue)
      for _ in 0..<3 { append(0) }
    }
  }

  /// | varint count | for each: varint length, UTF-8 |
  func writePacked(strings: [String]) throws {
    if strings.isEmpty { return writeEmptyArray() }
    if pointee.isCanonical {
      try writePacked(ready: strings.map { composed($0) })
    } else {
      try writePacked(ready: strings)
    }
  }

  private func writePacked(ready strings: [String]) throws {
    var byteCount = Varint.byteCount(of: strings.count)
    for string in strings {
      let count = string.utf8.count
      byteCount += count + Varint.byteCount(of: count)
    }
    try writePackedHeader(.string, byteCount: byteCount)
    // One short string's worth more than there are bytes: see below.
    reserve(byteCount &+ ShortStrings.room)
    appendVarint(strings.count)
    let shortStrings = pointee.shortStrings
    for var string in strings {
      let (bytes, count) = shortStrings.bytes(of: string)
      if count >= 0 {
        let at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
        Varint.writeSingleByte(count, to: at)
        // What is behind the text is written over by what comes next.
        (at + 1).storeBytes(of: bytes, as: ShortStrings.Halves.self)
        pointee.output.count &+= 1 &+ count
        continue
      }
      string.withUTF8 { utf8 in
        appendVarint(utf8.count)
        // There is room for all of them.
        let at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
        if let source = utf8.baseAddress { copyShort(UnsafeRawPointer(source), to: at, utf8.count) }
        pointee.output.count &+= utf8.count
      }
    }
  }

  private func writePacked<Element, Stored: BitwiseCopyable>(
    _ kind: PackedKind, _ elements: [Element], _ stored: (Element) -> Stored
  ) throws {
    if elements.isEmpty { return writeEmptyArray() }
    let width = MemoryLayout<Stored>.size
    try writePackedHeader(kind, byteCount: elements.count * width)
    reserve(elements.count * width)
    var at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
    for element in elements {
      at.storeBytes(of: stored(element), as: Stored.self)
      at += width
    }
    pointee.output.count += elements.count * width
  }

  func writeDates(_ dates: [Date]) throws {
    let isCanonical = pointee.isCanonical
    try writePacked(.date, dates) { date in
      let seconds = date.timeIntervalSinceReferenceDate
      return (isCanonical ? canonical(seconds) : seconds).bitPattern.littleEndian
    }
  }

  private func writeDoubles(_ numbers: [Double]) throws {
    let isCanonical = pointee.isCanonical
    try writePacked(.double, numbers) { (isCanonical ? canonical($0) : $0).bitPattern.littleEndian }
  }

  private func writeFloats(_ numbers: [Float]) throws {
    if pointee.isCanonical { return try writeDoubles(numbers.map(Double.init)) }
    try writePacked(.float, numbers) { $0.bitPattern.littleEndian }
  }

  /// In the narrowest width that holds all of them.
  private func writeIntegers<T: FixedWidthInteger>(_ numbers: [T]) throws {
    guard var least = numbers.first else { return writeEmptyArray() }
    var greatest = least
    for number in numbers {
      least = Swift.min(least, number)
      greatest = Swift.max(greatest, number)
    }
    if Int8(exactly: least) != nil && Int8(exactly: greatest) != nil {
      try writePacked(.int8, numbers) { Int8(truncatingIfNeeded: $0) }
    } else if Int16(exactly: least) != nil && Int16(exactly: greatest) != nil {
      try writePacked(.int16, numbers) { Int16(truncatingIfNeeded: $0).littleEndian }
    } else if Int32(exactly: least) != nil && Int32(exactly: greatest) != nil {
      try writePacked(.int32, numbers) { Int32(truncatingIfNeeded: $0).littleEndian }
    } else if Int64(exactly: greatest) != nil {
      try writePacked(.int64, numbers) { Int64(truncatingIfNeeded: $0).littleEndian }
    } else {
      try writePacked(.uint64, numbers) { UInt64(truncatingIfNeeded: $0).littleEndian }
    }
  }
}

/// A packed array in a record's bytes.
struct PackedArray {
  let base: UnsafeRawPointer
  let kind: PackedKind
  let count: Int
  /// Where the next element begins, and where the last one ends.
  private(set) var offset: Int
  let end: Int

  /// Reads the array that begins at `offset`; nil where another value does.
  init?(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws {
    guard
      let header = try ContainerHeader.read(
        base, offset, end: end, small: BodyTag.packedSmall, large: BodyTag.packedLarge)
    else { return nil }
    guard let kind = PackedKind(rawValue: UInt8(truncatingIfNeeded: header.second)), header.second < 256
    else {
      throw DamagedBody(reason: "there is no packed array of kind \(header.second)", offset: offset)
    }
    self.base = base
    self.kind = kind
    self.end = header.end
    self.offset = header.content
    if kind == .string {
      count = try Varint.read(base, &self.offset, end: header.end)
      // Each string takes a byte at least.
      guard count <= header.end - self.offset else {
        throw DamagedBody(reason: "an array counts more strings than it has bytes", offset: offset)
      }
    } else {
      guard (header.end - header.content) % kind.width == 0 else {
        throw DamagedBody(reason: "a packed array ends inside an element", offset: offset)
      }
      count = (header.end - header.content) / kind.width
    }
  }

  /// The bounds of the next element: of a string's UTF-8, or of the fixed-width bytes.
  mutating func next() throws -> Range<Int> {
    let start: Int
    let stop: Int
    if kind == .string {
      var at = offset
      let length = try Varint.read(base, &at, end: end)
      start = at
      stop = at + length
    } else {
      start = offset
      stop = offset + kind.width
    }
    guard stop <= end else { throw DamagedBody(reason: "an element goes beyond its array", offset: offset) }
    offset = stop
    return start..<stop
  }

  func load<T: BitwiseCopyable>(_ at: Int, as type: T.Type) -> T {
    base.loadUnaligned(fromByteOffset: at, as: type)
  }

  /// The integer at `at`, of whichever width.
  func integer(_ at: Int) -> Int128? {
    switch kind {
    case .int8: Int128(load(at, as: Int8.self))
    case .uint8: Int128(load(at, as: UInt8.self))
    case .int16: Int128(Int16(littleEndian: load(at, as: Int16.self)))
    case .int32: Int128(Int32(littleEndian: load(at, as: Int32.self)))
    case .int64: Int128(Int64(littleEndian: load(at, as: Int64.self)))
    case .uint64: Int128(UInt64(littleEndian: load(at, as: UInt64.self)))
    case .string, .date, .float, .double, .bool: nil
    }
  }
}

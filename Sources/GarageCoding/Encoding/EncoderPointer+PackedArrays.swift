#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Arrays of one plain type, written without a tag for each element.

extension EncoderPointer {
  /// Writes the array of a packed kind at an address.
  func writePacked(at array: UnsafeRawPointer, _ kind: ValueKind) throws {
    switch kind {
    case .strings: try array[as: [String].self].withUnsafeBufferPointer { try writePacked(strings: $0) }
    case .dates: try array[as: [Date].self].withUnsafeBufferPointer { try writeDates($0) }
    case .doubles: try writeDoubles(array[as: [Double].self])
    case .floats: try writeFloats(array[as: [Float].self])
    case .bools:
      try writePacked(.bool, array[as: [Bool].self]) { $0 ? 1 : 0 as UInt8 }
    case .uint8s: try writePacked(.uint8, array[as: [UInt8].self]) { $0 }
    case .ints: try writeIntegers(array[as: [Int].self])
    case .int8s: try writeIntegers(array[as: [Int8].self])
    case .int16s: try writeIntegers(array[as: [Int16].self])
    case .int32s: try writeIntegers(array[as: [Int32].self])
    case .int64s: try writeIntegers(array[as: [Int64].self])
    case .uints: try writeIntegers(array[as: [UInt].self])
    case .uint16s: try writeIntegers(array[as: [UInt16].self])
    case .uint32s: try writeIntegers(array[as: [UInt32].self])
    case .uint64s: try writeIntegers(array[as: [UInt64].self])
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
  func writePacked(strings: UnsafeBufferPointer<String>) throws {
    if strings.isEmpty { return writeEmptyArray() }
    if isCanonical {
      try strings.map { composed($0) }.withUnsafeBufferPointer { try writePacked(ready: $0) }
    } else {
      try writePacked(ready: strings)
    }
  }

  private func writePacked(ready strings: UnsafeBufferPointer<String>) throws {
    var byteCount = Varint.byteCount(of: strings.count)
    for string in strings {
      let count = string.utf8.count
      byteCount += count + Varint.byteCount(of: count)
    }
    try writePackedHeader(.string, byteCount: byteCount)
    // As much more as copying a short string may write behind its end: see below.
    reserve(byteCount &+ ShortStrings.room)
    appendVarint(strings.count)
    let shortStrings = self.shortStrings
    for var string in strings {
      let (bytes, count) = shortStrings.bytes(of: string)
      if count >= 0 {
        append(UInt8(truncatingIfNeeded: count), bytes, count)
        continue
      }
      string.withUTF8 { utf8 in
        appendVarint(utf8.count)
        // Room was made for all of them, and for what this may write behind the end.
        if let source = utf8.baseAddress { output.end.copyShort(from: source, utf8.count) }
        output.count &+= utf8.count
      }
    }
  }

  private func writePacked<Element, Stored: BitwiseCopyable>(
    _ kind: PackedKind, _ elements: [Element], _ stored: (Element) -> Stored
  ) throws {
    try elements.withUnsafeBufferPointer { try writePacked(kind, $0, stored) }
  }

  @inline(__always)
  private func writePacked<Element, Stored: BitwiseCopyable>(
    _ kind: PackedKind, _ elements: UnsafeBufferPointer<Element>, _ stored: (Element) -> Stored
  ) throws {
    if elements.isEmpty { return writeEmptyArray() }
    let width = MemoryLayout<Stored>.size
    try writePackedHeader(kind, byteCount: elements.count * width)
    reserve(elements.count * width)
    var at = output.end
    for element in elements {
      at.store(stored(element))
      at += width
    }
    output.count += elements.count * width
  }

  func writeDates(_ dates: UnsafeBufferPointer<Date>) throws {
    let isCanonical = self.isCanonical
    try writePacked(.date, dates) { date in
      let seconds = date.timeIntervalSinceReferenceDate
      return (isCanonical ? canonical(seconds) : seconds).bitPattern.littleEndian
    }
  }

  private func writeDoubles(_ numbers: [Double]) throws {
    let isCanonical = self.isCanonical
    try writePacked(.double, numbers) { (isCanonical ? canonical($0) : $0).bitPattern.littleEndian }
  }

  private func writeFloats(_ numbers: [Float]) throws {
    if isCanonical { return try writeDoubles(numbers.map(Double.init)) }
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

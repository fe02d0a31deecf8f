#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Reading packed arrays, whole or element by element.

extension DecoderPointer {
  /// Reads the array at the cursor into the scratch memory. Returns false if it is not packed in a form from which an array of
  /// this kind can be read at once.
  func readPacked(_ kind: ValueKind) throws -> Bool {
    let tag = try tag()
    guard tag == BodyTag.packedSmall || tag == BodyTag.packedLarge else { return false }
    guard var array = try PackedArray(base, cursor, end: frame.end)
    else { return false }
    let scratch = self.scratch
    switch (kind, array.kind) {
    case (.strings, .string): scratch.put(as: [String].self, try strings(&array))
    case (.dates, .date):
      scratch.put(as: [Date].self, fixed(&array) { Date(timeIntervalSinceReferenceDate: $0.double($1)) })
    case (.doubles, .double): scratch.put(as: [Double].self, fixed(&array) { $0.double($1) })
    case (.bools, .bool):
      scratch.put(as: [Bool].self, fixed(&array) { $0.load($1, as: UInt8.self) != 0 })
    case (.floats, .float):
      scratch.put(
        as: [Float].self,
        fixed(&array) { Float(bitPattern: UInt32(littleEndian: $0.load($1, as: UInt32.self))) })
    default: return try array.kind.isInteger && readIntegers(kind, &array)
    }
    cursor = array.end
    return true
  }

  private func readIntegers(_ kind: ValueKind, _ array: inout PackedArray) throws -> Bool {
    let scratch = self.scratch
    switch kind {
    case .ints: scratch.put(as: [Int].self, try integers(&array))
    case .int8s: scratch.put(as: [Int8].self, try integers(&array))
    case .int16s: scratch.put(as: [Int16].self, try integers(&array))
    case .int32s: scratch.put(as: [Int32].self, try integers(&array))
    case .int64s: scratch.put(as: [Int64].self, try integers(&array))
    case .uints: scratch.put(as: [UInt].self, try integers(&array))
    case .uint8s: scratch.put(as: [UInt8].self, try integers(&array))
    case .uint16s: scratch.put(as: [UInt16].self, try integers(&array))
    case .uint32s: scratch.put(as: [UInt32].self, try integers(&array))
    case .uint64s: scratch.put(as: [UInt64].self, try integers(&array))
    default: return false
    }
    cursor = array.end
    return true
  }

  /// The count was checked against the number of bytes.
  private func strings(_ array: inout PackedArray) throws -> [String] {
    var at = array.offset
    let (base, end, count) = (self.base, array.end, array.count)
    // Not made by `unsafeUninitializedCapacity`, which looks up the metadata of the array's storage each time.
    var strings: [String] = []
    strings.reserveCapacity(count)
    for _ in 0..<count {
      let range = try Varint.readCounted(base, &at, end: end, reason: "an element goes beyond its array")
      strings.append(try string(range))
    }
    guard at == end else { throw DamagedBytes(reason: "a packed array has bytes left over", offset: at) }
    return strings
  }

  /// Elements of one width, as many as the array has bytes for.
  @inline(__always)
  private func fixed<Element>(_ array: inout PackedArray, _ read: (PackedArray, Int) -> Element) -> [Element]
  {
    let (start, width) = (array.offset, array.kind.width)
    var elements: [Element] = []
    elements.reserveCapacity(array.count)
    for index in 0..<array.count { elements.append(read(array, start &+ index &* width)) }
    return elements
  }

  @inline(__always)
  private func elements<Element>(
    _ array: inout PackedArray, _ read: (PackedArray, Range<Int>) throws -> Element
  ) throws -> [Element] {
    var elements: [Element] = []
    // The count was checked against the number of bytes.
    elements.reserveCapacity(array.count)
    for _ in 0..<array.count {
      let range = try array.next()
      elements.append(try read(array, range))
    }
    guard array.offset == array.end else {
      throw DamagedBytes(reason: "a packed array has bytes left over", offset: array.offset)
    }
    return elements
  }

  @inline(__always)
  private func integers<T: FixedWidthInteger>(_ array: inout PackedArray) throws -> [T] {
    try elements(&array) { array, range in
      guard let wide = array.integer(range.lowerBound), let number = T(exactly: wide) else {
        let index = array.count - (array.end - range.lowerBound) / array.kind.width
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: childPath + [PathKey(intValue: index)],
            debugDescription: "A stored number does not fit in \(T.self)."))
      }
      return number
    }
  }

  func readFoundation(_ kind: ValueKind) throws {
    let scratch = self.scratch
    switch kind {
    case .date: scratch.put(as: Date.self, try readDate())
    case .uuid: scratch.put(as: UUID.self, try readUUID())
    case .data: scratch.put(as: Data.self, try readData())
    case .url: scratch.put(as: URL.self, try readURL())
    default: scratch.put(as: Decimal.self, try readDecimal())
    }
  }
}

extension PackedArray {
  func double(_ at: Int) -> Double { Double(bitPattern: UInt64(littleEndian: load(at, as: UInt64.self))) }
}

extension DecoderPointer {
  /// The elements of a packed array with their tags, in memory that lives until the record is done.
  func unpack(_ packed: PackedArray) throws -> (UnsafeRawBufferPointer, count: Int) {
    let bytes = try EncodingCore.withCore { encoder in
      encoder.state.beginRecord()
      var packed = packed
      let output = encoder.state
      for _ in 0..<packed.count {
        let range = try packed.next()
        switch packed.kind {
        case .string:
          try output.write(
            utf8: UnsafeRawBufferPointer(start: packed.base + range.lowerBound, count: range.count))
        case .date: output.write(date: packed.double(range.lowerBound))
        case .double: output.write(packed.double(range.lowerBound))
        case .float:
          output.write(
            Float(bitPattern: UInt32(littleEndian: packed.load(range.lowerBound, as: UInt32.self))))
        case .bool: output.write(packed.load(range.lowerBound, as: UInt8.self) != 0)
        case .int8, .int16, .int32, .int64, .uint64, .uint8:
          output.write(integer: packed.integer(range.lowerBound) ?? 0)
        }
      }
      return Array(output.output.bytes)
    }
    return (keepBytes(bytes), packed.count)
  }
}

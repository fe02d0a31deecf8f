#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Reading packed arrays, whole or element by element.

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// Reads the array at the cursor into the scratch memory. False where it is not packed in a form that an array of
  /// this kind is read from at once.
  func readPacked(_ kind: ValueKind) throws -> Bool {
    let tag = try tag()
    guard tag == BodyTag.packedSmall || tag == BodyTag.packedLarge else { return false }
    guard var array = try PackedArray(pointee.base, pointee.cursor, end: pointee.input.frame.pointee.end)
    else { return false }
    let scratch = pointee.scratch
    switch (kind, array.kind) {
    case (.strings, .string): scratch.initializeMemory(as: [String].self, to: try strings(&array))
    case (.dates, .date):
      scratch.initializeMemory(
        as: [Date].self, to: fixed(&array) { Date(timeIntervalSinceReferenceDate: $0.double($1)) })
    case (.doubles, .double): scratch.initializeMemory(as: [Double].self, to: fixed(&array) { $0.double($1) })
    case (.bools, .bool):
      scratch.initializeMemory(as: [Bool].self, to: fixed(&array) { $0.load($1, as: UInt8.self) != 0 })
    case (.floats, .float):
      scratch.initializeMemory(
        as: [Float].self,
        to: fixed(&array) { Float(bitPattern: UInt32(littleEndian: $0.load($1, as: UInt32.self))) })
    default: return try array.kind.isInteger && readIntegers(kind, &array)
    }
    pointee.cursor = array.end
    return true
  }

  private func readIntegers(_ kind: ValueKind, _ array: inout PackedArray) throws -> Bool {
    let scratch = pointee.scratch
    switch kind {
    case .ints: scratch.initializeMemory(as: [Int].self, to: try integers(&array))
    case .int8s: scratch.initializeMemory(as: [Int8].self, to: try integers(&array))
    case .int16s: scratch.initializeMemory(as: [Int16].self, to: try integers(&array))
    case .int32s: scratch.initializeMemory(as: [Int32].self, to: try integers(&array))
    case .int64s: scratch.initializeMemory(as: [Int64].self, to: try integers(&array))
    case .uints: scratch.initializeMemory(as: [UInt].self, to: try integers(&array))
    case .uint8s: scratch.initializeMemory(as: [UInt8].self, to: try integers(&array))
    case .uint16s: scratch.initializeMemory(as: [UInt16].self, to: try integers(&array))
    case .uint32s: scratch.initializeMemory(as: [UInt32].self, to: try integers(&array))
    case .uint64s: scratch.initializeMemory(as: [UInt64].self, to: try integers(&array))
    default: return false
    }
    pointee.cursor = array.end
    return true
  }

  /// The count was checked against the bytes that are there.
  private func strings(_ array: inout PackedArray) throws -> [String] {
    var at = array.offset
    let (base, end, count) = (pointee.base, array.end, array.count)
    // Not by `unsafeUninitializedCapacity`: that asks for the metadata of the array's storage each time.
    var strings: [String] = []
    strings.reserveCapacity(count)
    for _ in 0..<count {
      let range = try Varint.readCounted(base, &at, end: end, reason: "an element goes beyond its array")
      strings.append(try string(range))
    }
    guard at == end else { throw DamagedBody(reason: "a packed array has bytes left over", offset: at) }
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
    // The count was checked against the bytes that are there.
    elements.reserveCapacity(array.count)
    for _ in 0..<array.count {
      let range = try array.next()
      elements.append(try read(array, range))
    }
    guard array.offset == array.end else {
      throw DamagedBody(reason: "a packed array has bytes left over", offset: array.offset)
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
            codingPath: childPath + [PlainKey(intValue: index)],
            debugDescription: "A stored number does not fit in \(T.self)."))
      }
      return number
    }
  }

  func readFoundation(_ kind: ValueKind) throws {
    let scratch = pointee.scratch
    switch kind {
    case .date: scratch.initializeMemory(as: Date.self, to: try readDate())
    case .uuid: scratch.initializeMemory(as: UUID.self, to: try readUUID())
    case .data: scratch.initializeMemory(as: Data.self, to: try readData())
    case .url: scratch.initializeMemory(as: URL.self, to: try readURL())
    default: scratch.initializeMemory(as: Decimal.self, to: try readDecimal())
    }
  }
}

extension PackedArray {
  func double(_ at: Int) -> Double { Double(bitPattern: UInt64(littleEndian: load(at, as: UInt64.self))) }
}

extension UnsafeMutablePointer where Pointee == DecoderState {
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
      return Array(UnsafeBufferPointer(start: output.pointee.output.base, count: output.pointee.output.count))
    }
    return (keepBytes(bytes), packed.count)
  }
}

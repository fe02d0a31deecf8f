extension DecoderPointer {
  /// Begins reading the current frame's value as an array, from its first element.
  ///
  /// - Parameter isLook: as in ``requestMap(isLook:)``.
  func requestArray(isLook: Bool = false) throws {
    guard frame.kind != .map else { throw mismatchOfFrame([Any].self) }
    if frame.kind == .array { return }
    if let header = try ContainerHeader.read(
      base, frame.start, end: frame.end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
    {
      return try openArray(header)
    }
    if try openArrayElsewhere(contentOfFrame(isLook: isLook)..<frame.end) { return }
    if let target = try targetOfFrame(), try openArrayElsewhere(target) { return }
    throw mismatchOfFrame([Any].self)
  }

  /// Opens an array that is packed, has something before it, or stands elsewhere. False where there is none.
  private func openArrayElsewhere(_ value: Range<Int>) throws -> Bool {
    let end = value.upperBound
    let start = InlinePrefix.skipSyncStatus(base, value.lowerBound, end: end)
    if let packed = try PackedArray(base, start, end: end) {
      try openPacked(packed)
      return true
    }
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
    else { return false }
    try openArray(header)
    return true
  }

  /// The header of the array at the cursor; nil for other values, packed arrays among them.
  @inline(__always)
  func arrayHeader() throws -> ContainerHeader? {
    try ContainerHeader.read(
      base, cursor, end: frame.end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
  }

  private func openArray(_ header: ContainerHeader) throws {
    // Each element takes a byte at least.
    guard header.second <= header.end - header.content else {
      throw DamagedBytes(reason: "an array counts more elements than it has bytes", offset: header.content)
    }
    openArray(content: header.content, end: header.end, count: header.second)
  }

  private func openArray(content: Int, end: Int, count: Int) {
    frame.kind = .array
    frame.content = content
    frame.end = end
    frame.count = count
    frame.next = 0
    frame.nextOffset = content
  }

  /// Begins to read a packed array element by element: writes its elements out with their tags, into memory that the core keeps
  /// as long as the record. The offsets of these elements, too, count from the record's first byte.
  private func openPacked(_ packed: PackedArray) throws {
    let (bytes, count) = try unpack(packed)
    // With their tags numbers may take twice as many bytes. Places in an array are counted in 32 bits.
    guard bytes.count <= UInt32.max else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription:
            "The array has \(count) elements, too many to be read one by one. Decode it as a whole."))
    }
    let content = bytes.baseAddress.unsafelyUnwrapped - base
    openArray(content: content, end: content + bytes.count, count: count)
  }

  /// Moves the cursor to the next element of the array with that serial.
  @inline(__always)
  func beginElement(_ type: Any.Type, serial: UInt64) throws {
    try resume(serial)
    try beginElement(type)
  }

  /// Moves the cursor to the next element of the current frame's array.
  @inline(__always)
  func beginElement(_ type: Any.Type) throws {
    try beginElement(type, frame.next, at: frame.nextOffset)
  }

  /// Moves the cursor to an element of the current frame's array.
  @inline(__always)
  func beginElement(_ type: Any.Type, _ index: Int, at offset: Int) throws {
    guard index < frame.count else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [PathKey(intValue: index)],
          debugDescription:
            "The array has \(frame.count) elements; another was asked for."))
    }
    frame.current = index
    cursor = offset
  }
}

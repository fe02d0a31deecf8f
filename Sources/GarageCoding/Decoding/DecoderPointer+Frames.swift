// Entering and leaving the value that one `init(from:)` reads.

extension DecoderPointer {
  @inline(__always)
  func nextSerial() -> UInt64 {
    lastSerial &+= 1
    return lastSerial
  }

  /// Begins the frame of the value at the cursor. ``leaveFrame(_:)`` follows, also when decoding it failed.
  @inline(__always)
  func openFrame() throws -> UInt64 {
    guard self.depth < RecordFormat.maximumDepth, StackLimit.hasRoom else {
      throw fail(GraphCodingError.nestingTooDeep(depth: self.depth))
    }
    let start = cursor
    let end = try BodyScanner.skipValue(base, start, end: frame.end)
    self.depth &+= 1
    let serial = nextSerial()
    push(
      DecodingFrame(
        serial: serial, position: Int32(truncatingIfNeeded: openFrameCount),
        depth: Int32(truncatingIfNeeded: depth), start: start, end: end, valueEnd: end,
        indexBase: input.offsets.count, offsetBase: input.offsets.count, outer: framePlace))
    return serial
  }

  /// Leaves the frame of a value, and puts the cursor behind the value, however much of it was read.
  @inline(__always)
  func leaveFrame(_ serial: UInt64) {
    if frame.serial != serial { returnToValue(serial) }
    cursor = frame.valueEnd
    input.offsets.truncate(to: frame.offsetBase)
    popFrame()
    depth &-= 1
  }

  /// Runs `body` on the value at the cursor, in a frame of its own.
  @inline(__always)
  func withFrame<R>(_ body: (UInt64) throws -> R) throws -> R {
    let serial = try openFrame()
    defer { leaveFrame(serial) }
    return try body(serial)
  }

  /// The error for a container with that serial, whose frame is not the current one.
  func staleContainer(_ keys: [any CodingKey], _ serial: UInt64) -> any Error {
    let isCurrent = serial > serialBefore
    let error = DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: isCurrent ? codingPath + keys : keys,
        debugDescription: """
          A container or decoder was used after the init(from:) that it was made for, or while a value \
          inside it was being decoded. Use it only where it was given.
          """))
    return isCurrent ? fail(error) : error
  }

  /// Notes an error that must not be lost, even if user code says `try?`.
  func fail(_ error: any Error) -> any Error {
    if failure == nil { failure = error }
    return error
  }
}

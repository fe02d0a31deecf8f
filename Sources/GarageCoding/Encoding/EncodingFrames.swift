#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Opening and closing what one `encode(to:)` writes: fields, elements, and the containers they stand in.

/// Where things stood, to go back to when user code throws: `try?` is legal.
struct EncodingMark {
  var count: Int
  var frame: UnsafeMutablePointer<EncodingFrame>
  var progress: EncodingFrame.Progress
  var entryCount: Int
  var holeCount: Int
  var graph: GraphUnderConstruction.Mark
  var lastSerial: UInt64
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// The serial of a new frame.
  @inline(__always)
  func nextSerial() -> UInt64 {
    pointee.lastSerial &+= 1
    return pointee.lastSerial
  }

  @inline(__always)
  func mark() -> EncodingMark {
    EncodingMark(
      count: pointee.output.count, frame: pointee.output.frame,
      progress: pointee.output.frame.pointee.progress, entryCount: pointee.output.entries.count,
      holeCount: pointee.output.holes.count, graph: pointee.graph.pointee.mark,
      lastSerial: pointee.lastSerial)
  }

  @inline(never)
  func rollBack(to mark: EncodingMark) {
    pointee.output.count = mark.count
    pointee.output.frame = mark.frame
    mark.frame.pointee.progress = mark.progress
    pointee.output.entries.truncate(to: mark.entryCount)
    dropHoles(to: mark.holeCount)
    if pointee.graph.pointee.hasCrossed(since: mark.graph, mark.lastSerial) {
      _ = staleContainer([], pointee.lastSerial)
    }
    pointee.graph.pointee.rollBack(to: mark.graph)
  }

  @inline(__always)
  var core: EncodingCore { pointee.core.takeUnretainedValue() }

  /// Begins the frame of one value. What a failed value wrote, and its frame, is left to ``attempt(_:)``, which
  /// knows where the field began.
  @inline(__always)
  func openFrame() throws -> UInt64 {
    guard pointee.depth < RecordFormat.maximumDepth, hasStack() else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    pointee.depth &+= 1
    let serial = nextSerial()
    pointee.output.frame = pointee.frames.push(
      EncodingFrame(
        serial: serial, start: pointee.output.count, entryBase: pointee.output.entries.count,
        holeBase: pointee.output.holes.count, outer: pointee.output.frame))
    return serial
  }

  /// Leaves the frame of a value, complete or failed.
  @inline(__always)
  func leaveFrame() {
    pointee.output.frame = pointee.output.frame.pointee.outer.unsafelyUnwrapped
    pointee.frames.pop()
    pointee.depth &-= 1
  }

  /// Runs `body`, which writes one value, in a frame of its own.
  @inline(__always)
  func withFrame(_ body: (UInt64) throws -> Void) throws {
    let serial = try openFrame()
    defer { leaveFrame() }
    try body(serial)
    try closeFrame()
  }

  /// Completes the value of the current frame. A value that wrote nothing is an empty map, as in JSON.
  func closeFrame() throws {
    switch pointee.output.frame.pointee.kind {
    case .single: break
    case .map: try closeMap()
    case .array: try closeArray()
    case .empty:
      openMap()
      try closeMap()
    }
  }
}

// MARK: - Maps

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Begins the frame's map, or goes on with it.
  @inline(__always)
  func requestMap() throws {
    switch pointee.output.frame.pointee.kind {
    case .map: break
    case .empty: openMap()
    case .single, .array: throw secondContainer("keyed")
    }
  }

  @inline(__always)
  func openMap() {
    pointee.output.frame.pointee.kind = .map
    pointee.output.frame.pointee.isOrdered = !pointee.isCanonical
    // The numbers are filled in at the end, and widened where they do not fit.
    append(BodyTag.mapSmall, UInt16(0))
  }

  /// Begins the field `key`: after it, its value is written.
  @inline(__always)
  func beginField<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws {
    guard pointee.output.frame.pointee.serial == serial else { throw staleContainer([key], serial) }
    if keys.pointee.isByte {
      let discriminator = discriminator(of: key)
      if pointee.output.frame.pointee.keys == keys && pointee.output.frame.pointee.isOrdered
        && pointee.output.frame.pointee.count == Int(discriminator)
      {
        if keys.pointee.noted[Int(discriminator)] == 0 { note(key, discriminator, keys) }
        pointee.output.frame.pointee.count &+= 1
        return
      }
      if try beginSegment(key, discriminator, keys) { return }
    }
    beginEntry(key.stringValue)
  }

  /// Notes a field that the value does not have. In a shape it takes a byte, so that the next keys stay in
  /// order; elsewhere it takes none.
  @inline(__always)
  func writeAbsent<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws {
    guard pointee.output.frame.pointee.serial == serial else { throw staleContainer([key], serial) }
    guard keys.pointee.isByte else { return }
    let discriminator = discriminator(of: key)
    if pointee.output.frame.pointee.keys == keys && pointee.output.frame.pointee.isOrdered
      && pointee.output.frame.pointee.count == Int(discriminator)
    {
      if keys.pointee.noted[Int(discriminator)] == 0 { note(key, discriminator, keys) }
      pointee.output.frame.pointee.count &+= 1
      append(BodyTag.absent)
    } else if pointee.output.frame.pointee.isOrdered, discriminator == 0,
      pointee.output.frame.pointee.keys != keys
    {
      if try beginSegment(key, discriminator, keys) { append(BodyTag.absent) }
    }
  }

  @inline(never)
  func note<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) {
    keys.pointee.table.takeUnretainedValue().note(key, discriminator)
    keys.pointee.noted[Int(discriminator)] = 1
  }

  /// Whether `key` continues the shape as the first key of a further key type: a subclass's behind its
  /// superclass's. Anything else out of order stands as an entry with its text, and so does all behind it:
  /// which keys make a shape depends on the value alone, and n keys make at most n shapes.
  @inline(never)
  private func beginSegment<Key: CodingKey>(
    _ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer
  ) throws -> Bool {
    let frame = pointee.output.frame.pointee
    guard frame.isOrdered, discriminator == 0, frame.keys != keys, frame.segmentCount < 8 else {
      pointee.output.frame.pointee.isOrdered = false
      return false
    }
    pointee.output.frame.pointee.shape = try frameShape()
    pointee.output.frame.pointee.segmentCount += 1
    pointee.output.frame.pointee.keys = keys
    pointee.output.frame.pointee.count = 1
    if keys.pointee.noted[0] == 0 { note(key, 0, keys) }
    return true
  }

  /// The shape of the keys that came in order; nil where there were none.
  @inline(__always)
  private func frameShape() throws -> Unmanaged<Shape>? {
    guard let keys = pointee.output.frame.pointee.keys, pointee.output.frame.pointee.count > 0 else {
      return pointee.output.frame.pointee.shape
    }
    if pointee.output.frame.pointee.shape == nil,
      let shape = keys.pointee.prefixShapes[pointee.output.frame.pointee.count]
    {
      return shape
    }
    return try makeShape(keys)
  }

  @inline(never)
  private func makeShape(_ keys: KeyTablePointer) throws -> Unmanaged<Shape> {
    let frame = pointee.output.frame.pointee
    let table = keys.pointee.table.takeUnretainedValue()
    if let base = frame.shape { return try table.shape(after: base, frame.count) }
    let shape = try table.prefixShape(frame.count)
    keys.pointee.prefixShapes[frame.count] = shape
    return shape
  }

  /// Begins an entry: a field that stands with the text of its key, of which canonical bodies have the composed form.
  ///
  /// - Parameter isExact: whether the text stands as it is there, too.
  func beginEntry(_ key: String, isExact: Bool = false) {
    pointee.output.frame.pointee.isOrdered = false
    pointee.output.entries.append(pointee.output.count)
    var key = pointee.isCanonical && !isExact ? composed(key) : key
    key.withUTF8 { utf8 in
      appendVarint(utf8.count)
      append(UnsafeRawBufferPointer(utf8))
    }
  }

  func closeMap() throws {
    if hasHoles { try fillHoles() }
    let frame = pointee.output.frame.pointee
    let shape = try frameShape()
    if pointee.output.entries.count > frame.entryBase { try closeEntries(shape) }
    var index = 0
    if let shape { index = pointee.graph.pointee.index(of: shape) + 1 }
    try closeHeader(BodyTag.mapLarge, index)
  }

  /// Fills in the two numbers of a container's header; widens them where one byte does not hold them.
  @inline(__always)
  private func closeHeader(_ largeTag: UInt8, _ second: Int) throws {
    let start = pointee.output.frame.pointee.start
    let length = pointee.output.count &- start &- BodyTag.smallHeaderByteCount
    if length < 256 && second < 256 {
      pointee.output.base[start &+ 1] = UInt8(truncatingIfNeeded: length)
      pointee.output.base[start &+ 2] = UInt8(truncatingIfNeeded: second)
    } else {
      try widenHeader(largeTag, length, second)
    }
  }

  @inline(never)
  private func widenHeader(_ tag: UInt8, _ length: Int, _ second: Int) throws {
    guard let length32 = UInt32(exactly: length), let second32 = UInt32(exactly: second) else {
      throw tooLarge(length)
    }
    let growth = BodyTag.largeHeaderByteCount - BodyTag.smallHeaderByteCount
    reserve(growth)
    let header = UnsafeMutableRawPointer(pointee.output.base + pointee.output.frame.pointee.start)
    memmove(header + BodyTag.largeHeaderByteCount, header + BodyTag.smallHeaderByteCount, length)
    header.storeBytes(of: tag, as: UInt8.self)
    (header + 1).storeBytes(of: length32.littleEndian, as: UInt32.self)
    (header + 5).storeBytes(of: second32.littleEndian, as: UInt32.self)
    pointee.output.count += growth
  }
}

// MARK: - Arrays

extension UnsafeMutablePointer where Pointee == EncoderState {
  func requestArray() throws {
    switch pointee.output.frame.pointee.kind {
    case .array: break
    case .empty: openArray()
    case .single, .map: throw secondContainer("unkeyed")
    }
  }

  @inline(__always)
  func openArray() {
    pointee.output.frame.pointee.kind = .array
    append(BodyTag.arraySmall, UInt16(0))
  }

  @inline(__always)
  func beginElement(serial: UInt64) throws {
    guard pointee.output.frame.pointee.serial == serial else { throw staleContainer([], serial) }
    pointee.output.frame.pointee.count &+= 1
  }

  func closeArray() throws {
    if hasHoles { try fillHoles() }
    try closeHeader(BodyTag.arrayLarge, pointee.output.frame.pointee.count)
  }
}

// MARK: - Single values

extension UnsafeMutablePointer where Pointee == EncoderState {
  @inline(__always)
  func beginSingle(serial: UInt64) throws {
    guard pointee.output.frame.pointee.serial == serial else { throw staleContainer([], serial) }
    guard pointee.output.frame.pointee.kind == .empty else { throw secondContainer("single value") }
    pointee.output.frame.pointee.kind = .single
  }

  func secondContainer(_ kind: String) -> any Error {
    fail(
      EncodingError.invalidValue(
        kind,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: """
            A \(kind) container was requested where the value already has one of another kind or a single \
            value. One encode(to:) writes one value: keep to one kind.
            """)))
  }

  /// The error for a container with that serial, whose frame is not the current one.
  func staleContainer(_ keys: [any CodingKey], _ serial: UInt64) -> any Error {
    // One of a graph that is done must not harm the one that is being encoded, perhaps by another thread.
    let isCurrent = serial > pointee.serialBefore
    let error = EncodingError.invalidValue(
      keys.map(\.stringValue),
      EncodingError.Context(
        codingPath: isCurrent ? codingPath + keys : keys,
        debugDescription: """
          A container or encoder was used after the encode(to:) that it was made for, or while a value \
          inside it was being encoded. Use it only where it was given.
          """))
    return isCurrent ? fail(error) : error
  }

  /// Notes an error that must not be lost, even where user code says `try?`.
  func fail(_ error: any Error) -> any Error {
    if pointee.failure == nil { pointee.failure = error }
    return error
  }
}

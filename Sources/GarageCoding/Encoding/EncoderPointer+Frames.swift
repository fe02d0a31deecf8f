#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Opening and closing what one `encode(to:)` writes: fields, elements, and the containers that they stand in.

extension EncoderPointer {
  /// The serial of a new frame.
  @inline(__always)
  func nextSerial() -> UInt64 {
    lastSerial &+= 1
    return lastSerial
  }

  @inline(__always)
  func mark() -> EncodingMark {
    EncodingMark(
      count: output.count, frame: output.framePlace,
      progress: frame.progress, entryCount: output.entries.count,
      holeCount: output.holes.count, graph: self.graph.mark,
      lastSerial: self.lastSerial)
  }

  @inline(never)
  func rollBack(to mark: EncodingMark) {
    output.count = mark.count
    output.framePlace = mark.frame
    frame.progress = mark.progress
    output.entries.truncate(to: mark.entryCount)
    dropHoles(to: mark.holeCount)
    if graph.hasCrossed(since: mark.graph, mark.lastSerial) {
      _ = staleContainer([], lastSerial)
    }
    graph.rollBack(to: mark.graph)
  }

  /// Begins the frame of one value. If the value fails, ``attempt(_:)`` takes back what it wrote, and its frame, because that
  /// knows where the field began.
  @inline(__always)
  func openFrame() throws -> UInt64 {
    guard self.depth < RecordFormat.maximumDepth, StackLimit.hasRoom else {
      throw fail(GraphCodingError.nestingTooDeep(depth: self.depth))
    }
    self.depth &+= 1
    let serial = nextSerial()
    push(
      EncodingFrame(
        serial: serial, start: output.count, entryBase: output.entries.count,
        holeBase: output.holes.count, outer: output.framePlace))
    return serial
  }

  /// Leaves the frame of the value with that serial, complete or failed.
  @inline(__always)
  func leaveFrame(_ serial: UInt64) {
    if frame.serial != serial { abandonNested(serial) }
    popFrame()
    depth &-= 1
  }

  /// Runs `body`, which writes one value, in a frame of its own.
  @inline(__always)
  func withFrame(_ body: (UInt64) throws -> Void) throws {
    let serial = try openFrame()
    defer { leaveFrame(serial) }
    try body(serial)
    try closeFrame(serial)
  }

  /// Completes the value with that serial, and with it its nested containers.
  @inline(__always)
  func closeFrame(_ serial: UInt64) throws {
    if frame.serial != serial { try closeNested(serial) }
    try closeFrame()
  }

  /// Completes the value of the current frame. A value that wrote nothing is an empty map, as in JSON.
  func closeFrame() throws {
    switch frame.kind {
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

extension EncoderPointer {
  /// Begins the frame's map, or goes on with it.
  @inline(__always)
  func requestMap() throws {
    switch frame.kind {
    case .map: break
    case .empty: openMap()
    case .single, .array: throw secondContainer("keyed")
    }
  }

  /// Whether something was written into the map that is open.
  var hasFields: Bool { output.count > frame.start + BodyTag.smallHeaderByteCount || hasHoles }

  @inline(__always)
  func openMap() {
    frame.kind = .map
    frame.isOrdered = !isCanonical
    // The numbers are filled in at the end, and widened where they do not fit.
    append(BodyTag.mapSmall, UInt16(0))
  }

  /// Begins the field `key`: after it, its value is written.
  @inline(__always)
  func beginField<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws {
    try resume(serial, key)
    if keys.isByte {
      let discriminator = discriminator(of: key)
      if frame.keys == keys && frame.isOrdered
        && frame.count == Int(discriminator)
      {
        if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
        frame.count &+= 1
        return
      }
      if frame.isOrdered, try beginSegment(key, discriminator, keys) { return }
      if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
      let text = keys.text(discriminator)
      if !isCanonical || isSurelyComposed(text) { return beginEntry(utf8: text) }
    }
    beginEntry(key.stringValue)
  }

  /// Notes a field that the value does not have. In a shape it takes a byte, so that the next keys stay in
  /// order; elsewhere it takes none.
  @inline(__always)
  func writeAbsent<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws {
    try resume(serial, key)
    guard keys.isByte else { return }
    let discriminator = discriminator(of: key)
    if frame.keys == keys && frame.isOrdered
      && frame.count == Int(discriminator)
    {
      if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
      frame.count &+= 1
      append(BodyTag.absent)
    } else if frame.isOrdered, discriminator == 0,
      frame.keys != keys
    {
      if try beginSegment(key, discriminator, keys) { append(BodyTag.absent) }
    }
  }

  @inline(never)
  func note<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) {
    keys.note(key, discriminator)
  }

  /// Whether `key` continues the shape as the first key of a further key type: a subclass's keys behind those of its
  /// superclass. Any other key that is out of order stands as an entry with its text, and so do all behind it. So the keys of a
  /// shape depend on the value alone, and n keys make at most n shapes.
  @inline(never)
  private func beginSegment<Key: CodingKey>(
    _ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer
  ) throws -> Bool {
    let before = frame
    guard before.isOrdered, discriminator == 0, before.keys != keys, before.segmentCount < 8 else {
      frame.isOrdered = false
      return false
    }
    frame.shape = try frameShape()
    frame.segmentCount += 1
    frame.keys = keys
    frame.count = 1
    if !keys.hasNoted(0) { note(key, 0, keys) }
    return true
  }

  /// The shape of the keys that came in order; nil where there were none.
  @inline(__always)
  private func frameShape() throws -> Permanent<Shape>? {
    guard let keys = frame.keys, frame.count > 0 else {
      return frame.shape
    }
    if frame.shape == nil,
      let shape = keys[shapeOfFirst: frame.count]
    {
      return shape
    }
    return try makeShape(keys)
  }

  @inline(never)
  private func makeShape(_ keys: KeyTablePointer) throws -> Permanent<Shape> {
    let table = keys.table
    if let base = frame.shape { return try table.shape(after: base, frame.count) }
    let shape = try table.prefixShape(frame.count)
    keys[shapeOfFirst: frame.count] = shape
    return shape
  }

  /// Begins an entry: a field that stands with the text of its key. In canonical bodies that text is composed.
  ///
  /// - Parameter isExact: whether the text is left as it is in canonical bodies, too.
  func beginEntry(_ key: String, isExact: Bool = false) {
    frame.isOrdered = false
    output.entries.append(output.count)
    var key = isCanonical && !isExact ? composed(key) : key
    key.withUTF8 { utf8 in
      appendVarint(utf8.count)
      append(UnsafeRawBufferPointer(utf8))
    }
  }

  /// The same for a text that is given as bytes.
  private func beginEntry(utf8: UnsafeRawBufferPointer) {
    frame.isOrdered = false
    output.entries.append(output.count)
    appendVarint(utf8.count)
    append(utf8)
  }

  func closeMap() throws {
    if hasHoles { try fillHoles() }
    let shape = try frameShape()
    if output.entries.count > frame.entryBase { try closeEntries(shape) }
    var index = 0
    if let shape { index = graph.index(of: shape) + 1 }
    try closeHeader(BodyTag.mapLarge, index)
  }

  /// Fills in the two numbers of a container's header; widens them where one byte does not hold them.
  @inline(__always)
  private func closeHeader(_ largeTag: UInt8, _ second: Int) throws {
    let start = frame.start
    let length = output.count &- start &- BodyTag.smallHeaderByteCount
    if length < 256 && second < 256 {
      output.base[start &+ 1] = UInt8(truncatingIfNeeded: length)
      output.base[start &+ 2] = UInt8(truncatingIfNeeded: second)
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
    let header = UnsafeMutableRawPointer(output.base + frame.start)
    memmove(header + BodyTag.largeHeaderByteCount, header + BodyTag.smallHeaderByteCount, length)
    header.store(tag)
    (header + 1).store(length32.littleEndian)
    (header + 5).store(second32.littleEndian)
    output.count += growth
  }
}

// MARK: - Arrays

extension EncoderPointer {
  func requestArray() throws {
    switch frame.kind {
    case .array: break
    case .empty: openArray()
    case .single, .map: throw secondContainer("unkeyed")
    }
  }

  @inline(__always)
  func openArray() {
    frame.kind = .array
    append(BodyTag.arraySmall, UInt16(0))
  }

  @inline(__always)
  func beginElement(serial: UInt64) throws {
    try resume(serial)
    frame.count &+= 1
  }

  func closeArray() throws {
    if hasHoles { try fillHoles() }
    try closeHeader(BodyTag.arrayLarge, frame.count)
  }
}

// MARK: - Single values

extension EncoderPointer {
  @inline(__always)
  func beginSingle(serial: UInt64) throws {
    try resume(serial)
    guard frame.kind == .empty else { throw secondContainer("single value") }
    frame.kind = .single
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
    // A container of a graph that is done must not harm the graph that is being encoded now, perhaps by another thread.
    let isCurrent = serial > serialBefore
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
    if failure == nil { failure = error }
    return error
  }
}

/// What a decoder knows at one moment, as plain data behind an unsafe pointer; see ``EncoderState`` for why.
struct DecoderState {
  /// The bytes of the record being decoded. Lent: valid while that record is being decoded.
  var base: UnsafeRawPointer
  /// Where the next value is read.
  var cursor = 0
  var input = DecodingInput()
  var record = RecordContext()
  var lastSerial: UInt64 = 0
  /// The last serial before the session that uses this state; see `EncoderState.serialBefore`.
  var serialBefore = UInt64.max
  /// How many values are open around the next one.
  var depth = 0
  /// The open frames of all records that are being decoded, but for those that inputs keep themselves.
  var frames = PlaceStack<DecodingFrame>()
  let types = TypeFactsCache(ofEncoder: false)
  let boxes = ContainerBoxes()
  let shortStrings = ShortStrings()
  /// Room for one value of a plain type, on its way from a function that is not generic.
  let scratch: UnsafeMutableRawPointer
  // The tables of the records that are being decoded, and what was made for them; the innermost's last.
  var references = PlainStack<ReferenceEntry>()
  var shapes = PlainStack<Unmanaged<Shape>>()
  var unpacked = PlainStack<UnsafeMutableBufferPointer<UInt8>>()
  var nodes = PlainStack<Unmanaged<DecodingNode>>()
  let shapeCache = ShapeCache()
  /// The first error that must not be lost, even where user code says `try?`.
  var failure: (any Error)?
  /// How records are read that were made of another library's JSON; nil for this one's own.
  var foreign: (any ForeignReading)?
  let core: Unmanaged<DecodingCore>
  /// The graph that records are fetched for.
  let graph: Unmanaged<GraphWalk>
}

/// One entry of a record's reference table.
struct ReferenceEntry {
  var kind: ReferenceKind
  var tag: UInt64
  var identifier: UnsafeRawBufferPointer
  /// Its number in the graph; -1 until somebody asks.
  var number: Int
}

/// The shapes met last, by digest, before ``ShapeRegistry``, which takes a lock. One for each coder.
struct ShapeCache {
  private static let lineCount = 64
  private let lines: UnsafeMutablePointer<(digest: UInt64, shape: Unmanaged<Shape>?)>

  init() {
    lines = .allocate(capacity: ShapeCache.lineCount)
    lines.initialize(repeating: (0, nil), count: ShapeCache.lineCount)
  }

  @inline(__always)
  subscript(digest: UInt64) -> Unmanaged<Shape>? {
    get {
      let line = lines[Int(truncatingIfNeeded: digest) & (ShapeCache.lineCount &- 1)]
      return line.digest == digest ? line.shape : nil
    }
    nonmutating set {
      lines[Int(truncatingIfNeeded: digest) & (ShapeCache.lineCount &- 1)] = (digest, newValue)
    }
  }
}

typealias DecoderPointer = UnsafeMutablePointer<DecoderState>

/// The frame that is being read, and where the fields of the open maps are.
struct DecodingInput {
  /// The current frame. It stays where it is while it is open: to copy what was just written is slow.
  var frame: UnsafeMutablePointer<DecodingFrame>
  /// The offsets of the fields found so far, outermost map first.
  var offsets = OffsetStack()
  /// The nested container that this is; nil for the record's value.
  var node: Unmanaged<DecodingNode>?

  init() {
    frame = .allocate(capacity: 1)
    frame.initialize(to: DecodingFrame())
  }
}

/// Where the tables of the record being decoded stand in the core's stacks.
struct RecordContext {
  var serial: UInt64 = 0
  var number = -1
  var referenceBase = 0
  var referenceCount = 0
  var shapeBase = 0
  var shapeCount = 0
  /// Where the record's value begins, when a reference named it and it is read as a type without identity.
  var wrappedOffset = -1
  /// Whether its identifier is the digest of its content.
  var isDigest = false
}

/// One value being read: what one `init(from:)` may look at.
struct DecodingFrame {
  enum Kind: UInt8 { case value, map, array }

  var serial: UInt64 = 0
  var kind = Kind.value
  /// The value's bounds.
  var start = 0
  var end = 0
  /// The end of the value as it was measured; `end` is that of the content being read.
  var valueEnd = 0
  /// The first field's or element's offset.
  var content = 0
  /// A map's shape and how many fields it has; entries follow up to `end`.
  var shape: Unmanaged<Shape>?
  var shapedCount = 0
  /// The key type whose `fields` these are. Checked at each look-up: a superclass has another.
  var keys: KeyTablePointer?
  var fields: FieldMap?
  /// The field or element that begins at `nextOffset`; -1 where that is not known, after an error.
  var next = 0
  var nextOffset = 0
  /// The field or element that is being read, and where the key of an entry begins: for coding paths.
  var current = -1
  var currentKey = 0
  /// An array's element count.
  var count = 0
  /// Where this map's offsets are in `DecodingInput.offsets`, and how many are known.
  var indexBase = 0
  var indexCount = 0
  /// The frame around this one in its record or nested container; nil for the first.
  var outer: UnsafeMutablePointer<DecodingFrame>?
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  var core: DecodingCore { pointee.core.takeUnretainedValue() }

  var graph: GraphWalk { pointee.graph.takeUnretainedValue() }

  @inline(__always)
  func nextSerial() -> UInt64 {
    pointee.lastSerial &+= 1
    return pointee.lastSerial
  }

  /// Begins the frame of the value at the cursor. ``leaveFrame(_:)`` follows, also when decoding it failed.
  @inline(__always)
  func openFrame() throws -> UInt64 {
    guard pointee.depth < RecordFormat.maximumDepth, hasStack() else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    let start = pointee.cursor
    let end = try BodyScanner.skipValue(pointee.base, start, end: pointee.input.frame.pointee.end)
    pointee.depth &+= 1
    let serial = nextSerial()
    pushFrame(
      DecodingFrame(
        serial: serial, start: start, end: end, valueEnd: end, indexBase: pointee.input.offsets.count,
        outer: pointee.input.frame))
    return serial
  }

  /// Leaves the frame of a value with the cursor behind it, however much of it was read.
  @inline(__always)
  func leaveFrame() {
    pointee.cursor = pointee.input.frame.pointee.valueEnd
    pointee.input.offsets.truncate(to: pointee.input.frame.pointee.indexBase)
    popFrame()
    pointee.depth &-= 1
  }

  @inline(__always)
  func pushFrame(_ frame: DecodingFrame) { pointee.input.frame = pointee.frames.push(frame) }

  @inline(__always)
  func popFrame() {
    pointee.input.frame = pointee.input.frame.pointee.outer.unsafelyUnwrapped
    pointee.frames.pop()
  }

  /// Runs `body` on the value at the cursor, in a frame of its own.
  @inline(__always)
  func withFrame<R>(_ body: (UInt64) throws -> R) throws -> R {
    let serial = try openFrame()
    defer { leaveFrame() }
    return try body(serial)
  }

  /// The error for a container with that serial, whose frame is not the current one.
  func staleContainer(_ keys: [any CodingKey], _ serial: UInt64) -> any Error {
    let isCurrent = serial > pointee.serialBefore
    let error = DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: isCurrent ? codingPath + keys : keys,
        debugDescription: """
          A container or decoder was used after the init(from:) that it was made for, or while a value \
          inside it was being decoded. Use it only where it was given.
          """))
    return isCurrent ? fail(error) : error
  }

  /// Notes an error that must not be lost, even where user code says `try?`.
  func fail(_ error: any Error) -> any Error {
    if pointee.failure == nil { pointee.failure = error }
    return error
  }

  /// The path to the value being decoded, inside its record; put together when somebody asks.
  var codingPath: [any CodingKey] {
    let base = pointee.input.node.map { $0.takeUnretainedValue().codingPath } ?? []
    let around = sequence(first: pointee.input.frame) { $0.pointee.outer }.dropFirst()
    return base + around.reversed().compactMap { currentKey(of: $0.pointee) }
  }

  /// The path to a nested container, or to the value being decoded. Empty for one with a serial of a session that is
  /// done: the decoder may be another thread's by now.
  func codingPath(_ node: Unmanaged<DecodingNode>?, _ serial: UInt64) -> [any CodingKey] {
    if serial <= pointee.serialBefore { return [] }
    return node?.takeUnretainedValue().codingPath ?? codingPath
  }

  /// The path to the field or element being read.
  var childPath: [any CodingKey] {
    codingPath + (currentKey(of: pointee.input.frame.pointee).map { [$0] } ?? [])
  }

  private func currentKey(of frame: DecodingFrame) -> (any CodingKey)? {
    guard frame.current >= 0 else { return nil }
    switch frame.kind {
    case .value: return nil
    case .array: return PlainKey(intValue: frame.current)
    case .map:
      let text: String
      if frame.current < frame.shapedCount, let shape = frame.shape?.takeUnretainedValue() {
        text = shape.keys[frame.current]
      } else {
        var at = frame.currentKey
        guard let key = try? BodyScanner.readKey(pointee.base, &at, end: frame.end) else { return nil }
        text = String(
          decoding: UnsafeRawBufferPointer(start: pointee.base + key.lowerBound, count: key.count),
          as: UTF8.self)
      }
      let known = frame.keys?.pointee.table.takeUnretainedValue().keys ?? []
      return known.first { $0?.stringValue == text } ?? PlainKey(stringValue: text)
    }
  }
}

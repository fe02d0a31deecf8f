/// What an encoder knows at one moment, as plain data behind an unsafe pointer.
///
/// A class with a growing array would spend half of an encoder's time on reference counts and exclusivity
/// checks. So the state is a struct at a fixed address, which lives as long as the process (``EncodingCore``
/// keeps it): a container that user code kept too long finds living memory and a serial that is not its own.
struct EncoderState {
  /// Where bytes go now: the record's body, or the bytes of a nested container.
  var output: EncodingOutput
  /// The serial given last. Never used again, so that a stale container is always recognised.
  var lastSerial: UInt64 = 0
  /// The last serial before the graph that is being encoded: a container with this one or one before it belongs
  /// to a graph that is done. The greatest while there is none.
  var serialBefore = UInt64.max
  /// How many values are open around the next one.
  var depth = 0
  /// Whether the bytes are to be canonical: for a digest, not for a record.
  var isCanonical = false
  /// Whether dates are written in another form than their own.
  var hasDateStrategy = false
  /// Whether references stand inline by their own: inside an identifier nothing is a reference.
  var inlinesEverything = false
  /// Whether the next mapped object is of another class than its property, and so has to say of which.
  var namesClass = false
  /// The first error that must not be lost, even where user code says `try?`.
  var failure: (any Error)?
  /// The frames that are open, outermost first, but for those that outputs keep themselves.
  var frames = PlaceStack<EncodingFrame>()
  let graph: UnsafeMutablePointer<GraphUnderConstruction>
  let types = TypeFactsCache(ofEncoder: true)
  let boxes = ContainerBoxes()
  let shortStrings = ShortStrings()
  let core: Unmanaged<EncodingCore>
}

typealias EncoderPointer = UnsafeMutablePointer<EncoderState>

/// Bytes under construction and the frame that is being filled.
struct EncodingOutput {
  var base: UnsafeMutablePointer<UInt8>
  var count = 0
  var capacity: Int
  /// The current frame. It stays where it is while it is open: to copy what was just written is slow.
  var frame: UnsafeMutablePointer<EncodingFrame>
  /// Where the entries of the open maps begin, outermost map first.
  var entries = OffsetStack()
  /// The nested containers of the open frames, outermost frame first: where each is to be spliced in.
  var holes = OffsetStack()
  var holeNodes = NodeStack()
  /// The nested container that these bytes belong to; nil for the record's body.
  var node: Unmanaged<EncodingNode>?

  init() {
    capacity = 512
    base = .allocate(capacity: capacity)
    frame = .allocate(capacity: 1)
    frame.initialize(to: EncodingFrame())
  }
}

/// One value under construction: what one `encode(to:)` may write.
struct EncodingFrame {
  enum Kind: UInt8 { case empty, single, map, array }

  var serial: UInt64 = 0
  var kind = Kind.empty
  /// Whether a map's keys have come as its key type declares them, so that a shape tells them.
  var isOrdered = true
  var segmentCount: UInt8 = 0
  /// Where the value begins.
  var start = 0
  /// An array's elements; a map's keys in the current segment.
  var count = 0
  /// The key type of a map's current segment, and the shape of the segments before it.
  var keys: KeyTablePointer?
  var shape: Unmanaged<Shape>?
  /// The first of this map's entries in `EncodingOutput.entries`, and of its nested containers.
  var entryBase = 0
  var holeBase = 0
  /// Which child is being encoded, for coding paths.
  var child = PathStep.none

  /// How far it has come: what goes back when a field fails.
  struct Progress {
    var kind: Kind
    var isOrdered: Bool
    var segmentCount: UInt8
    var count: Int
    var keys: KeyTablePointer?
    var shape: Unmanaged<Shape>?
    var child: PathStep
  }
  @inline(__always)
  var progress: Progress {
    get {
      Progress(
        kind: kind, isOrdered: isOrdered, segmentCount: segmentCount, count: count, keys: keys, shape: shape,
        child: child)
    }
    set {
      (kind, isOrdered, segmentCount) = (newValue.kind, newValue.isOrdered, newValue.segmentCount)
      (count, keys, shape, child) = (newValue.count, newValue.keys, newValue.shape, newValue.child)
    }
  }
  /// The frame around this one in its output; nil for the first, which is the output's own.
  var outer: UnsafeMutablePointer<EncodingFrame>?
}

/// One step of a coding path, as plain data: made into a `CodingKey` only when somebody asks.
enum PathStep {
  case none
  /// A key of an enum type, by discriminator.
  case byte(KeyTablePointer, UInt8)
  case index(Int)
  /// A key of any other type: its place in the core's list of such keys.
  case key(Int)
}

// MARK: - Bytes

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Makes room for `count` more bytes.
  @inline(__always)
  func reserve(_ count: Int) {
    if pointee.output.count &+ count > pointee.output.capacity { grow(count) }
  }

  @inline(never)
  private func grow(_ count: Int) {
    let capacity = Swift.max(pointee.output.capacity * 2, pointee.output.count + count)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: pointee.output.base, count: pointee.output.count)
    pointee.output.base.deallocate()
    pointee.output.base = larger
    pointee.output.capacity = capacity
  }

  @inline(__always)
  func append(_ byte: UInt8) {
    reserve(1)
    pointee.output.base[pointee.output.count] = byte
    pointee.output.count &+= 1
  }

  /// Appends a tag and the bytes of a plain value, little-endian.
  @inline(__always)
  func append<T: BitwiseCopyable>(_ tag: UInt8, _ value: T) {
    let size = MemoryLayout<T>.size
    reserve(1 &+ size)
    let at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
    at.storeBytes(of: tag, as: UInt8.self)
    (at + 1).storeBytes(of: value, as: T.self)
    pointee.output.count &+= 1 &+ size
  }

  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
      .copyMemory(from: source, byteCount: bytes.count)
    pointee.output.count &+= bytes.count
  }

  /// Appends what `write` writes to where there is room for so many bytes; it returns how many they are.
  @inline(__always)
  func append(atMost byteCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
    reserve(byteCount)
    pointee.output.count &+= write(UnsafeMutableRawPointer(pointee.output.base + pointee.output.count))
  }

  @inline(__always)
  func appendVarint(_ number: Int) {
    append(atMost: Varint.maximumByteCount) { Varint.write(number, to: $0) }
  }
}

// MARK: - Values without parts

extension UnsafeMutablePointer where Pointee == EncoderState {
  @inline(__always)
  func write(_ value: Bool) { append(value ? BodyTag.true : BodyTag.false) }

  @inline(__always)
  func writeNull() { append(BodyTag.null) }

  @inline(__always)
  func write(integer value: Int64) {
    if value >= 0 && value < 64 {
      append(BodyTag.smallInteger | UInt8(truncatingIfNeeded: value))
    } else if let narrow = Int8(exactly: value) {
      append(BodyTag.int8, narrow)
    } else if let narrow = Int16(exactly: value) {
      append(BodyTag.int16, narrow.littleEndian)
    } else if let narrow = Int32(exactly: value) {
      append(BodyTag.int32, narrow.littleEndian)
    } else {
      append(BodyTag.int64, value.littleEndian)
    }
  }

  @inline(__always)
  func write(integer value: UInt64) {
    if let signed = Int64(exactly: value) {
      write(integer: signed)
    } else {
      append(BodyTag.uint64, value.littleEndian)
    }
  }

  func write(integer value: Int128) {
    if let narrow = Int64(exactly: value) {
      write(integer: narrow)
    } else if let narrow = UInt64(exactly: value) {
      write(integer: narrow)
    } else {
      append(BodyTag.int128)
      append128(UInt128(truncatingIfNeeded: value))
    }
  }

  func write(integer value: UInt128) {
    if let signed = Int128(exactly: value) {
      write(integer: signed)
    } else {
      append(BodyTag.uint128)
      append128(value)
    }
  }

  private func append128(_ value: UInt128) {
    for index in 0..<16 { append(UInt8(truncatingIfNeeded: value >> UInt128(index * 8))) }
  }

  /// In canonical bodies -0.0 is 0.0, all NaN are one, and a float is written as the double it equals.
  func write(_ value: Float) {
    if pointee.isCanonical { return write(Double(value)) }
    append(BodyTag.float, value.bitPattern.littleEndian)
  }

  @inline(__always)
  func write(_ value: Double) {
    append(BodyTag.double, (pointee.isCanonical ? canonical(value) : value).bitPattern.littleEndian)
  }

  @inline(__always)
  func write(date seconds: Double) {
    append(BodyTag.date, (pointee.isCanonical ? canonical(seconds) : seconds).bitPattern.littleEndian)
  }

  @inline(__always)
  func canonical(_ value: Double) -> Double { value.isNaN ? .nan : value + 0.0 }

  @inline(__always)
  func write(_ value: String) throws {
    let (bytes, count) = pointee.shortStrings.bytes(of: value)
    if count >= 0 {
      reserve(1 &+ ShortStrings.room)
      let at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
      at.storeBytes(of: BodyTag.shortString | UInt8(truncatingIfNeeded: count), as: UInt8.self)
      // What is behind the text is written over by what comes next.
      (at + 1).storeBytes(of: bytes, as: ShortStrings.Halves.self)
      pointee.output.count &+= 1 &+ count
      return
    }
    try write(longer: value)
  }

  @inline(never)
  private func write(longer value: String) throws {
    if pointee.isCanonical { return try writeNormalized(value) }
    let failure: (any Error)?? = value.utf8.withContiguousStorageIfAvailable { utf8 in
      do {
        try write(utf8: UnsafeRawBufferPointer(utf8))
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      if let failure { throw failure }
    } else {
      var native = value
      try native.withUTF8 { try write(utf8: UnsafeRawBufferPointer($0)) }
    }
  }

  /// Equal strings, composed or decomposed, have equal canonical bytes.
  @inline(never)
  private func writeNormalized(_ value: String) throws {
    var normalized = composed(value)
    try normalized.withUTF8 { try write(utf8: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  func write(utf8: UnsafeRawBufferPointer) throws {
    let count = utf8.count
    if count < 64 {
      reserve(1 &+ count)
      let at = UnsafeMutableRawPointer(pointee.output.base + pointee.output.count)
      at.storeBytes(of: BodyTag.shortString | UInt8(truncatingIfNeeded: count), as: UInt8.self)
      if let source = utf8.baseAddress { copyShort(source, to: at + 1, count) }
      pointee.output.count &+= 1 &+ count
    } else {
      try writeLength(count, small: BodyTag.string8, large: BodyTag.string32)
      append(utf8)
    }
  }

  func write(data: UnsafeRawBufferPointer) throws {
    try writeLength(data.count, small: BodyTag.data8, large: BodyTag.data32)
    append(data)
  }

  /// A tag and a length of one byte where it fits, else of four.
  func writeLength(_ count: Int, small: UInt8, large: UInt8) throws {
    if count < 256 {
      append(small, UInt8(truncatingIfNeeded: count))
    } else {
      guard let length = UInt32(exactly: count) else { throw tooLarge(count) }
      append(large, length.littleEndian)
    }
  }

  func tooLarge(_ count: Int) -> any Error {
    fail(
      EncodingError.invalidValue(
        count,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: """
            A value of \(count) bytes was to be encoded; one record holds less than 4 GiB. \
            Split it, or keep it in a file.
            """)))
  }
}

/// Copies bytes of which there mostly are few: a word or two, which may overlap, instead of a call.
@inline(__always)
func copyShort(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int) {
  if count > 16 {
    target.copyMemory(from: source, byteCount: count)
  } else if count >= 8 {
    let last = source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
    target.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
  } else if count >= 4 {
    let last = source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
    target.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
  } else {
    for offset in 0..<count {
      target.storeBytes(
        of: source.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
    }
  }
}

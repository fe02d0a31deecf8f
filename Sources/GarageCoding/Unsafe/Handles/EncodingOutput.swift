/// Bytes under construction and the frame that is being filled.
struct EncodingOutput {
  var base: UnsafeMutablePointer<UInt8>
  var count = 0
  var capacity: Int
  /// The address of the current frame, which stays the same while the frame is open: copying what was just written is slow.
  var framePlace: UnsafeMutablePointer<EncodingFrame>
  /// The places where the entries of the open maps begin, outermost map first.
  var entries = RawStack<Int>()
  /// The nested containers of the open frames, outermost frame first.
  var holes = RawStack<EncodingHole>()
  /// The output's own memory, while the bytes stand in the place of their record; nil while they stand in the output's own.
  private(set) var memoryAtRest: UnsafeMutableBufferPointer<UInt8>?
  /// The nested container that these bytes belong to; nil for the record's body.
  var nested: Permanent<NestedEncoding>?

  init() {
    capacity = 512
    base = .allocate(capacity: capacity)
    framePlace = .allocate(capacity: 1)
    framePlace.initialize(to: EncodingFrame())
  }

  /// The place of the next byte, for which there is room.
  @inline(__always)
  var end: UnsafeMutableRawPointer { UnsafeMutableRawPointer(base + count) }

  /// The bytes, valid until the next change.
  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Some of the bytes, valid until the next change.
  @inline(__always)
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// Continues in other memory. If the bytes have moved before, the bytes written so far stand there already.
  mutating func move(to place: UnsafeMutableBufferPointer<UInt8>) {
    let start = place.baseAddress.unsafelyUnwrapped
    if memoryAtRest == nil {
      start.update(from: base, count: count)
      memoryAtRest = UnsafeMutableBufferPointer(start: base, count: capacity)
    }
    (base, capacity) = (start, place.count)
  }

  /// Returns to its own memory, without the bytes.
  mutating func moveBack() {
    guard let memory = memoryAtRest, let start = memory.baseAddress else { return }
    (base, capacity, count, memoryAtRest) = (start, memory.count, 0, nil)
  }

  /// Leaves the open frames. The first frame, which is this output's own, becomes the frame of a new value.
  mutating func restart(serial: UInt64 = 0) {
    while let outer = framePlace.pointee.outer { framePlace = outer }
    framePlace.pointee = EncodingFrame(serial: serial)
  }
}

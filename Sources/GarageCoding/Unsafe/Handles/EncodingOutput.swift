/// Bytes under construction and the frame that is being filled.
struct EncodingOutput {
  var base: UnsafeMutablePointer<UInt8>
  var count = 0
  var capacity: Int
  /// Where the current frame is. It stays there while it is open: to copy what was just written is slow.
  var framePlace: UnsafeMutablePointer<EncodingFrame>
  /// Where the entries of the open maps begin, outermost map first.
  var entries = RawStack<Int>()
  /// The nested containers of the open frames, outermost frame first.
  var holes = RawStack<EncodingHole>()
  /// The memory that the bytes go back to, while they stand where their record is to be; nil while they stand in it.
  private(set) var memoryAtRest: UnsafeMutableBufferPointer<UInt8>?
  /// The nested container that these bytes belong to; nil for the record's body.
  var nested: Permanent<NestedEncoding>?

  init() {
    capacity = 512
    base = .allocate(capacity: capacity)
    framePlace = .allocate(capacity: 1)
    framePlace.initialize(to: EncodingFrame())
  }

  /// Where the next byte goes, for which there is room.
  @inline(__always)
  var end: UnsafeMutableRawPointer { UnsafeMutableRawPointer(base + count) }

  /// The bytes, until the next change.
  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Some of the bytes, until the next change.
  @inline(__always)
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// Goes on in other memory, in which the bytes written so far stand already if they have moved before.
  mutating func move(to place: UnsafeMutableBufferPointer<UInt8>) {
    let start = place.baseAddress.unsafelyUnwrapped
    if memoryAtRest == nil {
      start.update(from: base, count: count)
      memoryAtRest = UnsafeMutableBufferPointer(start: base, count: capacity)
    }
    (base, capacity) = (start, place.count)
  }

  /// Goes back to its own memory, without the bytes.
  mutating func moveBack() {
    guard let memory = memoryAtRest, let start = memory.baseAddress else { return }
    (base, capacity, count, memoryAtRest) = (start, memory.count, 0, nil)
  }

  /// Leaves the open frames, and makes the first one, which is this output's own, that of a new value.
  mutating func restart(serial: UInt64 = 0) {
    while let outer = framePlace.pointee.outer { framePlace = outer }
    framePlace.pointee = EncodingFrame(serial: serial)
  }
}

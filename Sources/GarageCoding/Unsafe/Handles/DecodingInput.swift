/// The frame that is being read, and where the fields of the open maps are.
struct DecodingInput {
  /// Where the current frame is. It stays there while it is open: to copy what was just written is slow.
  var framePlace: UnsafeMutablePointer<DecodingFrame>
  /// The offsets of the fields found so far, outermost map first.
  var offsets = RawStack<Int>()
  /// The nested container that this is; nil for the record's value.
  var nested: Permanent<NestedDecoding>?

  init() {
    framePlace = .allocate(capacity: 1)
    framePlace.initialize(to: DecodingFrame())
  }

  /// The current frame, where it is.
  var frame: DecodingFrame {
    @inline(__always) unsafeAddress { UnsafePointer(framePlace) }
    @inline(__always) nonmutating unsafeMutableAddress { framePlace }
  }

  /// Leaves the open frames, and makes the first one, which is this input's own, that of a new value.
  mutating func restart(_ frame: DecodingFrame) {
    while let outer = framePlace.pointee.outer { framePlace = outer }
    framePlace.pointee = frame
  }
}

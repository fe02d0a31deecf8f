/// The frame that is being read, and the offsets of the fields of the open maps.
struct DecodingInput {
  /// The address of the current frame, which stays the same while the frame is open: copying what was just written is slow.
  var framePlace: UnsafeMutablePointer<DecodingFrame>
  /// The offsets of the fields found so far, outermost map first.
  var offsets = RawStack<Int>()

  init() {
    framePlace = .allocate(capacity: 1)
    framePlace.initialize(to: DecodingFrame())
  }
}

/// The frame that is being read, and where the fields of the open maps are.
struct DecodingInput {
  /// Where the current frame is. It stays there while it is open: to copy what was just written is slow.
  var framePlace: UnsafeMutablePointer<DecodingFrame>
  /// The offsets of the fields found so far, outermost map first.
  var offsets = RawStack<Int>()

  init() {
    framePlace = .allocate(capacity: 1)
    framePlace.initialize(to: DecodingFrame())
  }
}

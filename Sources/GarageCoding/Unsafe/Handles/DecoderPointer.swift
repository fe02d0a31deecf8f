/// The address of a decoder's state, and the only way to it; see ``EncoderPointer``.
struct DecoderPointer {
  fileprivate let address: UnsafeMutablePointer<DecoderState>

  /// Allocates room for a state, for the life of the process. ``keep(_:)`` has to follow.
  init() { address = .allocate(capacity: 1) }

  /// Puts the state into its place.
  func keep(_ state: DecoderState) { address.initialize(to: state) }
}

// MARK: - The value that is being read

extension DecoderPointer {
  var base: UnsafeRawPointer {
    @inline(__always) get { address.pointee.base }
    @inline(__always) nonmutating set { address.pointee.base = newValue }
  }

  var cursor: Int {
    @inline(__always) get { address.pointee.cursor }
    @inline(__always) nonmutating set { address.pointee.cursor = newValue }
  }

  /// Where the value began that was read last as a `Reference`.
  var lastReference: Int {
    @inline(__always) get { address.pointee.lastReference }
    @inline(__always) nonmutating set { address.pointee.lastReference = newValue }
  }

  /// The frame that is being read, and the offsets of the fields of the open maps.
  var input: DecodingInput {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.input) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.input) }
  }

  /// The frame that is being read.
  var frame: DecodingFrame {
    @inline(__always) unsafeAddress { UnsafePointer(address.pointee.input.framePlace) }
    @inline(__always) nonmutating unsafeMutableAddress { address.pointee.input.framePlace }
  }

  /// Makes a frame the current one. It stays where it is until ``popFrame()``.
  @inline(__always)
  func push(_ frame: DecodingFrame) { address.pointee.input.framePlace = address.pointee.frames.push(frame) }

  /// Makes the frame around the current one, which must exist, the current one. The nested containers of the current frame are
  /// removed.
  @inline(__always)
  func popFrame() {
    let place = address.pointee.input.framePlace
    address.pointee.frames.truncate(to: Int(place.pointee.position))
    address.pointee.input.framePlace = place.pointee.outer.unsafelyUnwrapped
  }

  /// The address of an open frame, by its position.
  @inline(__always)
  func openFrame(at position: Int) -> UnsafeMutablePointer<DecodingFrame> { address.pointee.frames[position] }

  /// The address of the current frame.
  var framePlace: UnsafeMutablePointer<DecodingFrame> {
    @inline(__always) get { address.pointee.input.framePlace }
    @inline(__always) nonmutating set { address.pointee.input.framePlace = newValue }
  }

  /// How many frames are open, not counting those that inputs keep themselves.
  @inline(__always)
  var openFrameCount: Int { address.pointee.frames.count }

  /// Removes the frames from `count` on.
  @inline(__always)
  func forgetFrames(from count: Int) { address.pointee.frames.truncate(to: count) }

  var depth: Int {
    @inline(__always) get { address.pointee.depth }
    @inline(__always) nonmutating set { address.pointee.depth = newValue }
  }

  var lastSerial: UInt64 {
    @inline(__always) get { address.pointee.lastSerial }
    @inline(__always) nonmutating set { address.pointee.lastSerial = newValue }
  }

  var serialBefore: UInt64 {
    @inline(__always) get { address.pointee.serialBefore }
    @inline(__always) nonmutating set { address.pointee.serialBefore = newValue }
  }
}

// MARK: - The records that are being decoded

extension DecoderPointer {
  var record: RecordContext {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.record) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.record) }
  }

  var references: RawStack<ReferenceEntry> {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.references) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.references) }
  }

  var shapes: RawStack<Permanent<Shape>> {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.shapes) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.shapes) }
  }

  var unpacked: RawStack<UnsafeMutableBufferPointer<UInt8>> {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.unpacked) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.unpacked) }
  }

  var failure: (any Error)? {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.failure) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.failure) }
  }

  var foreign: (any ForeignReading)? {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.foreign) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.foreign) }
  }
}

// MARK: - The rest of the decoder's state

extension DecoderPointer {
  @inline(__always)
  var core: DecodingCore { address.pointee.core.object }

  /// Runs `body` with the core, without counting references.
  @inline(__always)
  func withCore<R>(_ body: (DecodingCore) throws -> R) rethrows -> R { try address.pointee.core.with(body) }

  /// The walk through the graph for which records are fetched.
  @inline(__always)
  var walk: GraphWalk { address.pointee.walk.object }

  @inline(__always)
  var types: TypeFactsCache { address.pointee.types }

  @inline(__always)
  var boxes: ContainerBoxes { address.pointee.boxes }

  @inline(__always)
  var shortStrings: ShortStrings { address.pointee.shortStrings }

  @inline(__always)
  var shapeCache: ShapeCache { address.pointee.shapeCache }

  /// Room for one value on its way out of a function that is not generic.
  @inline(__always)
  var scratch: Scratch { address.pointee.scratch }
}

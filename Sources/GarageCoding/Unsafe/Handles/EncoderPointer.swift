/// The address of an encoder's state, and the only way to it.
///
/// The state is reached through properties that access its fields in place: nothing is copied, no reference is counted, and no
/// access is checked for exclusivity. That is sound for two reasons. One thread uses the state at a time. And the state is
/// never freed (``EncodingCore`` keeps it), so a container that user code kept too long finds living memory, and a serial that
/// is not its own.
struct EncoderPointer {
  fileprivate let address: UnsafeMutablePointer<EncoderState>

  /// Allocates room for a state, for the life of the process. ``keep(_:)`` has to follow.
  init() { address = .allocate(capacity: 1) }

  /// Puts the state into its place.
  func keep(_ state: EncoderState) { address.initialize(to: state) }
}

// MARK: - The value that is being written

extension EncoderPointer {
  /// The output that bytes go to now.
  var output: EncodingOutput {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.output) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.output) }
  }

  /// The frame that is being filled.
  var frame: EncodingFrame {
    @inline(__always) unsafeAddress { UnsafePointer(address.pointee.output.framePlace) }
    @inline(__always) nonmutating unsafeMutableAddress { address.pointee.output.framePlace }
  }

  /// The open frames of this output, the innermost first.
  var framesOutwards: some Sequence<EncodingFrame> {
    sequence(first: address.pointee.output.framePlace) { $0.pointee.outer }.lazy.map(\.pointee)
  }

  /// Makes a frame the current one. It stays where it is until ``popFrame()``.
  @inline(__always)
  func push(_ frame: EncodingFrame) {
    address.pointee.output.framePlace = address.pointee.frames.push(frame)
  }

  /// Makes the frame around the current one, which must exist, the current one.
  @inline(__always)
  func popFrame() {
    address.pointee.output.framePlace = address.pointee.output.framePlace.pointee.outer.unsafelyUnwrapped
    address.pointee.frames.pop()
  }

  /// How many frames are open, not counting those that outputs keep themselves.
  @inline(__always)
  var openFrameCount: Int { address.pointee.frames.count }

  /// The address of an open frame, by its position.
  @inline(__always)
  func openFrame(at position: Int) -> UnsafeMutablePointer<EncodingFrame> { address.pointee.frames[position] }

  /// Removes the open frames of all outputs.
  func forgetFrames() { address.pointee.frames.truncate(to: 0) }

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

// MARK: - How the value is written

extension EncoderPointer {
  var isCanonical: Bool {
    @inline(__always) get { address.pointee.isCanonical }
    @inline(__always) nonmutating set { address.pointee.isCanonical = newValue }
  }

  var hasComposed: Bool {
    @inline(__always) get { address.pointee.hasComposed }
    @inline(__always) nonmutating set { address.pointee.hasComposed = newValue }
  }

  var hasDateStrategy: Bool {
    @inline(__always) get { address.pointee.hasDateStrategy }
    @inline(__always) nonmutating set { address.pointee.hasDateStrategy = newValue }
  }

  var inlinesEverything: Bool {
    @inline(__always) get { address.pointee.inlinesEverything }
    @inline(__always) nonmutating set { address.pointee.inlinesEverything = newValue }
  }

  var namesClass: Bool {
    @inline(__always) get { address.pointee.namesClass }
    @inline(__always) nonmutating set { address.pointee.namesClass = newValue }
  }

  var failure: (any Error)? {
    @inline(__always) unsafeAddress { .place(of: &address.pointee.failure) }
    @inline(__always) nonmutating unsafeMutableAddress { .place(of: &address.pointee.failure) }
  }
}

// MARK: - The rest of the encoder's state

extension EncoderPointer {
  /// The graph whose records are being made, and the tables of the record under construction.
  var graph: GraphUnderConstruction {
    @inline(__always) unsafeAddress { UnsafePointer(address.pointee.graph) }
    @inline(__always) nonmutating unsafeMutableAddress { address.pointee.graph }
  }

  @inline(__always)
  var core: EncodingCore { address.pointee.core.object }

  /// Runs `body` with the core, without counting references.
  @inline(__always)
  func withCore<R>(_ body: (EncodingCore) throws -> R) rethrows -> R { try address.pointee.core.with(body) }

  @inline(__always)
  var types: TypeFactsCache { address.pointee.types }

  @inline(__always)
  var boxes: ContainerBoxes { address.pointee.boxes }

  @inline(__always)
  var shortStrings: ShortStrings { address.pointee.shortStrings }

  @inline(__always)
  var arrayElements: ArrayElements { address.pointee.arrayElements }
}

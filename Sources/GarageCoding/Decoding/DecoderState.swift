/// What a decoder knows at one moment, in memory of its own that ``DecoderPointer`` leads to; see ``EncoderState`` for why.
struct DecoderState {
  /// The bytes of the record being decoded. Lent: valid while that record is being decoded.
  var base: UnsafeRawPointer
  /// Where the next value is read.
  var cursor = 0
  /// Where the value began that was read last as a `Reference`.
  var lastReference = -1
  var input = DecodingInput()
  var record = RecordContext()
  var lastSerial: UInt64 = 0
  /// The last serial before the session that uses this state; see `EncoderState.serialBefore`.
  var serialBefore = UInt64.max
  /// How many values are open around the next one.
  var depth = 0
  /// The open frames of all records that are being decoded, except the first frame of each input, which the input keeps.
  var frames = PlaceStack<DecodingFrame>()
  let types = TypeFactsCache(ofEncoder: false)
  let boxes = ContainerBoxes()
  let shortStrings = ShortStrings()
  let scratch = Scratch()
  // The tables of the records that are being decoded, and what was made for them; the innermost's last.
  var references = RawStack<ReferenceEntry>()
  var shapes = RawStack<Permanent<Shape>>()
  var unpacked = RawStack<UnsafeMutableBufferPointer<UInt8>>()
  let shapeCache = ShapeCache()
  /// The first error that must not be lost, even where user code says `try?`.
  var failure: (any Error)?
  /// How values are read in records that were made from another library's JSON; nil for records of this library.
  var foreign: (any ForeignReading)?
  let core: Permanent<DecodingCore>
  /// The walk through the graph that records are fetched for.
  let walk: Permanent<GraphWalk>

  init(core: Permanent<DecodingCore>, walk: Permanent<GraphWalk>) {
    base = scratch.address
    self.core = core
    self.walk = walk
  }
}

/// One entry of a record's reference table.
struct ReferenceEntry {
  var kind: ReferenceKind
  /// The identity's hash, where it was asked for; else 0.
  var hash: UInt32
  /// Its number in the graph; -1 until somebody asks.
  var number: Int32
  var tag: UInt64
  var identifier: UnsafeRawBufferPointer
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
  /// How many frames were open before those of the record's values.
  var frameBase = 0
}

extension DecoderPointer {
  /// Gives memory back that only a record with long tables, or a map with very many fields, needed. Called when the coder is
  /// given back, while nothing is being decoded.
  ///
  /// Frames stay. A container that user code kept too long may look at one, on whatever thread.
  func giveMemoryBack() {
    input.offsets.removeAll(keeping: 4096)
    references.removeAll(keeping: 4096)
    shapes.removeAll(keeping: 4096)
    unpacked.removeAll(keeping: 1024)
  }
}

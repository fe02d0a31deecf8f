/// What an encoder knows at one moment, in memory of its own that ``EncoderPointer`` leads to.
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
  /// Whether text was written in another form than its own since this was last made false: composed.
  var hasComposed = false
  /// Whether dates are written in another form than their own.
  var hasDateStrategy = false
  /// Whether references stand inline by their own: inside an identifier nothing is a reference.
  var inlinesEverything = false
  /// Whether the next mapped object is of another class than its property, and has to name its class.
  var namesClass = false
  /// The first error that must not be lost, even where user code says `try?`.
  var failure: (any Error)?
  /// The frames that are open, outermost first, except the first frame of each output, which the output keeps.
  var frames = PlaceStack<EncodingFrame>()
  /// Where the graph stands whose records are being made.
  let graph: UnsafeMutablePointer<GraphUnderConstruction>
  let types = TypeFactsCache(ofEncoder: true)
  let boxes = ContainerBoxes()
  let shortStrings = ShortStrings()
  let arrayElements = ArrayElements()
  let core: Permanent<EncodingCore>
}

/// One value under construction: what one `encode(to:)` may write.
struct EncodingFrame {
  enum Kind: UInt8 { case empty, single, map, array }

  var serial: UInt64 = 0
  var kind = Kind.empty
  /// Whether it is a nested container, which somebody asked for by itself, and not a value.
  var isNested = false
  /// Whether a map's keys have come in the order in which the key type declares them, so that a shape can stand for them.
  var isOrdered = true
  var segmentCount: UInt8 = 0
  /// Where the value begins.
  var start = 0
  /// An array's elements; a map's keys in the current segment.
  var count = 0
  /// The key type of a map's current segment, and the shape of the segments before it.
  var keys: KeyTablePointer?
  var shape: Permanent<Shape>?
  /// The first of this map's entries in `EncodingOutput.entries`, and of its nested containers.
  var entryBase = 0
  var holeBase = 0
  /// Which child is being encoded, for coding paths.
  var child = PathStep.none

  /// How far it has come: what is restored when a field fails.
  struct Progress {
    var kind: Kind
    var isOrdered: Bool
    var segmentCount: UInt8
    var count: Int
    var keys: KeyTablePointer?
    var shape: Permanent<Shape>?
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
  /// For such a first frame: the nested container whose output it is.
  var owner: Permanent<NestedEncoding>?
}

/// One step of a coding path, as plain data: made into a `CodingKey` only when somebody asks.
enum PathStep {
  case none
  /// A key of an enum type, by discriminator.
  case byte(KeyTablePointer, UInt8)
  case index(Int)
  /// A key of any other type: its place in the core's list of such keys.
  case key(Int)
  /// A dictionary's key where it stands, which is a string or an integer.
  case text(UnsafeRawPointer)
  case number(UnsafeRawPointer)
}

/// Where things stood, to go back to when user code throws: `try?` is legal.
struct EncodingMark {
  var count: Int
  var frame: UnsafeMutablePointer<EncodingFrame>
  var progress: EncodingFrame.Progress
  var entryCount: Int
  var holeCount: Int
  var graph: GraphUnderConstruction.Mark
  var lastSerial: UInt64
}

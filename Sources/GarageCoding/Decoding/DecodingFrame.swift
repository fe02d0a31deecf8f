/// One value that is being decoded: the part of the record that one `init(from:)` may read, and how far it has come there.
struct DecodingFrame {
  enum Kind: UInt8 { case value, map, array }
  /// Whether a map may have the value of a field in another place if the shape has no value for that field: in an entry behind
  /// the shape's fields, or under the same key of a superclass.
  enum Elsewhere: UInt8 { case unknown, nothing, something }
  /// Whether the keys of all entries of a map are in composed form (NFC).
  enum Composition: UInt8 { case unknown, composed, other }
  /// Whether a container may be given of a value behind the version of its type, whether one was, and whether the value was then
  /// read as one of such a type.
  enum Look: UInt8 { case refused, allowed, taken, settled }

  /// The number that containers know their frame by. Frames that are opened later have larger ones.
  var serial: UInt64 = 0
  var kind = Kind.value
  var elsewhere = Elsewhere.unknown
  var composition = Composition.unknown
  var look = Look.refused
  /// Whether the frame is that of a nested container, which user code asked for, and not that of a value that is being decoded.
  var isNested = false
  /// The place of the frame among the open ones, and the nesting depth of its value.
  var position: Int32 = 0
  var depth: Int32 = 0
  /// Where the value begins, and where the bytes end that are read as its content. The content may stand in another place than
  /// the value: a packed array is first written out element by element, and in place of a reference the object may be read that
  /// it refers to.
  var start = 0
  var end = 0
  /// The end of the value itself.
  var valueEnd = 0
  /// The offset of the first field or element.
  var content = 0
  /// The shape of a map, and the number of its fields. Entries follow them, up to `end`.
  var shape: Permanent<Shape>?
  var shapedCount = 0
  /// The key type that was asked for last, which is checked at each look-up: a superclass has another. If one byte tells its
  /// keys apart, `fields` are those of its keys.
  var keys: KeyTablePointer?
  var fields: FieldMap?
  /// The field or element that begins at `nextOffset`; -1 if that is not known, as after an error.
  var next = 0
  var nextOffset = 0
  /// The field or element that is being read, and the offset of its key if it is an entry. Coding paths are made from these.
  var current = -1
  var currentKey = 0
  /// The number of elements of an array.
  var count = 0
  /// The place in `DecodingInput.offsets` where the offsets of this map's fields and entries begin, and how many of them are
  /// known.
  var indexBase = 0
  var indexCount = 0
  /// How many offsets there were when the frame was opened. Those that were added since are dropped when it is left.
  var offsetBase = 0
  /// For a nested container: the field or element of the outer frame that it was made for, copied from that frame's `current`
  /// and `currentKey`, which may have changed since.
  var step = 0
  var stepKey = 0
  /// For a nested container: the position of the value that was being decoded when user code asked for it.
  var valuePosition: Int32 = 0
  /// The frame around this one in the same record; nil for the outermost one.
  var outer: UnsafeMutablePointer<DecodingFrame>?
}

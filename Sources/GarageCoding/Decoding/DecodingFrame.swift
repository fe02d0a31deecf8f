/// One value being read: what one `init(from:)` may look at.
struct DecodingFrame {
  enum Kind: UInt8 { case value, map, array }
  /// Whether something may stand elsewhere in a map for a field that is absent in its shape.
  enum Elsewhere: UInt8 { case unknown, nothing, something }
  /// Whether keys of a map's entries are in composed form.
  enum Composition: UInt8 { case unknown, composed, other }

  var serial: UInt64 = 0
  var kind = Kind.value
  var elsewhere = Elsewhere.unknown
  var composition = Composition.unknown
  /// Whether it is a nested container, which somebody asked for by itself, and not a value.
  var isNested = false
  /// Its place among the open frames, and how deep its value stands.
  var position: Int32 = 0
  var depth: Int32 = 0
  /// The value's bounds.
  var start = 0
  var end = 0
  /// The end of the value as it was measured; `end` is that of the content being read.
  var valueEnd = 0
  /// The first field's or element's offset.
  var content = 0
  /// A map's shape and how many fields it has; entries follow up to `end`.
  var shape: Permanent<Shape>?
  var shapedCount = 0
  /// The key type whose `fields` these are. Checked at each look-up: a superclass has another.
  var keys: KeyTablePointer?
  var fields: FieldMap?
  /// The field or element that begins at `nextOffset`; -1 where that is not known, after an error.
  var next = 0
  var nextOffset = 0
  /// The field or element that is being read, and where the key of an entry begins: for coding paths.
  var current = -1
  var currentKey = 0
  /// An array's element count.
  var count = 0
  /// Where this map's offsets are in `DecodingInput.offsets`, and how many are known.
  var indexBase = 0
  var indexCount = 0
  /// How many offsets of others there were when it was opened.
  var offsetBase = 0
  /// Of a nested container: which field or element of the frame around it this is, as that frame's `current` and `currentKey`
  /// were. That frame may have gone on since.
  var step = 0
  var stepKey = 0
  /// Of a nested container: the position of the value that was being decoded when it was asked for.
  var valuePosition: Int32 = 0
  /// The frame around this one in its record; nil for the first.
  var outer: UnsafeMutablePointer<DecodingFrame>?
}

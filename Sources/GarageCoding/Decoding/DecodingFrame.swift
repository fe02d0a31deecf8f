/// One value being read: what one `init(from:)` may look at.
struct DecodingFrame {
  enum Kind: UInt8 { case value, map, array }

  var serial: UInt64 = 0
  var kind = Kind.value
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
  /// The frame around this one in its record or nested container; nil for the first.
  var outer: UnsafeMutablePointer<DecodingFrame>?
}

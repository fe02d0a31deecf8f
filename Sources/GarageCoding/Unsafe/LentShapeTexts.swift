/// What knows texts of shapes, as long as whoever lends it holds it.
struct LentShapeTexts {
  // Invariant: it is only in a record's view, and `FieldRecord.with` holds the object as long as it lends one.
  unowned(unsafe) let texts: (any ShapeTexts)?

  init(_ texts: (any ShapeTexts)?) { self.texts = texts }
}

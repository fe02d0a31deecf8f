/// An unretained reference to an object that has the texts of shapes. It is valid as long as the lender holds the object.
struct LentShapeTexts {
  // Invariant: it is only in a record's view, and `FieldRecord.with` holds the object as long as it lends one.
  unowned(unsafe) let texts: (any ShapeTexts)?

  init(_ texts: (any ShapeTexts)?) { self.texts = texts }
}

extension FieldRecord {
  /// Visits the references of the record, in the order of its table: the digest of the tag, and the whole identifier. An object
  /// that is referred to in several ways is visited once for each.
  package func forEachReference(
    _ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try parsed.forEachReference(visit)
  }

  /// Whether it refers to anything.
  package var refersToOthers: Bool { parsed.references != nil }

  /// Whether both are of one class and their tables of references are the same.
  package func hasSameReferences(as other: FieldRecord) -> Bool {
    if concreteTag != other.concreteTag { return false }
    switch (parsed.references, other.parsed.references) {
    case (nil, nil): return true
    case (let own?, let others?): return compareBytes(parsed.bytes(own), other.parsed.bytes(others)) == 0
    default: return false
    }
  }
}

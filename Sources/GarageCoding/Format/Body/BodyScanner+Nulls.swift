extension BodyScanner {
  /// Whether the value of a canonical body is a null or contains one. The bytes alone do not tell, because bytes of numbers and
  /// texts may look the same.
  ///
  /// - Throws: if it cannot be told.
  static func holdsNull(_ base: UnsafeRawPointer, _ offset: Int, end: Int, depth: Int = 0) throws -> Bool {
    let next = try skipValue(base, offset, end: end)
    switch base.byte(at: offset) {
    case BodyTag.null: return true
    case BodyTag.mapSmall, BodyTag.mapLarge:
      let map = try ContainerHeader.read(
        base, offset, end: next, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
      guard let map, map.second == 0 else { throw unlikeCanonical(offset) }
      return try holdsNull(in: map, base, depth: depth) { _ = try readKey(base, &$0, end: map.end) }
    case BodyTag.arraySmall, BodyTag.arrayLarge:
      let array = try ContainerHeader.read(
        base, offset, end: next, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
      guard let array else { throw unlikeCanonical(offset) }
      return try holdsNull(in: array, base, depth: depth) { _ in }
    case BodyTag.canonicalReference, BodyTag.syncStatus, BodyTag.versioned:
      throw unlikeCanonical(offset)
    default: return false
    }
  }

  /// - Parameter skipKey: moves over the bytes in front of each value.
  private static func holdsNull(
    in container: ContainerHeader, _ base: UnsafeRawPointer, depth: Int, _ skipKey: (inout Int) throws -> Void
  ) throws -> Bool {
    guard depth < RecordFormat.maximumDepth, StackLimit.hasRoom else {
      throw GraphCodingError.nestingTooDeep(depth: depth)
    }
    var at = container.content
    while at < container.end {
      try skipKey(&at)
      if try holdsNull(base, at, end: container.end, depth: depth + 1) { return true }
      at = try skipValue(base, at, end: container.end)
    }
    return false
  }

  private static func unlikeCanonical(_ offset: Int) -> DamagedBytes {
    DamagedBytes(reason: "a value is none of a canonical body's plain ones", offset: offset)
  }
}

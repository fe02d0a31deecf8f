/// Checks a body to its last byte against the format, without making values of it.
///
/// It finds all damage that ``BodyReader`` would stumble over, at many times its speed, because no value is made.
struct BodyVerifier {
  let base: UnsafeRawPointer
  /// How many keys the shapes in the record's table have, in its order.
  let shapeKeyCounts: [Int]
  /// How many entries the record's reference table has.
  let referenceCount: Int

  /// Goes through the value that begins at `offset`, which has to end at `end`.
  ///
  /// - Throws: `DamagedBytes`, and ``GraphCodingError/nestingTooDeep(depth:)``.
  func verify(_ offset: Int, end: Int) throws {
    var at = offset
    try verifyValue(&at, end, depth: 0)
    if at != end { throw DamagedBytes(reason: "bytes are left over behind the value", offset: at) }
  }

  private func verifyValue(_ at: inout Int, _ end: Int, depth: Int) throws {
    guard depth <= RecordFormat.maximumDepth else { throw GraphCodingError.nestingTooDeep(depth: depth) }
    let start = at
    at = try BodyScanner.skipValue(base, start, end: end)
    let tag = base.load(fromByteOffset: start, as: UInt8.self)
    switch tag {
    case BodyTag.smallInteger..<BodyTag.shortString: break
    case BodyTag.shortString..<BodyTag.smallReference: try verifyText((start + 1)..<at)
    case BodyTag.smallReference...: try verifyReference(Int(tag & 0x1F), start)
    case BodyTag.decimal: try verifyDecimal((start + 2)..<at)
    case BodyTag.string8: try verifyText((start + 2)..<at)
    case BodyTag.string32: try verifyText((start + 5)..<at)
    case BodyTag.mapSmall, BodyTag.mapLarge:
      try checkStack(depth)
      try verifyMap(start, at, depth)
    case BodyTag.arraySmall, BodyTag.arrayLarge:
      try checkStack(depth)
      try verifyArray(start, at, depth)
    case BodyTag.packedSmall, BodyTag.packedLarge: try verifyPacked(start, at)
    case BodyTag.reference8:
      try verifyReference(Int(BodyScanner.loadNumber(base, start + 1, width: 1, end: at)), start)
    case BodyTag.reference32:
      try verifyReference(Int(BodyScanner.loadNumber(base, start + 1, width: 4, end: at)), start)
    case BodyTag.syncStatus, BodyTag.versioned:
      try checkStack(depth)
      if tag == BodyTag.syncStatus { _ = try InlinePrefix.readSyncStatus(base, start, end: at) }
      var content = try InlinePrefix.skip(base, start, end: at)
      try verifyValue(&content, at, depth: depth + 1)
    case BodyTag.canonicalReference:
      throw DamagedBytes(reason: "a reference stands outside of the table", offset: start)
    default: break
    }
  }

  /// What has values inside needs a stack for them.
  private func checkStack(_ depth: Int) throws {
    guard StackLimit.hasRoom else { throw GraphCodingError.nestingTooDeep(depth: depth) }
  }

  // MARK: - Containers

  private func verifyMap(_ start: Int, _ end: Int, _ depth: Int) throws {
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else { throw DamagedBytes.unknownTag(0, start) }
    var at = header.content
    if header.second > 0 {
      guard header.second <= shapeKeyCounts.count else {
        throw DamagedBytes(reason: "shape \(header.second - 1) is not in the record's table", offset: start)
      }
      for _ in 0..<shapeKeyCounts[header.second - 1] {
        guard at < header.end else { throw DamagedBytes(reason: "a map ends before its fields", offset: at) }
        try verifyValue(&at, header.end, depth: depth + 1)
      }
    }
    var last: Range<Int>?
    while at < header.end {
      let key = try BodyScanner.readKey(base, &at, end: header.end)
      try verifyText(key)
      if let last, compareBytes(bytes(last), bytes(key)) >= 0 {
        throw DamagedBytes(reason: "the entries of a map are not in order", offset: key.lowerBound)
      }
      last = key
      try verifyValue(&at, header.end, depth: depth + 1)
    }
  }

  private func verifyArray(_ start: Int, _ end: Int, _ depth: Int) throws {
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
    else { throw DamagedBytes.unknownTag(0, start) }
    guard header.second <= header.end - header.content else {
      throw DamagedBytes(reason: "an array counts more elements than it has bytes", offset: start)
    }
    var at = header.content
    for _ in 0..<header.second { try verifyValue(&at, header.end, depth: depth + 1) }
    if at != header.end {
      throw DamagedBytes(reason: "an array has more elements than it counts", offset: at)
    }
  }

  private func verifyPacked(_ start: Int, _ end: Int) throws {
    guard var array = try PackedArray(base, start, end: end) else { throw DamagedBytes.unknownTag(0, start) }
    switch array.kind {
    case .string: for _ in 0..<array.count { try verifyText(try array.next()) }
    case .bool:
      for _ in 0..<array.count {
        let at = try array.next().lowerBound
        guard array.load(at, as: UInt8.self) <= 1 else {
          throw DamagedBytes(reason: "a truth value is neither true nor false", offset: at)
        }
      }
    default: return
    }
    if array.offset != array.end {
      throw DamagedBytes(reason: "an array has more elements than it counts", offset: array.offset)
    }
  }

  // MARK: - What has no values inside

  private func verifyReference(_ index: Int, _ start: Int) throws {
    guard index < referenceCount else {
      throw DamagedBytes(reason: "reference \(index) is not in the record's table", offset: start)
    }
  }

  private func verifyText(_ range: Range<Int>) throws {
    guard bytes(range).isUTF8 else {
      throw DamagedBytes(reason: "a string is not UTF-8", offset: range.lowerBound)
    }
  }

  private func verifyDecimal(_ range: Range<Int>) throws {
    try verifyText(range)
    guard DecimalText.number(String(decoding: bytes(range), as: UTF8.self)) != nil else {
      throw DamagedBytes(reason: "a decimal is no number", offset: range.lowerBound)
    }
  }

  private func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }
}

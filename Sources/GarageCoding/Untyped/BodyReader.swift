#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads any body into a tree, without a Swift type.
struct BodyReader {
  let base: UnsafeRawPointer
  /// The shape, and the reference, at a place in the record's tables.
  let shape: (Int) throws -> Permanent<Shape>
  let reference: (Int) throws -> (RecordIdentity, ReferenceKind)

  /// The value that begins at `offset`.
  func value(at offset: Int, end: Int) throws -> RecordValue {
    var at = offset
    return try read(&at, end, depth: 0)
  }

  private func read(_ at: inout Int, _ end: Int, depth: Int) throws -> RecordValue {
    guard depth <= RecordFormat.maximumDepth, StackLimit.hasRoom else {
      throw GraphCodingError.nestingTooDeep(depth: depth)
    }
    let start = at
    at = try BodyScanner.skipValue(base, start, end: end)
    let tag = base.load(fromByteOffset: start, as: UInt8.self)
    switch tag {
    case BodyTag.smallInteger..<BodyTag.shortString: return .integer(Int64(tag & 0x3F))
    case BodyTag.shortString..<BodyTag.smallReference: return .string(try text((start + 1)..<at))
    case BodyTag.absent, BodyTag.null: return .null
    case BodyTag.false: return .bool(false)
    case BodyTag.true: return .bool(true)
    case BodyTag.int8...BodyTag.uint128: return integer(tag, start + 1)
    case BodyTag.float: return .float(Float(bitPattern: UInt32(littleEndian: load(start + 1))))
    case BodyTag.double: return .double(double(start + 1))
    case BodyTag.date: return .date(Date(timeIntervalSinceReferenceDate: double(start + 1)))
    case BodyTag.uuid: return .uuid(UUID(uuid: load(start + 1)))
    case BodyTag.decimal: return .decimal(try decimal((start + 2)..<at))
    case BodyTag.data8: return .data(Data(bytes((start + 2)..<at)))
    case BodyTag.data32: return .data(Data(bytes((start + 5)..<at)))
    case BodyTag.string8: return .string(try text((start + 2)..<at))
    case BodyTag.string32: return .string(try text((start + 5)..<at))
    case BodyTag.mapSmall, BodyTag.mapLarge: return try map(start, at, depth)
    case BodyTag.arraySmall, BodyTag.arrayLarge: return try array(start, at, depth)
    case BodyTag.packedSmall, BodyTag.packedLarge: return try packed(start, at)
    case BodyTag.versioned:
      var (version, content) = try InlinePrefix.readVersion(base, start, end: at)
      return .versioned(version, try read(&content, at, depth: depth + 1))
    case BodyTag.syncStatus:
      var (status, content) = try InlinePrefix.readSyncStatus(base, start, end: at)
      return .withSyncStatus(status, try read(&content, at, depth: depth + 1))
    case BodyTag.canonicalReference: return try canonicalReference(start, at)
    case BodyTag.reference8, BodyTag.reference32, BodyTag.smallReference...: return try referenced(tag, start)
    default: throw DamagedBytes.unknownTag(tag, start)
    }
  }

  // MARK: - Containers

  private func map(_ start: Int, _ end: Int, _ depth: Int) throws -> RecordValue {
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else {
      throw DamagedBytes.unknownTag(0, start)
    }
    var fields = RecordFields()
    var at = header.content
    if header.second > 0 {
      let shape = try shape(header.second - 1).object
      fields = RecordFields(shapedKeys: shape.keys)
      for key in shape.keys {
        guard at < header.end else { throw DamagedBytes(reason: "a map ends before its fields", offset: at) }
        if base.load(fromByteOffset: at, as: UInt8.self) == BodyTag.absent {
          at += 1
        } else {
          fields.add(key, try read(&at, header.end, depth: depth + 1))
        }
      }
    }
    while at < header.end {
      let key = try BodyScanner.readKey(base, &at, end: header.end)
      fields.add(
        String(decoding: bytes(key), as: UTF8.self), try read(&at, header.end, depth: depth + 1))
    }
    return .map(fields)
  }

  private func array(_ start: Int, _ end: Int, _ depth: Int) throws -> RecordValue {
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
    else { throw DamagedBytes.unknownTag(0, start) }
    guard header.second <= header.end - header.content else {
      throw DamagedBytes(reason: "an array counts more elements than it has bytes", offset: start)
    }
    var at = header.content
    var elements: [RecordValue] = []
    elements.reserveCapacity(header.second)
    for _ in 0..<header.second { elements.append(try read(&at, header.end, depth: depth + 1)) }
    return .array(elements)
  }

  private func packed(_ start: Int, _ end: Int) throws -> RecordValue {
    guard var array = try PackedArray(base, start, end: end) else { throw DamagedBytes.unknownTag(0, start) }
    var elements: [RecordValue] = []
    elements.reserveCapacity(array.count)
    for _ in 0..<array.count {
      let range = try array.next()
      let at = range.lowerBound
      switch array.kind {
      case .string: elements.append(.string(try text(range)))
      case .date: elements.append(.date(Date(timeIntervalSinceReferenceDate: array.double(at))))
      case .double: elements.append(.double(array.double(at)))
      case .float:
        elements.append(.float(Float(bitPattern: UInt32(littleEndian: array.load(at, as: UInt32.self)))))
      case .bool: elements.append(.bool(array.load(at, as: UInt8.self) != 0))
      case .int8, .int16, .int32, .int64, .uint64, .uint8:
        elements.append(RecordValue(integer: array.integer(at) ?? 0))
      }
    }
    return .array(elements)
  }

  /// Whether the map at `offset` has one of these keys, or its `super` has one.
  ///
  /// - Parameter countsAbsent: whether a key of its shape without a value counts.
  func hasField(_ keys: [String], countsAbsent: Bool, at offset: Int, end: Int) throws -> Bool {
    guard
      let header = try ContainerHeader.read(
        base, offset, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else { return false }
    var at = header.content
    func isWanted(_ key: String) throws -> Bool {
      let isAbsent =
        try BodyScanner.skipValue(base, at, end: header.end) == at + 1
        && base.load(fromByteOffset: at, as: UInt8.self) == BodyTag.absent
      if isAbsent { return countsAbsent && keys.contains(key) }
      if keys.contains(key) { return true }
      return try key == PathKey.super.stringValue && StackLimit.hasRoom
        && hasField(keys, countsAbsent: countsAbsent, at: at, end: header.end)
    }
    if header.second > 0 {
      for key in try shape(header.second - 1).object.keys {
        if try isWanted(key) { return true }
        at = try BodyScanner.skipValue(base, at, end: header.end)
      }
    }
    while at < header.end {
      let key = try BodyScanner.readKey(base, &at, end: header.end)
      if try isWanted(String(decoding: bytes(key), as: UTF8.self)) { return true }
      at = try BodyScanner.skipValue(base, at, end: header.end)
    }
    return false
  }

  // MARK: - References

  private func referenced(_ tag: UInt8, _ start: Int) throws -> RecordValue {
    let index: Int =
      switch tag {
      case BodyTag.reference8: Int(load(start + 1) as UInt8)
      case BodyTag.reference32: Int(UInt32(littleEndian: load(start + 1)))
      default: Int(tag & 0x1F)
      }
    let (identity, kind) = try reference(index)
    return .reference(identity, kind)
  }

  private func canonicalReference(_ start: Int, _ end: Int) throws -> RecordValue {
    var at = start + 9
    let identifier = Identifier(unchecked: Array(bytes(try ParsedRecord.readIdentifier(base, &at, end: end))))
    let tag = UInt64(bigEndian: load(start + 1))
    return .reference(RecordIdentity(tag: tag, identifier: identifier), .eager)
  }

  // MARK: - Plain values, whose bytes are known to be there

  private func load<T: BitwiseCopyable>(_ at: Int) -> T { base.loadUnaligned(fromByteOffset: at, as: T.self) }

  private func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  private func double(_ at: Int) -> Double { Double(bitPattern: UInt64(littleEndian: load(at))) }

  private func text(_ range: Range<Int>) throws -> String {
    guard let text = String(validating: bytes(range), as: UTF8.self) else {
      throw DamagedBytes(reason: "a string is not UTF-8", offset: range.lowerBound)
    }
    return text
  }

  private func decimal(_ range: Range<Int>) throws -> Decimal {
    guard let number = DecimalText.number(try text(range)) else {
      throw DamagedBytes(reason: "a decimal is no number", offset: range.lowerBound)
    }
    return number
  }

  private func integer(_ tag: UInt8, _ at: Int) -> RecordValue {
    switch tag {
    case BodyTag.int8: .integer(Int64(load(at) as Int8))
    case BodyTag.int16: .integer(Int64(Int16(littleEndian: load(at))))
    case BodyTag.int32: .integer(Int64(Int32(littleEndian: load(at))))
    case BodyTag.int64: .integer(Int64(littleEndian: load(at)))
    case BodyTag.uint64: RecordValue(integer: UInt64(littleEndian: load(at)))
    case BodyTag.int128: RecordValue(integer: Int128(truncatingIfNeeded: integer128(at)))
    default: RecordValue(integer: integer128(at))
    }
  }

  private func integer128(_ at: Int) -> UInt128 {
    UInt128(UInt64(littleEndian: load(at + 8))) << 64 | UInt128(UInt64(littleEndian: load(at)))
  }
}

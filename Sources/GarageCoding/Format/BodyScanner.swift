/// Why bytes are no body. Becomes ``GraphCodingError/corrupt(type:identifier:reason:)`` where the record is known.
struct DamagedBody: Error {
  var reason: String
  var offset: Int
}

/// Where a container's content begins and ends, and the second number of its header: an array's count, a
/// map's shape index plus one, a packed array's element kind.
struct ContainerHeader {
  var content: Int
  var end: Int
  var second: Int
}

/// Finds the bounds of values without knowing their types. Every length is checked against what is there
/// before it is used, as a 64-bit number.
///
/// ```
/// | tag | nothing, a fixed number of bytes, or length and that many bytes |
/// ```
@inline(__always)
func skipValue(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws -> Int {
  guard offset < end else { throw DamagedBody(reason: "a value begins behind the end", offset: offset) }
  let tag = base.load(fromByteOffset: offset, as: UInt8.self)
  let next: Int
  if tag >= BodyTag.smallInteger {
    switch tag {
    case BodyTag.smallInteger..<BodyTag.shortString: next = offset &+ 1
    case BodyTag.shortString..<BodyTag.smallReference: next = offset &+ 1 &+ Int(tag & 0x3F)
    case BodyTag.smallReference..<0xE0: next = offset &+ 1
    default: throw unknownTag(tag, offset)
    }
  } else {
    next = offset &+ 1 &+ (try payloadByteCount(tag, base, offset, end))
  }
  guard next <= end else { throw DamagedBody(reason: "a value goes beyond the end", offset: offset) }
  return next
}

func unknownTag(_ tag: UInt8, _ offset: Int) -> DamagedBody {
  DamagedBody(reason: "there is no value with the first byte \(tag)", offset: offset)
}

/// How many bytes follow a tag below 0x40.
private func payloadByteCount(_ tag: UInt8, _ base: UnsafeRawPointer, _ offset: Int, _ end: Int) throws -> Int
{
  switch tag {
  case BodyTag.absent, BodyTag.null, BodyTag.false, BodyTag.true: 0
  case BodyTag.int8, BodyTag.reference8: 1
  case BodyTag.int16: 2
  case BodyTag.int32, BodyTag.float, BodyTag.reference32: 4
  case BodyTag.int64, BodyTag.uint64, BodyTag.double, BodyTag.date: 8
  case BodyTag.int128, BodyTag.uint128, BodyTag.uuid: 16
  case BodyTag.decimal, BodyTag.data8, BodyTag.string8:
    1 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
  case BodyTag.data32, BodyTag.string32: 4 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
  case BodyTag.mapSmall, BodyTag.arraySmall, BodyTag.packedSmall:
    2 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
  case BodyTag.mapLarge, BodyTag.arrayLarge, BodyTag.packedLarge:
    8 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
  case BodyTag.canonicalReference: try canonicalReferenceByteCount(base, offset, end)
  case BodyTag.syncStatus, BodyTag.versioned:
    try skipValue(base, skipPrefixes(base, offset, end), end: end) - offset - 1
  default: throw unknownTag(tag, offset)
  }
}

/// Where the value at `offset` begins, not counting the sync status that may stand before it.
func skipSyncStatus(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> Int {
  var at = offset
  while at < end, base.load(fromByteOffset: at, as: UInt8.self) == BodyTag.syncStatus { at += 2 }
  return at
}

private func canonicalReferenceByteCount(_ base: UnsafeRawPointer, _ offset: Int, _ end: Int) throws -> Int {
  var at = offset + 9
  let length = try readVarint(base, &at, end: end)
  return at - offset - 1 + length
}

/// Where the value behind sync statuses and versions begins. A loop, so that however many take no stack.
func skipPrefixes(_ base: UnsafeRawPointer, _ offset: Int, _ end: Int) throws -> Int {
  var at = offset
  while at < end {
    switch base.load(fromByteOffset: at, as: UInt8.self) {
    case BodyTag.syncStatus: at += 2
    case BodyTag.versioned: at = try readVersion(base, at, end: end).content
    default: return at
    }
  }
  return at
}

/// Reads the version that begins at `offset`, and where its value does.
func readVersion(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws -> (version: Int, content: Int) {
  var at = offset + 1
  let version = try readVarint(base, &at, end: end)
  // Each would take a frame of the stack.
  guard at < end, base.load(fromByteOffset: at, as: UInt8.self) != BodyTag.versioned else {
    throw DamagedBody(reason: "a version has no value", offset: offset)
  }
  return (version, at)
}

@inline(__always)
func loadNumber(_ base: UnsafeRawPointer, _ offset: Int, width: Int, end: Int) throws -> UInt32 {
  guard offset &+ width <= end else { throw DamagedBody(reason: "a length is cut", offset: offset) }
  return width == 1
    ? UInt32(base.load(fromByteOffset: offset, as: UInt8.self))
    : UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
}

/// Reads a varint that counts bytes or entries which must still fit before `end`.
@inline(__always)
func readVarint(_ base: UnsafeRawPointer, _ offset: inout Int, end: Int) throws -> Int {
  guard offset < end else { throw DamagedBody(reason: "a number is cut", offset: offset) }
  let first = base.load(fromByteOffset: offset, as: UInt8.self)
  if first < 0x80 {
    offset &+= 1
    return Int(first)
  }
  return try readLongVarint(base, &offset, end: end)
}

private func readLongVarint(_ base: UnsafeRawPointer, _ offset: inout Int, end: Int) throws -> Int {
  let start = offset
  var result: UInt64 = 0
  var shift: UInt64 = 0
  while offset < end, shift < 56 {
    let byte = base.load(fromByteOffset: offset, as: UInt8.self)
    offset += 1
    result |= UInt64(byte & 0x7F) << shift
    if byte < 0x80 { return Int(result) }
    shift += 7
  }
  throw DamagedBody(reason: "a number is cut or too large", offset: start)
}

/// Reads the header of a container whose tag is `small` or `large`; nil for any other value.
@inline(__always)
func readHeader(
  _ base: UnsafeRawPointer, _ offset: Int, end: Int, small: UInt8, large: UInt8
) throws -> ContainerHeader? {
  guard offset < end else { throw DamagedBody(reason: "a value begins behind the end", offset: offset) }
  let tag = base.load(fromByteOffset: offset, as: UInt8.self)
  let header: ContainerHeader
  if tag == small {
    guard offset &+ 3 <= end else { throw DamagedBody(reason: "a header is cut", offset: offset) }
    let length = Int(base.load(fromByteOffset: offset &+ 1, as: UInt8.self))
    let second = Int(base.load(fromByteOffset: offset &+ 2, as: UInt8.self))
    header = ContainerHeader(content: offset &+ 3, end: offset &+ 3 &+ length, second: second)
  } else if tag == large {
    let length = Int(try loadNumber(base, offset + 1, width: 4, end: end))
    let second = Int(try loadNumber(base, offset + 5, width: 4, end: end))
    header = ContainerHeader(content: offset + 9, end: offset + 9 + length, second: second)
  } else {
    return nil
  }
  guard header.end <= end else {
    throw DamagedBody(reason: "a container goes beyond the end", offset: offset)
  }
  return header
}

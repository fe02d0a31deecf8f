/// A packed array in a record's bytes.
struct PackedArray {
  let base: UnsafeRawPointer
  let kind: PackedKind
  let count: Int
  /// Where the next element begins, and where the last one ends.
  private(set) var offset: Int
  let end: Int

  /// Reads the array at `offset`; nil if another value begins there.
  init?(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws {
    guard
      let header = try ContainerHeader.read(
        base, offset, end: end, small: BodyTag.packedSmall, large: BodyTag.packedLarge)
    else { return nil }
    guard let kind = PackedKind(rawValue: UInt8(truncatingIfNeeded: header.second)), header.second < 256
    else {
      throw DamagedBytes(reason: "there is no packed array of kind \(header.second)", offset: offset)
    }
    self.base = base
    self.kind = kind
    self.end = header.end
    self.offset = header.content
    if kind == .string {
      count = try Varint.read(base, &self.offset, end: header.end)
      // Each string takes at least one byte.
      guard count <= header.end - self.offset else {
        throw DamagedBytes(reason: "an array counts more strings than it has bytes", offset: offset)
      }
    } else {
      guard (header.end - header.content) % kind.width == 0 else {
        throw DamagedBytes(reason: "a packed array ends inside an element", offset: offset)
      }
      count = (header.end - header.content) / kind.width
    }
  }

  /// The bounds of the next element: of a string's UTF-8, or of the fixed-width bytes.
  mutating func next() throws -> Range<Int> {
    let start: Int
    let stop: Int
    if kind == .string {
      var at = offset
      let length = try Varint.read(base, &at, end: end)
      start = at
      stop = at + length
    } else {
      start = offset
      stop = offset + kind.width
    }
    guard stop <= end else { throw DamagedBytes(reason: "an element goes beyond its array", offset: offset) }
    offset = stop
    return start..<stop
  }

  func load<T: BitwiseCopyable>(_ at: Int, as type: T.Type) -> T {
    base.bits(at: at, as: type)
  }

  /// The integer at `at`, of any width.
  func integer(_ at: Int) -> Int128? {
    switch kind {
    case .int8: Int128(load(at, as: Int8.self))
    case .uint8: Int128(load(at, as: UInt8.self))
    case .int16: Int128(Int16(littleEndian: load(at, as: Int16.self)))
    case .int32: Int128(Int32(littleEndian: load(at, as: Int32.self)))
    case .int64: Int128(Int64(littleEndian: load(at, as: Int64.self)))
    case .uint64: Int128(UInt64(littleEndian: load(at, as: UInt64.self)))
    case .string, .date, .float, .double, .bool: nil
    }
  }
}

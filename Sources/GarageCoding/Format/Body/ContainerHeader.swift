/// Where a container's content begins and ends, and the second number of its header: an array's count, a
/// map's shape index plus one, a packed array's element kind.
///
/// ```
/// small | tag | length 1 | second 1 |
/// large | tag | length 4 | second 4 |
/// ```
struct ContainerHeader {
  var content: Int
  var end: Int
  var second: Int

  /// Reads the header of a container whose tag is `small` or `large`; nil for any other value.
  @inline(__always)
  static func read(
    _ base: UnsafeRawPointer, _ offset: Int, end: Int, small: UInt8, large: UInt8
  ) throws -> ContainerHeader? {
    guard offset < end else { throw DamagedBytes(reason: "a value begins behind the end", offset: offset) }
    let tag = base.load(fromByteOffset: offset, as: UInt8.self)
    let header: ContainerHeader
    if tag == small {
      guard offset &+ 3 <= end else { throw DamagedBytes(reason: "a header is cut", offset: offset) }
      let length = Int(base.load(fromByteOffset: offset &+ 1, as: UInt8.self))
      let second = Int(base.load(fromByteOffset: offset &+ 2, as: UInt8.self))
      header = ContainerHeader(content: offset &+ 3, end: offset &+ 3 &+ length, second: second)
    } else if tag == large {
      let length = Int(try BodyScanner.loadNumber(base, offset + 1, width: 4, end: end))
      let second = Int(try BodyScanner.loadNumber(base, offset + 5, width: 4, end: end))
      header = ContainerHeader(content: offset + 9, end: offset + 9 + length, second: second)
    } else {
      return nil
    }
    guard header.end <= end else {
      throw DamagedBytes(reason: "a container goes beyond the end", offset: offset)
    }
    return header
  }
}

/// The digests of the shapes in a record. The record's maps name shapes by their places in this table.
///
/// ```
/// | varint s | s digests of 8 bytes |
/// ```
enum ShapeTable {
  static func write(_ shapes: UnsafeMutableBufferPointer<Permanent<Shape>>, to bytes: inout ByteArena) {
    bytes.append(varint: shapes.count)
    for shape in shapes { bytes.append(digest: shape.with { $0.digest }) }
  }

  /// Finds the bounds of the table at `at`, and moves `at` behind the table.
  @inline(__always)
  static func skip(_ base: UnsafeRawPointer, _ at: inout Int, end: Int) throws -> Range<Int> {
    let start = at
    let count = try Varint.read(base, &at, end: end)
    guard count <= (end - at) / 8 else {
      throw DamagedBytes(reason: "its table of shapes is cut", offset: at)
    }
    at += count * 8
    return start..<at
  }

  /// The digest at a place in a table with known bounds.
  @inline(__always)
  static func digest(_ base: UnsafeRawPointer, _ range: Range<Int>, at place: Int) throws -> UInt64 {
    var at = range.lowerBound
    guard try place < Varint.read(base, &at, end: range.upperBound) else {
      throw DamagedBytes(reason: "shape \(place) is not in the record's table", offset: at)
    }
    return UInt64(bigEndian: base.loadUnaligned(fromByteOffset: at + place * 8, as: UInt64.self))
  }

  /// Visits the digests in a table with known bounds, in their order.
  @inline(__always)
  static func forEach(
    _ base: UnsafeRawPointer, _ range: Range<Int>, _ visit: (UInt64) throws -> Void
  ) throws {
    var at = range.lowerBound
    let count = try Varint.read(base, &at, end: range.upperBound)
    for index in 0..<count {
      try visit(UInt64(bigEndian: base.loadUnaligned(fromByteOffset: at + index * 8, as: UInt64.self)))
    }
  }
}

/// The keys of a shape as a store keeps them, each a varint length and UTF-8.
enum ShapeText {
  static func write(_ keys: [String]) -> [UInt8] {
    var bytes = ByteArena()
    defer { bytes.deallocate() }
    for key in keys {
      bytes.append(varint: key.utf8.count)
      var key = key
      key.withUTF8 { bytes.append(UnsafeRawBufferPointer($0)) }
    }
    return Array(bytes.all)
  }

  /// The keys in a text; nil if it is damaged.
  static func read(_ text: [UInt8]) -> [String]? {
    text.withUnsafeBytes { text in
      guard let base = text.baseAddress else { return [] }
      var keys: [String] = []
      var at = 0
      while at < text.count {
        guard let range = try? Varint.readCounted(base, &at, end: text.count, reason: "a key is cut"),
          let key = String(validating: text[range], as: UTF8.self)
        else { return nil }
        keys.append(key)
      }
      return keys
    }
  }
}
